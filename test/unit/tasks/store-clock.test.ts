/** The clock of a store, measured by a request whose client may end it. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMeasuredClock } from '../../../adapters/_tasks/store-clock.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 0 }))
afterEach(() => void vi.useRealTimers())

it('is asked once by all who need it at once', async () => {
  const ask = vi.fn(async () => 5000)
  const clock = createMeasuredClock(ask)
  expect(await Promise.all([clock.offsetMs(), clock.offsetMs()])).toEqual([5000, 5000])
  expect(ask).toHaveBeenCalledTimes(1)
})

it('is asked again if the request that asked was ended: nothing of it settles on workerd', async () => {
  const ask = vi.fn<() => Promise<number>>().mockReturnValueOnce(new Promise(() => {}))
  ask.mockImplementation(async () => Date.now() + 5000)
  const clock = createMeasuredClock(ask)
  void clock.offsetMs()
  const waiting = clock.offsetMs().catch(String)
  await vi.advanceTimersByTimeAsync(8000)
  expect(await waiting).toBe('TimeoutError: The clock of the store did not answer within 8000 ms.')
  expect(await clock.offsetMs()).toBe(5000)
  expect(ask).toHaveBeenCalledTimes(2)
})
