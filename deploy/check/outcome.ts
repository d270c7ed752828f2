/** What a probe finds. Exports `Outcome`, one function a verdict, and `Stop`, an outcome that ends a probe early. */

/**
 * `works`: as the specification says. `degrades`: allowed, or clients cope, but something is lost. `wrong`: a client
 * fails, what must be refused is served, or the server breaks. `hint`: as the specification allows, but some client or model
 * takes it badly; never counted as a fault. `skipped`: it does not apply, or cannot be told.
 */
export type Verdict = 'works' | 'hint' | 'degrades' | 'wrong' | 'skipped'

/** Numbers for scripts, by name with their unit: `medianMs`. */
export type Measured = { readonly [name: string]: number }

export type Outcome =
  | { readonly verdict: 'works' | 'skipped'; readonly detail: string; readonly measured?: Measured }
  | {
      readonly verdict: 'hint' | 'degrades' | 'wrong'
      readonly detail: string
      /** What to do, in one line. */
      readonly fix: string
      readonly measured?: Measured
    }

export const works = (detail: string): Outcome => ({ verdict: 'works', detail })
export const skipped = (detail: string): Outcome => ({ verdict: 'skipped', detail })
export const hint = (detail: string, fix: string): Outcome => ({ verdict: 'hint', detail, fix })
export const degrades = (detail: string, fix: string): Outcome => ({ verdict: 'degrades', detail, fix })
export const wrong = (detail: string, fix: string): Outcome => ({ verdict: 'wrong', detail, fix })

/** The same with its texts made safe to show. */
export function showOutcome(outcome: Outcome, show: (text: string) => string): Outcome {
  const detail = show(outcome.detail)
  return 'fix' in outcome ? { ...outcome, detail, fix: show(outcome.fix) } : { ...outcome, detail }
}

/** Thrown where no probe could go on: the server is silent, wants a token, or limits the rate. */
export class Stop extends Error {
  override name = 'Stop'
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super(outcome.detail)
    this.outcome = outcome
  }
}

/** The worst of several, the first where they are equal; its detail alone, since the others are no worse. */
export function worst(outcomes: readonly [Outcome, ...Outcome[]]): Outcome {
  const order: readonly Verdict[] = ['skipped', 'works', 'hint', 'degrades', 'wrong']
  return outcomes.reduce((found, next) =>
    order.indexOf(next.verdict) > order.indexOf(found.verdict) ? next : found,
  )
}
