/** Many events at once in one process: each is one more, not one more for each of the others. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { createMemoryEvents } from '../../../src/mcp-events.ts'
import { createEventServer } from './_events.ts'

afterEach(() => void vi.useRealTimers())

/** Counts what the store is asked for. */
function counting(store: KeyedStore = createMemoryEvents()) {
  const counts = { asked: 0 }
  const counted: KeyedStore = {
    ...store,
    read(key) {
      counts.asked++
      return store.read(key)
    },
    list(options) {
      counts.asked++
      return store.list(options)
    },
    commit(version, writes) {
      counts.asked++
      return store.commit(version, writes)
    },
  }
  return { counts, counted }
}

/** Events that are emitted one after the other, while the deliveries of those before are under way. */
async function measure(count: number, isSubscribed: boolean) {
  const { counts, counted } = counting()
  const { server, subscribe, endpoints, errors } = createEventServer({}, counted)
  if (isSubscribed) expect((await subscribe()).error).toBeUndefined()
  counts.asked = 0
  const work: Promise<unknown>[] = []
  for (let number = 0; number < count; number++)
    await server.events.emit(
      'incident.created',
      { title: `${number}`, severity: 'P1' },
      { waitUntil: (run) => void work.push(run) },
    )
  await Promise.all(work)
  expect(errors).toEqual([])
  return { each: counts.asked / count, titles: endpoints.received.map(({ body }) => Number(body.data.title)) }
}

describe.each([
  ['without subscriptions', false],
  ['with one', true],
])('%s', (_how, isSubscribed) => {
  it('an event asks the store as often among 160 as among 20, and all are delivered, in order', async () => {
    const few = await measure(20, isSubscribed)
    const many = await measure(160, isSubscribed)
    if (isSubscribed) expect(many.titles).toEqual(Array.from({ length: 160 }, (_none, number) => number))
    expect(many.each).toBeLessThan(few.each * 1.5)
  })
})

it('a run whose invocation was ended holds up no other for more than five seconds', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  const store = createMemoryEvents()
  let hangs = 0
  const hanging: KeyedStore = {
    ...store,
    // As a request that its platform has ended: the first look for events that wait.
    list: (options) =>
      options.prefix.endsWith(':o:incident.created:') && hangs++ === 0
        ? new Promise(() => {})
        : store.list(options),
  }
  const { server, subscribe, endpoints } = createEventServer({}, store)
  expect((await subscribe()).error).toBeUndefined()
  await server.close()
  const { server: other, endpoints: asked } = createEventServer({ deliver: endpoints }, hanging)
  expect(asked.received).toEqual([])
  const emit = (title: string, waitUntil?: (run: Promise<unknown>) => void) =>
    other.events.emit('incident.created', { title, severity: 'P1' }, waitUntil && { waitUntil })
  await emit('first')
  await vi.waitFor(() => expect(hangs).toBe(1))
  let isDone = false
  await emit('second', (run) => void run.then(() => (isDone = true)))
  await vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(500)
    expect(isDone).toBe(true)
  })
  expect(endpoints.received.map(({ body }) => body.data.title)).toEqual(['first', 'second'])
})
