/** What every test here ends with: all that it started is closed, and no rejection was left unhandled. */
import { afterAll, afterEach, expect } from 'vitest'
import type { Entry, Started } from './_entries.ts'
import type { Start } from './_scenarios.ts'

export interface Watched {
  /** Called when the test is over, the last one first. */
  onEnd(clean: () => unknown): void
  /** Starts the server of an entry, which is closed when the test is over. */
  starting(entry: Entry): Start
}

/** Watches the tests of a file. */
export function watchTests(): Watched {
  const cleanups: (() => unknown)[] = []
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', onUnhandled)
  afterAll(() => void process.off('unhandledRejection', onUnhandled))
  afterEach(async () => {
    for (const clean of cleanups.splice(0).reverse()) await clean()
    // Node tells of them after the microtasks of a turn.
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled.splice(0)).toEqual([])
  })
  const onEnd = (clean: () => unknown): void => void cleanups.push(clean)
  return {
    onEnd,
    starting:
      (entry) =>
      async (...options): Promise<Started> => {
        const started = await entry.start(...options)
        onEnd(started.close)
        return started
      },
  }
}
