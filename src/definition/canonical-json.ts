/** One text for equal JSON. */
import { isObject } from './is-object.ts'

/** JSON with sorted members (as RFC 8785, "Sorting of Object Properties"). */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, one: unknown) =>
    isObject(one)
      ? Object.fromEntries(
          Object.keys(one)
            .sort()
            .map((name) => [name, one[name]]),
        )
      : one,
  )
}
