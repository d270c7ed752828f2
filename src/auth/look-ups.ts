/**
 * Questions to an issuer, which may be down: then it is asked seldom, however many tokens come.
 */
import { ASK_TIMEOUT_MS, isAboutQuestion } from './fetch-json.ts'
import { KnownOutageError } from './verifier.ts'

/** How long after a failure the issuer is asked again: twice as long after each in a row. */
const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 5000

export type LookUp = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>

/**
 * Makes a function that asks, and that throws `KnownOutageError` at once for a while after the issuer has failed. Then one question
 * tries it again. A question that the issuer refuses for what is in it is no failure of the issuer: else a single
 * token could shut everybody out.
 */
export function createLookUp(): LookUp {
  let failures = 0
  let nextAt = 0
  return async (ask) => {
    const now = Date.now()
    if (now < nextAt) throw new KnownOutageError('The issuer failed a moment ago.')
    // By the clock and not by a promise: a request that is cancelled may never come back here.
    if (failures > 0) nextAt = now + ASK_TIMEOUT_MS
    try {
      const answer = await ask()
      failures = nextAt = 0
      return answer
    } catch (error) {
      failures = isAboutQuestion(error) ? 0 : failures + 1
      nextAt = failures === 0 ? 0 : Date.now() + Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS)
      throw error
    }
  }
}
