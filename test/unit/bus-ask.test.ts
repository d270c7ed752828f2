/** How long Redis is waited for where nobody says otherwise: docs/rendezvous.md, "While Redis is down". */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createAsk } from '../../adapters/_bus/ask.ts'
import { createStoreAsk } from '../../adapters/_tasks/store-ask.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('a command is refused after 2 seconds, those after it at once, but for one in that time [redis.down]', async () => {
  const ask = createAsk({}, 'Redis')
  let sent = 0
  const silent = () => {
    sent++
    return new Promise<never>(() => {})
  }
  const outcome = vi.fn()
  ask(silent).catch(outcome)
  await vi.advanceTimersByTimeAsync(1999)
  expect(outcome).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(outcome).toHaveBeenCalledOnce()

  for (let command = 0; command < 10; command++)
    await expect(ask(silent)).rejects.toThrow('further commands are refused')
  expect(sent).toBe(1)

  await vi.advanceTimersByTimeAsync(2000)
  const attempts = Array.from({ length: 10 }, () => ask(silent).catch(() => {}))
  expect(sent).toBe(2)
  await vi.advanceTimersByTimeAsync(2000)
  await Promise.all(attempts)
  // Once it answers, all are asked.
  await vi.advanceTimersByTimeAsync(2000)
  expect(await ask(() => 'pong')).toBe('pong')
  expect(await Promise.all([ask(() => 1), ask(() => 2)])).toEqual([1, 2])
})

it('a store answers many calls, sent at once, for as long as it answers some', async () => {
  const ask = createStoreAsk({ timeoutMs: 1000 }, 'Redis')
  const slow = (ms: number) => new Promise((resolve) => setTimeout(() => resolve(ms), ms))
  const times = Array.from({ length: 40 }, (_, index) => 900 * (index + 1))
  const commands = times.map((ms) => ask(() => slow(ms)))
  const waiting = vi.fn()
  const silent = () => new Promise<never>(() => {})
  ask(silent).catch(waiting)
  const answered = Promise.allSettled(commands)
  await vi.advanceTimersByTimeAsync(29_999)
  expect(waiting).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(String(waiting.mock.lastCall)).toContain('is overloaded: a call took over 30000 ms')
  await vi.advanceTimersByTimeAsync(10_000)
  const late = times.filter((ms) => ms > 30_000).length
  expect((await answered).filter(({ status }) => status === 'rejected')).toHaveLength(late)
})

it('a store that falls silent is waited for no longer', async () => {
  const ask = createStoreAsk({ timeoutMs: 1000 }, 'Redis')
  expect(await ask(() => 'pong')).toBe('pong')
  const late = vi.fn()
  ask(() => new Promise<never>(() => {})).catch(late)
  await vi.advanceTimersByTimeAsync(1000)
  expect(String(late.mock.lastCall)).toContain('The Redis server did not answer within 1000 ms.')
  await expect(ask(() => 'pong')).rejects.toThrow('further commands are refused')
})
