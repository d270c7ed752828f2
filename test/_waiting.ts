/** `vi.waitFor` and `vi.waitUntil` give up after a second by default, in which a busy machine may do little: their limit only ends what hangs. */
import { vi } from 'vitest'

const TIMEOUT_MS = 60_000
const DONE = Symbol.for('mayfly.test.waiting')

type Options = number | { readonly timeout?: number; readonly interval?: number } | undefined

const patient = (options: Options): object =>
  typeof options === 'number' ? { timeout: options } : { timeout: TIMEOUT_MS, ...options }

const given = vi as { [DONE]?: true } & Pick<typeof vi, 'waitFor' | 'waitUntil'>
if (given[DONE] === undefined) {
  const { waitFor, waitUntil } = vi
  given.waitFor = (callback, options) => waitFor(callback, patient(options as Options))
  given.waitUntil = (callback, options) => waitUntil(callback, patient(options as Options))
  given[DONE] = true
}
