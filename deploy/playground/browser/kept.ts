/** What the user typed, kept for the next time in the memory of the page: values of forms, and answers to questions. */

export interface Kept<Value> {
  get(key: string): Value | undefined
  /** Forgets the key without a value, and the one that was unused for longest if there are too many. */
  set(key: string, value: Value | undefined): void
}

const MAX_KEPT = 100

export function createKept<Value>(): Kept<Value> {
  const values = new Map<string, Value>()
  return {
    get: (key) => values.get(key),
    set: (key, value) => {
      values.delete(key)
      if (value !== undefined) values.set(key, value)
      const [oldest] = values.keys()
      if (values.size > MAX_KEPT && oldest !== undefined) values.delete(oldest)
    },
  }
}
