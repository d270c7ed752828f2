/** Errors that only the operator can fix are reported once, not for each token. */
import { textOf } from '../definition/error-text.ts'

/** Different errors; what a token contains may be part of one. */
const MAX_REPORTED = 20

/** Creates a function that returns an error as the `cause` of a refusal, unless one with its text was reported before. */
export function createOnce(): (error: unknown) => { cause?: unknown } {
  const reported = new Set<string>()
  return (error) => {
    const key = textOf(error)
    if (error === undefined || reported.has(key) || reported.size >= MAX_REPORTED) return {}
    reported.add(key)
    return { cause: error }
  }
}
