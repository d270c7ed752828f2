/** Limits requests to an issuer that may be down: after a failure most are refused immediately, however many tokens arrive. */
import { backoffMs } from '../definition/backoff.ts'
import { textOf } from '../definition/error-text.ts'
import { ASK_TIMEOUT_MS, isAboutQuestion } from './fetch-json.ts'
import { KnownOutageError, VerifierUnavailableError } from './verifier.ts'

/** The delays between a failure and the next request. */
const PAUSES = { firstMs: 1000, maxMs: 5000 }

export type CircuitBreaker = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>

/** The issuer failed to answer this request, but answers others: the failure is about what was asked. */
export class QuestionError extends VerifierUnavailableError {}

/**
 * Creates a function that calls the issuer. After a failure, it throws `KnownOutageError` immediately for a while; then one request tries
 * the issuer again.
 *
 * A caller chooses its token, and some make an issuer fail. So a failure is not held against the issuer by itself: `askOther` asks it
 * something that no caller has chosen, and only if that fails too, it is judged to be down. Without `askOther`, callers must have no
 * influence on what is asked.
 */
export function createCircuitBreaker(askOther?: () => Promise<unknown>): CircuitBreaker {
  let failures = 0
  let nextAt = 0
  // Clock times instead of pending promises, since a cancelled request may never continue here.
  let checkedUntil = 0
  let answeredAt = 0

  /** Whether the issuer answers others. Undefined while another request is finding that out. */
  const answersOthers = async (since: number): Promise<boolean | undefined> => {
    if (askOther === undefined) return false
    if (answeredAt >= since) return true
    if (Date.now() < checkedUntil) return undefined
    checkedUntil = Date.now() + ASK_TIMEOUT_MS
    try {
      await askOther()
      return true
    } catch (error) {
      return isAboutQuestion(error)
    } finally {
      checkedUntil = 0
    }
  }

  return async (ask) => {
    const startedAt = Date.now()
    if (startedAt < nextAt) throw new KnownOutageError('The issuer failed a moment ago.')
    const isTrial = failures > 0
    if (isTrial) nextAt = startedAt + ASK_TIMEOUT_MS
    try {
      const answer = await ask()
      failures = nextAt = 0
      answeredAt = Date.now()
      return answer
    } catch (error) {
      // Others have found out meanwhile.
      if (!isTrial && failures > 0) throw new KnownOutageError('The issuer failed a moment ago.')
      if (isTrial) nextAt = Date.now() + ASK_TIMEOUT_MS
      const isAnswering = isAboutQuestion(error) || (await answersOthers(startedAt))
      if (isAnswering === false) {
        failures++
        nextAt = Date.now() + backoffMs(failures, PAUSES)
        throw error
      }
      if (isAnswering) failures = nextAt = 0
      throw new QuestionError(textOf(error), { cause: error })
    }
  }
}
