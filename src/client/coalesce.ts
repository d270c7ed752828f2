/** Limits frequent events: passes the first one on immediately, and repetitions at intervals. */

/** Maximum different keys passed on immediately. */
const MAX_AT_ONCE = 100
const MAX_WAITING = 1000

export interface Coalesced<Value> {
  add(key: string, value: Value): void
  /** Drops everything that is queued. */
  stop(): void
}

/**
 * Calls `pass` immediately for up to 100 keys per interval of `everyMs` milliseconds, once for each. For later values, the last one of each
 * key is passed on at the end of the interval, for at most 1000 keys.
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
