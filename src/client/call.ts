/** Calls under way, as far as their server's questions are concerned. */

/** Those that a question may be asked for. */
export interface Askers {
  readonly calls: readonly Call[]
  /** Whether it is asked for them: then the time that the user takes is not theirs. */
  readonly isCertain: boolean
}

export class Call {
  /** Questions that are not answered yet; while there are any, the call's time does not run. */
  asking = 0
  /** Questions so far. */
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
