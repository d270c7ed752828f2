/** `createMemoryRateLimiter`: as many calls as it says, at once and over any time. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMemoryRateLimiter } from '../../src/index.ts'
import { check } from './_seeded.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const calls = fc.integer({ min: 1, max: 500 })
const windowMs = fc.integer({ min: 1, max: 10_000_000 })

const pass = (ms: number) => void vi.setSystemTime(Date.now() + ms)

describe('a caller', () => {
  test('makes exactly so many calls at once, then the next when it is told to', async () => {
    await check(
      fc.property(calls, windowMs, (calls, windowMs) => {
        const limiter = createMemoryRateLimiter({ calls, windowMs })
        for (let call = 0; call < calls; call++) expect(limiter.limit('a')).toEqual({ ok: true })
        const refused = limiter.limit('a')
        expect(refused).toEqual({ ok: false, retryAfterSeconds: Math.ceil(windowMs / calls / 1000) })
        pass((refused as { retryAfterSeconds: number }).retryAfterSeconds * 1000)
        expect(limiter.limit('a')).toEqual({ ok: true })
      }),
      300,
    )
  })

  test('makes no more than that many and those of the time that has passed, however it spreads them', async () => {
    const pauses = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3000 })), { maxLength: 200 })
    await check(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 100, max: 20_000 }),
        pauses,
        (calls, windowMs, pauses) => {
          const limiter = createMemoryRateLimiter({ calls, windowMs })
          let taken = 0
          let passed = 0
          for (const pause of pauses) {
            pass(pause)
            passed += pause
            if ((limiter.limit('a') as { ok: boolean }).ok) taken++
            expect(taken).toBeLessThanOrEqual(calls + (passed / windowMs) * calls + 1e-6)
          }
        },
      ),
      300,
    )
  })

  test('is not let in again since the clock was set back', () => {
    const limiter = createMemoryRateLimiter({ calls: 1, windowMs: 1000 })
    expect(limiter.limit('a')).toEqual({ ok: true })
    pass(-60_000)
    expect(limiter.limit('a')).toMatchObject({ ok: false, retryAfterSeconds: 1 })
    pass(1000)
    expect(limiter.limit('a')).toEqual({ ok: true })
  })

  test('who goes on though it is refused is not forgotten for it', () => {
    const limiter = createMemoryRateLimiter({ calls: 1, windowMs: 60_000, maxKeys: 2 })
    for (const key of ['loud', 'silent']) limiter.limit(key)
    expect(limiter.limit('loud')).toMatchObject({ ok: false })
    expect(limiter.limit('new')).toEqual({ ok: true })
    expect(limiter.limit('loud')).toMatchObject({ ok: false })
    expect(limiter.limit('silent')).toEqual({ ok: true })
  })
})
