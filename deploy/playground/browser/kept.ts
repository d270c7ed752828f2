/** What the user typed, kept for the next time in the memory of the page: values of forms, and answers to questions. */
import { asList } from './json.ts'

export interface Kept<Value> {
  get(key: string): Value | undefined
  /** Forgets the key without a value, and the one that was unused for longest if there are too many. */
  set(key: string, value: Value | undefined): void
  /** All of it as JSON, by `toJson`, and back. */
  stored(toJson: (value: Value) => unknown): readonly unknown[]
  restore(stored: unknown, fromJson: (stored: unknown) => Value): void
}

const MAX_KEPT = 100

export function createKept<Value>(): Kept<Value> {
  const values = new Map<string, Value>()
  const set = (key: string, value: Value | undefined): void => {
    values.delete(key)
    if (value !== undefined) values.set(key, value)
    const [oldest] = values.keys()
    if (values.size > MAX_KEPT && oldest !== undefined) values.delete(oldest)
  }
  return {
    get: (key) => values.get(key),
    set,
    stored: (toJson) => [...values].map(([key, value]) => [key, toJson(value)]),
    restore: (stored, fromJson) => {
      for (const [key, value] of asList(stored).map(asList)) set(String(key), fromJson(value))
    },
  }
}
