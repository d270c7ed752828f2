/** How long Redis is waited for where nobody says otherwise: docs/rendezvous.md, "While Redis is down". */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createAsk } from '../../adapters/_bus/ask.ts'

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

  for (let command = 0; command < 10; command++) await expect(ask(silent)).rejects.toThrow('not asked again')
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
