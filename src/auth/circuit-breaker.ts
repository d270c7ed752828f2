/** Limits requests to an issuer that may be down: after a failure most are refused immediately, however many tokens arrive. */
import { backoffMs } from '../definition/backoff.ts'
import { ASK_TIMEOUT_MS, isAboutQuestion } from './fetch-json.ts'
import { KnownOutageError } from './verifier.ts'

/** The delays between a failure and the next request. */
const PAUSES = { firstMs: 1000, maxMs: 5000 }

export type CircuitBreaker = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>

/**
 * Creates a function that calls the issuer. After a failure, it throws `KnownOutageError` immediately for a while; then one request tries
 * the issuer again. A request that the issuer refuses because of its content is not a failure: otherwise a single token could block all
 * callers.
 */
export function createCircuitBreaker(): CircuitBreaker {
  let failures = 0
  let nextAt = 0
  return async (ask) => {
    const now = Date.now()
    if (now < nextAt) throw new KnownOutageError('The issuer failed a moment ago.')
    // A clock time instead of a pending promise, since a cancelled request may never continue here.
    if (failures > 0) nextAt = now + ASK_TIMEOUT_MS
    try {
      const answer = await ask()
      failures = nextAt = 0
      return answer
    } catch (error) {
      failures = isAboutQuestion(error) ? 0 : failures + 1
      nextAt = failures === 0 ? 0 : Date.now() + backoffMs(failures, PAUSES)
      throw error
    }
  }
}
