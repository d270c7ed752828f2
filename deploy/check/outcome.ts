/** What a probe finds. Exports `Outcome`, one function a verdict, and `Stop`, an outcome that ends a probe early. */

/**
 * `works`: as the specification says. `degrades`: allowed, or clients cope, but something is lost. `wrong`: a client
 * fails, what must be refused is served, or the server breaks. `skipped`: it does not apply, or cannot be told.
 */
export type Verdict = 'works' | 'degrades' | 'wrong' | 'skipped'

/** Numbers for scripts, by name with their unit: `medianMs`. */
export type Measured = { readonly [name: string]: number }

export type Outcome =
  | { readonly verdict: 'works' | 'skipped'; readonly detail: string; readonly measured?: Measured }
  | {
      readonly verdict: 'degrades' | 'wrong'
      readonly detail: string
      /** What to do, in one line. */
      readonly fix: string
      readonly measured?: Measured
    }

export const works = (detail: string): Outcome => ({ verdict: 'works', detail })
export const skipped = (detail: string): Outcome => ({ verdict: 'skipped', detail })
export const degrades = (detail: string, fix: string): Outcome => ({ verdict: 'degrades', detail, fix })
export const wrong = (detail: string, fix: string): Outcome => ({ verdict: 'wrong', detail, fix })

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
  const order: readonly Verdict[] = ['skipped', 'works', 'degrades', 'wrong']
  return outcomes.reduce((found, next) =>
    order.indexOf(next.verdict) > order.indexOf(found.verdict) ? next : found,
  )
}
