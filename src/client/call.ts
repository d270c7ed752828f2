/** Running calls, for the questions of their server. */

/** The calls for which a question may be asked. */
export interface Askers {
  readonly calls: readonly Call[]
  /** Whether the question certainly belongs to them: then the user's time does not count against their timeout. */
  readonly isCertain: boolean
}

export class Call {
  /** The number of unanswered questions. While there are any, the call's timeout is paused. */
  asking = 0
  /** The number of questions so far. */
  asked = 0
  #over: AbortController | undefined
  #isOver = false

  /** Aborts when the call is over. */
  get signal(): AbortSignal {
    this.#over ??= new AbortController()
    if (this.#isOver) this.#over.abort()
    return this.#over.signal
  }

  end(): void {
    this.#isOver = true
    this.#over?.abort()
  }
}
