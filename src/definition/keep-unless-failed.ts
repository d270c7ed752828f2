/** What is made once, and made again only after a failure. */
import { ANSWER_TIMEOUT_MS } from './timeout.ts'

/**
 * Calls `make` at the first use, and keeps its promise for all later ones. If it rejects, the next use calls `make` again; also if it has not
 * settled after 10 seconds: on workerd, the promise of a request that its client has ended never does.
 */
export function keepUnlessFailed<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let kept: Promise<Value> | undefined
  let keptUntil = 0
  let begun = 0
  const begin = async (): Promise<Value> => {
    const own = ++begun
    try {
      const value = await make()
      if (own === begun) keptUntil = Number.POSITIVE_INFINITY
      return value
    } catch (error) {
      if (own === begun) keptUntil = 0
      throw error
    }
  }
  return () => {
    if (kept === undefined || Date.now() >= keptUntil) {
      keptUntil = Date.now() + ANSWER_TIMEOUT_MS
      kept = begin()
    }
    return kept
  }
}
