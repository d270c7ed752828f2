/** The clock of the tests: limits of time say nothing about a busy machine. */
import { generateKeyPair } from 'node:crypto'
import { afterEach, expect, it, vi } from 'vitest'
import { withTimeout } from '../../src/definition/timeout.ts'

const THREADS = 4

afterEach(() => void vi.useRealTimers())

it('stands still while another thread makes digests', async () => {
  vi.useFakeTimers()
  const busy = Promise.all(
    Array.from(
      { length: THREADS },
      () => new Promise((resolve) => generateKeyPair('rsa', { modulusLength: 3072 }, resolve)),
    ),
  )
  const digests = async (): Promise<string> => {
    for (let count = 0; count < 3; count++) await crypto.subtle.digest('SHA-256', new Uint8Array(1))
    return 'done'
  }
  const outcome = withTimeout(digests(), 10_000, 'store').catch(String)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(await outcome).toBe('done')
  await busy
})

it('goes on by exactly as much as it is told, and fires the timers of that time', async () => {
  vi.useFakeTimers({ now: 0 })
  const fired: number[] = []
  const again = (): void => {
    fired.push(Date.now())
    if (fired.length < 5) setTimeout(again, 250)
  }
  setTimeout(again, 250)
  await vi.advanceTimersByTimeAsync(1000)
  expect(fired).toEqual([250, 500, 750, 1000])
  expect(Date.now()).toBe(1000)
  expect(vi.getTimerCount()).toBe(1)
})

it('goes on where a test replaced the date alone', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 })
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(Date.now()).toBe(3_600_000)
})
