/** What several requests share and one of them makes. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { keepUnlessFailed } from '../../../src/definition/keep-unless-failed.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 0 }))
afterEach(() => void vi.useRealTimers())

it('is made once for all, however long ago', async () => {
  const make = vi.fn(async () => 'made')
  const use = keepUnlessFailed(make, 'store')
  expect(await Promise.all([use(), use()])).toEqual(['made', 'made'])
  vi.setSystemTime(86_400_000)
  expect(await use()).toBe('made')
  expect(make).toHaveBeenCalledTimes(1)
})

it('is made again after a failure', async () => {
  const make = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error('down'))
  make.mockResolvedValue('made')
  const use = keepUnlessFailed(make, 'store')
  await expect(use()).rejects.toThrow('down')
  expect([await use(), await use()]).toEqual(['made', 'made'])
  expect(make).toHaveBeenCalledTimes(2)
})

it('is made again after eight seconds if the request that makes it was ended', async () => {
  const make = vi.fn<() => Promise<string>>().mockReturnValueOnce(new Promise(() => {}))
  make.mockResolvedValue('made')
  const use = keepUnlessFailed(make, 'store')
  void use()
  vi.setSystemTime(7999)
  const waiting = use().catch(String)
  expect(make).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(8000)
  expect(await waiting).toBe('TimeoutError: The store did not answer within 8000 ms.')
  expect(await use()).toBe('made')
  vi.setSystemTime(86_400_000)
  expect(await use()).toBe('made')
  expect(make).toHaveBeenCalledTimes(2)
})

it('that fails late does not push out the one that was made meanwhile', async () => {
  let fail = (_error: Error): void => {}
  const late = new Promise<string>((_resolve, reject) => (fail = reject))
  const make = vi.fn<() => Promise<string>>().mockReturnValueOnce(late)
  make.mockResolvedValue('made')
  const use = keepUnlessFailed(make, 'store')
  const first = use()
  vi.setSystemTime(8000)
  expect(await use()).toBe('made')
  fail(new Error('down'))
  await expect(first).rejects.toThrow('down')
  expect(await use()).toBe('made')
  expect(make).toHaveBeenCalledTimes(2)
})
