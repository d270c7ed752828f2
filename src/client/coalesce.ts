/** Passes on what happens often: each thing at once, and then once in a while where it has happened again. */

/** How many different things are passed on at once, and kept for the next time. */
const MAX_AT_ONCE = 100
const MAX_WAITING = 1000

export interface Coalesced<Value> {
  add(key: string, value: Value): void
  /** What waits is not passed on. */
  stop(): void
}

/**
 * Calls `pass` for the same key at most once every `everyMs`, and for 100 others. Of what comes after, the last of each key is passed
 * on at the end of that time, but for more than 1000 of them.
 */
export function coalesce<Value>(everyMs: number, pass: (value: Value) => void): Coalesced<Value> {
  let passed = new Set<string>()
  let waiting = new Map<string, Value>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = (): void => {
    timer = waiting.size === 0 ? undefined : setTimeout(flush, everyMs)
    const values = waiting.values()
    passed = new Set(waiting.keys())
    waiting = new Map()
    for (const value of values) pass(value)
  }
  return {
    add(key, value) {
      if (passed.has(key) || passed.size >= MAX_AT_ONCE) {
        if (waiting.size < MAX_WAITING || waiting.has(key)) waiting.set(key, value)
        return
      }
      timer ??= setTimeout(flush, everyMs)
      passed.add(key)
      pass(value)
    },
    stop() {
      clearTimeout(timer)
      waiting.clear()
    },
  }
}
