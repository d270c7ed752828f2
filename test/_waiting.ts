/**
 * What waits in tests waits for a busy machine.
 *
 * `vi.waitFor` and `vi.waitUntil` give up after a second by default, in which such a machine may do little: their limit only ends what hangs.
 *
 * `vi.advanceTimersByTimeAsync` knows nothing of work in other threads, so that hours could pass meanwhile, and with them the limit of time
 * for an answer: here the clock stands still until that work is done.
 */
import { vi } from 'vitest'
import { settled } from './_outside.ts'

const TIMEOUT_MS = 60_000
const DONE = Symbol.for('mayfly.test.waiting')

type Options = number | { readonly timeout?: number; readonly interval?: number } | undefined

const patient = (options: Options): object =>
  typeof options === 'number' ? { timeout: options } : { timeout: TIMEOUT_MS, ...options }

const given = vi as { [DONE]?: true } & Pick<typeof vi, 'waitFor' | 'waitUntil' | 'advanceTimersByTimeAsync'>
if (given[DONE] === undefined) {
  const { waitFor, waitUntil, advanceTimersByTimeAsync } = vi
  given.waitFor = (callback, options) => waitFor(callback, patient(options as Options))
  given.waitUntil = (callback, options) => waitUntil(callback, patient(options as Options))
  given.advanceTimersByTimeAsync = async (ms) => {
    const before = vi.getTimerCount()
    let isOver = false
    const end = setTimeout(() => {
      isOver = true
    }, ms)
    if (vi.getTimerCount() === before) {
      // The test has replaced other functions than this one.
      clearTimeout(end)
      return advanceTimersByTimeAsync(ms)
    }
    for (await settled(); !isOver; await settled()) await vi.advanceTimersToNextTimerAsync()
    // Others of the same time.
    return advanceTimersByTimeAsync(0)
  }
  given[DONE] = true
}
