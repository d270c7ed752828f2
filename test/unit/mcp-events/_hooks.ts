/** Servers with hooks, and the life of a subscription whose writes fail: each hook is called, and nothing is left. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { createEvent, type EventsOptions, type SubscriptionInfo } from '../../../src/mcp-events.ts'
import type { TaskRunner } from '../../../src/tasks.ts'
import { createEventServer } from './_events.ts'
import { FAULTS, type Fault, faulty } from './_faulty.ts'

/** The tests cause the runs. */
export const runner: TaskRunner = { isPrompt: true, wake() {} }

/** What was told, and what the next calls do. */
export function createListener() {
  const told: string[] = []
  const infos: SubscriptionInfo[] = []
  const signals: AbortSignal[] = []
  const listener = {
    told,
    infos,
    signals,
    answer: (_what: string): unknown => undefined,
    type: (options: object = {}) =>
      createEvent({
        id: 'incident.created',
        description: 'With hooks',
        inputSchema: z.object({ severity: z.string().optional() }),
        onSubscribe(subscription, { signal }) {
          told.push('begin')
          infos.push(subscription)
          signals.push(signal)
          return listener.answer('begin')
        },
        onUnsubscribe(subscription) {
          told.push('end')
          infos.push(subscription)
          return listener.answer('end')
        },
        ...options,
      }),
  }
  return listener
}

export function start(
  listener: ReturnType<typeof createListener>,
  options: Partial<EventsOptions> = {},
  store?: KeyedStore,
) {
  const server = createEventServer({ types: { type: listener.type() }, runner, ...options }, store)
  const run = () => server.server.events.run()
  return {
    ...server,
    run,
    async later(ms: number) {
      vi.setSystemTime(Date.now() + ms)
      return run()
    },
  }
}

/** A subscription that begins and ends, each request repeated until it is answered. */
async function live(inner: KeyedStore, fault: Fault, at: number) {
  const first = faulty(inner, fault, at)
  const listener = createListener()
  const one = start(listener, {}, first.store)
  const two = start(listener, {}, inner)
  const persistently = async (request: (of: typeof one) => Promise<unknown>): Promise<void> => {
    for (let tries = 0; tries < 5; tries++) {
      const of = first.state.isDead ? two : one
      const asked = request(of).catch(() => 'failed')
      const answer = await (of === one ? Promise.race([asked, first.died]) : asked)
      const isFailed = answer === 'failed' || answer === 'died'
      if (!isFailed && (answer as { error?: unknown }).error === undefined) return
      vi.setSystemTime(Date.now() + 61_000)
    }
    throw new Error('No request was answered.')
  }
  const settle = async (): Promise<void> => {
    for (let runs = 0; runs < 6; runs++) {
      await persistently(({ run }) => run())
      vi.setSystemTime(Date.now() + 31_000)
    }
  }
  await persistently(({ subscribe }) => subscribe({ ttlMs: 86_400_000 }))
  await settle()
  await persistently(({ unsubscribe }) => unsubscribe())
  await settle()
  const { keys } = await inner.list({ prefix: '', limit: 100 })
  return { ...listener, writes: first.state.writes, left: keys.filter((key) => /^[^:]+:[nw]:/.test(key)) }
}

/**
 * @param open A store without entries.
 * @param every How many writes are between two that fail: 1 for each of them.
 */
export function hookScenarios(open: () => Promise<KeyedStore>, every: number): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now(), shouldAdvanceTime: true }))
  afterEach(() => void vi.useRealTimers())
  /** Of a life without a fault. */
  let writes: number | undefined

  describe.each(FAULTS.map((fault, index) => ({ fault, index })))(
    'hooks, and a write that is $fault',
    ({ fault, index }) => {
      it('loses neither the beginning nor the end, and leaves nothing [events.hooks]', async () => {
        if (writes === undefined) {
          const whole = await live(await open(), fault, 0)
          expect(whole.told).toEqual(['begin', 'end'])
          writes = whole.writes
        }
        expect(writes).toBeGreaterThan(7)
        // Not the same ones for each fault.
        for (let at = 1 + Math.floor((index * every) / FAULTS.length); at <= writes; at += every) {
          const { told, left } = await live(await open(), fault, at)
          const what = `write ${at}: ${told}`
          expect(told.join(), what).toMatch(/^begin(,begin)?,end(,end)?$/)
          expect(left, what).toEqual([])
        }
      }, 60_000)
    },
  )
}
