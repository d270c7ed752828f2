/** A store whose writes are rejected, lost, delayed, or the last one of their process: no event is lost, and nothing is sent after the end. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import type { Answer } from '../_client.ts'
import { createEventServer, URL_A, URL_B } from './_events.ts'
import { FAULTS, type Fault, faulty } from './_faulty.ts'

/** A day of two subscriptions and three events, each request repeated until it is answered; then the end of one of them. */
async function live(inner: KeyedStore, fault: Fault, at: number) {
  const first = faulty(inner, fault, at)
  const one = createEventServer({}, first.store)
  const two = createEventServer({ deliver: one.endpoints }, inner)
  /** The process that answers: the second one, once the first has died. */
  const persistently = async (request: (of: typeof one) => Promise<unknown>): Promise<void> => {
    for (let tries = 0; tries < 5; tries++) {
      const process = first.state.isDead ? two : one
      const answer = await Promise.race([
        request(process).catch(() => 'failed'),
        ...(process === one ? [first.died] : []),
      ])
      if (answer === 'died' || answer === 'failed') continue
      const { error } = (answer ?? {}) as Partial<Answer>
      if (error === undefined) return
      // A reservation that was lost is over after a minute.
      vi.setSystemTime(Date.now() + 61_000)
    }
    throw new Error('No request was answered.')
  }
  const deliverAll = async (): Promise<void> => {
    for (let runs = 0; runs < 20; runs++) {
      let next: number | null = null
      await persistently(async ({ server }) => {
        ;({ nextDueAt: next } = await server.events.run())
      })
      if (next === null) return
      vi.setSystemTime(Math.max(Date.now() + 1000, next))
    }
    throw new Error('Something is always due.')
  }
  await persistently(({ subscribe }) => subscribe({ ttlMs: 86_400_000 }))
  await persistently(({ subscribe }) => subscribe({ ttlMs: 86_400_000 }, 'bob', { url: URL_B }))
  for (const eventId of ['e1', 'e2', 'e3'])
    await persistently(({ server }) =>
      server.events.emit('incident.created', { title: eventId, severity: 'P1' }, { eventId }),
    )
  await deliverAll()
  await persistently(({ unsubscribe }) => unsubscribe())
  const { received } = one.endpoints
  const before = received.length
  await persistently(({ server }) =>
    server.events.emit('incident.created', { title: 'e4', severity: 'P1' }, { eventId: 'e4' }),
  )
  await deliverAll()
  return { received, before, writes: first.state.writes }
}

const idsAt = (received: readonly { url: string; body: { eventId?: string } }[], url: string): string[] =>
  received.flatMap(({ url: own, body }) => (own === url && body.eventId !== undefined ? [body.eventId] : []))

/**
 * @param open A store without entries.
 * @param every How many writes are between two that fail: 1 for each of them.
 */
export function faultScenarios(open: () => Promise<KeyedStore>, every: number): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now(), shouldAdvanceTime: true }))
  afterEach(() => void vi.useRealTimers())
  /** Of a life without a fault. */
  let writes: number | undefined

  describe.each(FAULTS.map((fault, index) => ({ fault, index })))(
    'a write that is $fault',
    ({ fault, index }) => {
      it('loses no event, repeats with the same id, and sends nothing after the end [events.faults]', async () => {
        writes ??= (await live(await open(), fault, 0)).writes
        expect(writes).toBeGreaterThan(25)
        // Not the same ones for each fault.
        for (let at = 1 + Math.floor((index * every) / FAULTS.length); at <= writes; at += every) {
          const { received, before } = await live(await open(), fault, at)
          const what = `write ${at}`
          expect(new Set(idsAt(received, URL_A)), what).toEqual(new Set(['e1', 'e2', 'e3']))
          expect(new Set(idsAt(received, URL_B)), what).toEqual(new Set(['e1', 'e2', 'e3', 'e4']))
          expect(idsAt(received.slice(before), URL_A), what).toEqual([])
          for (const url of [URL_A, URL_B]) {
            // In order, without repetitions.
            const firsts = [...new Set(idsAt(received, url))]
            expect(firsts, what).toEqual([...firsts].sort())
          }
        }
      })
    },
  )
}
