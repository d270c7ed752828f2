/** The result of a probe: one function per verdict, and `Stop`, an outcome that ends a probe early. */

/**
 * `works`: conforms to the specification. `degrades`: clients work, but lose something. `wrong`: a client fails, the server accepts what it
 * must refuse, or it crashes. `hint`: allowed by the specification, but some clients or models have problems with it; never counted as an
 * error. `skipped`: does not apply, or cannot be checked.
 */
export type Verdict = 'works' | 'hint' | 'degrades' | 'wrong' | 'skipped'

/** Numbers for scripts, by name with their unit: `medianMs`. */
export type Measured = { readonly [name: string]: number }

export type Outcome =
  | { readonly verdict: 'works'; readonly detail: string; readonly measured?: Measured }
  | {
      readonly verdict: 'skipped'
      readonly detail: string
      /** Of a check that applies but was not made: how to make it. */
      readonly toTry?: string
      readonly measured?: Measured
    }
  | {
      readonly verdict: 'hint' | 'degrades' | 'wrong'
      readonly detail: string
      /** What to do, in one line. */
      readonly fix: string
      readonly measured?: Measured
    }

export const works = (detail: string): Outcome => ({ verdict: 'works', detail })
export const skipped = (detail: string): Outcome => ({ verdict: 'skipped', detail })
/** Why most probes of a server with authorization are skipped without a token. */
export const NEEDS_TOKEN = 'needs a token: pass --bearer-env'
/** The same where a token was given. */
export const REFUSED_TOKEN = 'the server refuses this token'
/** Skipped although it applies, so nothing is known: what a client would do cannot be told. */
export const untried = (detail: string, toTry: string): Outcome => ({ verdict: 'skipped', detail, toTry })
export const hint = (detail: string, fix: string): Outcome => ({ verdict: 'hint', detail, fix })
export const degrades = (detail: string, fix: string): Outcome => ({ verdict: 'degrades', detail, fix })
export const wrong = (detail: string, fix: string): Outcome => ({ verdict: 'wrong', detail, fix })

/** The same, with strings that are safe to print. */
export function showOutcome(outcome: Outcome, show: (text: string) => string): Outcome {
  const detail = show(outcome.detail)
  if ('fix' in outcome) return { ...outcome, detail, fix: show(outcome.fix) }
  return 'toTry' in outcome ? { ...outcome, detail, toTry: show(outcome.toTry) } : { ...outcome, detail }
}

/** Thrown if no probe can continue: the server is silent, requires a token, or limits the rate. */
export class Stop extends Error {
  override name = 'Stop'
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super(outcome.detail)
    this.outcome = outcome
  }
}

/** The worst of several outcomes, or the first of equally bad ones. Only its detail is reported. */
export function worst(outcomes: readonly [Outcome, ...Outcome[]]): Outcome {
  const order: readonly Verdict[] = ['skipped', 'works', 'hint', 'degrades', 'wrong']
  return outcomes.reduce((found, next) =>
    order.indexOf(next.verdict) > order.indexOf(found.verdict) ? next : found,
  )
}

/** How what to try begins, where a URL on this machine or network is the reason. */
export const DEPLOYED = 'check the deployed'
