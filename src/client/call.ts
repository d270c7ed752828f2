/** Running calls, used to match a server's questions. */

import type { JSONRPCNotification } from '@modelcontextprotocol/client'

/** The calls for which a question may be asked. */
export interface Askers {
  readonly calls: readonly Call[]
  /** Whether the question certainly belongs to them, so that the user's time does not count against their timeout. */
  readonly isCertain: boolean
}

export class Call {
  /** The number of questions so far. */
  asked = 0
  /** Receives the notifications of its stream of events. */
  onStreamed: ((notification: JSONRPCNotification) => void) | undefined
  #over: AbortController | undefined
  #isOver = false
  /** The number of unanswered questions. */
  #asking = 0
  #askedSince = 0
  #askedMs = 0

  /** Milliseconds so far that the user was asked. They do not count against the call's timeout. */
  get askedMs(): number {
    return this.#askedMs + (this.#asking === 0 ? 0 : Date.now() - this.#askedSince)
  }

  /** Starts the user's time for a question. */
  suspend(): void {
    if (this.#asking++ === 0) this.#askedSince = Date.now()
  }

  resume(): void {
    if (--this.#asking === 0) this.#askedMs += Date.now() - this.#askedSince
  }

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
