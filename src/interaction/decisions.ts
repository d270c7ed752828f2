/**
 * The order in which results reach the tool of a call. Every later run hands them out in the same order, so that the same branch wins a
 * race, whatever has happened in the meantime.
 */

/** How many microtasks a branch may take between two results. More only matter if branches run side by side, which wait a whole turn. */
const MICROTASKS = 32

export class Decisions {
  /** Names of results, in the order in which they were decided. */
  readonly order: string[]
  /** Whether a decision could be made differently in another run, and is not stored yet. */
  isUnsaved = false
  #handedOut = 0
  /** The number of results from earlier runs. */
  #recorded: number
  /** Requests of the tool without a result. */
  #outstanding = 0
  readonly #waiting = new Map<string, () => void>()
  /** Requests without a recorded result. They start after all recorded ones. */
  #fresh: (readonly [name: string, start: () => void])[] = []
  /** Whether the tool has not used the last result yet. */
  isHandingOut = false
  /** Called when a request has to wait, and when none is handed out any more. */
  readonly #onWait: () => void

  constructor(order: readonly string[] | undefined, onWait: () => void) {
    this.order = [...(order ?? [])]
    this.#recorded = this.order.length
    this.#onWait = onWait
  }

  /** The number of results that have reached the tool. */
  get handedOut(): number {
    return this.#handedOut
  }

  get #isReplaying(): boolean {
    return this.#handedOut < this.#recorded
  }

  /** Whether an earlier run decided it. */
  has(name: string): boolean {
    const at = this.order.indexOf(name, this.#handedOut)
    return at !== -1 && at < this.#recorded
  }

  /** Counts a request of the tool until it has its result. */
  async count<Value>(request: () => Promise<Value>): Promise<Value> {
    this.#outstanding++
    try {
      return await request()
    } finally {
      this.#outstanding--
    }
  }

  /** Undefined, or resolves after the results of earlier runs. */
  replayed(name: string): Promise<void> | undefined {
    if (!this.#isReplaying) return undefined
    return new Promise((resolve) => {
      this.#fresh.push([name, resolve])
      this.#onWait()
    })
  }

  /** A new decision. `isFinal`: no other run could decide otherwise, unless it also has other requests. */
  made(name: string, isFinal: boolean): void {
    this.order.push(name)
    if (!isFinal || this.#outstanding > 1) this.isUnsaved = true
  }

  /** Resolves when all earlier results have reached the tool. */
  turn(name: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(name, resolve)
      void this.#handOut()
      this.#onWait()
    })
  }

  /** What the tool should ask for next, and what it asks for instead. */
  stuck(): { readonly expected: string; readonly asked: string } | undefined {
    const expected = this.order[this.#handedOut]!
    const asked = this.#waiting.keys().next().value ?? this.#fresh[0]?.[0]
    return this.#isReplaying && !this.isHandingOut && asked !== undefined && !this.#waiting.has(expected)
      ? { expected, asked }
      : undefined
  }

  /** Continues without the next recorded result. It keeps its value, and counts as decided when the tool asks for it. */
  skip(): void {
    this.forget(this.order[this.#handedOut]!)
  }

  /** A recorded decision that does not count any more. */
  forget(name: string): void {
    this.order.splice(this.order.indexOf(name, this.#handedOut), 1)
    this.#recorded--
    void this.#handOut()
  }

  async #handOut(): Promise<void> {
    if (this.isHandingOut) return
    this.isHandingOut = true
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const isAlone = this.#outstanding === 1
      next()
      await this.#settled(isAlone)
    }
    this.isHandingOut = false
    if (!this.#isReplaying) for (const [, start] of this.#fresh.splice(0)) start()
    this.#onWait()
  }

  #next(): (() => void) | undefined {
    const name = this.order[this.#handedOut]
    const next = name === undefined ? undefined : this.#waiting.get(name)
    if (next === undefined) return undefined
    this.#waiting.delete(name!)
    this.#handedOut++
    return next
  }

  /** Lets the tool use a result before it gets the next. */
  async #settled(isAlone: boolean): Promise<void> {
    for (let tick = 0; tick < MICROTASKS; tick++) await undefined
    if (!isAlone || this.#outstanding > 1) await new Promise((resolve) => setTimeout(resolve, 0))
  }
}
