/** The numbers in the options of `createSessions`. */
import { MAX_TIMER_MS } from '../../src/definition/timeout.ts'

/** @throws TypeError naming the option: a timer of more milliseconds, or of NaN, fires at once, and no number exceeds NaN. */
export function checkNumbers(maxSessions: unknown, idleMs: unknown): void {
  if (
    maxSessions !== Number.POSITIVE_INFINITY &&
    !(Number.isInteger(maxSessions) && (maxSessions as number) > 0)
  )
    throw new TypeError('"maxSessions" must be a whole number from 1, or Infinity.')
  if (typeof idleMs !== 'number' || !(idleMs > 0 && idleMs <= MAX_TIMER_MS))
    throw new TypeError(`"idleMs" must be milliseconds from 1 to ${MAX_TIMER_MS}.`)
}
