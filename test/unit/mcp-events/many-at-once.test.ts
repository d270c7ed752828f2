/** Many events at once, in one process and in several: each is one more, not one more for each of the others. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { KeyedStore, KeyedWrite } from '../../../src/keyed/store.ts'
import { createEvent, createMemoryEvents } from '../../../src/mcp-events.ts'
import { createEventServer, incident } from './_events.ts'

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

/** Events that several processes emit at the same time. Each request of the store takes a moment, in which the others go on. */
async function measureProcesses(count: number) {
  const { counts, counted } = counting()
  const moment = () => new Promise((resolve) => setTimeout(resolve, 1))
  const shared: KeyedStore = {
    ...counted,
    read: (key) => moment().then(() => counted.read(key)),
    list: (options) => moment().then(() => counted.list(options)),
    commit: (version, writes) => moment().then(() => counted.commit(version, writes)),
  }
  const first = createEventServer({}, shared)
  expect((await first.subscribe()).error).toBeUndefined()
  const others = Array.from({ length: count - 1 }, () =>
    createEventServer({ deliver: first.endpoints }, shared),
  )
  const processes = [first, ...others]
  counts.asked = 0
  await Promise.all(
    processes.map(async ({ server }, process) => {
      const work: Promise<unknown>[] = []
      for (let number = 0; number < 10; number++)
        await server.events.emit(
          'incident.created',
          { title: `${process}.${number}`, severity: 'P1' },
          { waitUntil: (run) => void work.push(run) },
        )
      await Promise.all(work)
    }),
  )
  expect(processes.flatMap(({ errors }) => errors)).toEqual([])
  const titles = first.endpoints.received.map(({ body }) => String(body.data.title))
  const events = count * 10
  expect([titles.length, new Set(titles).size]).toEqual([events, events])
  return { each: counts.asked / events, titles }
}

it('500 events that one process emits at once are all stored, several in a request of the store', async () => {
  const { counts, counted } = counting()
  const moment = () => new Promise((resolve) => setTimeout(resolve, 1))
  const shared: KeyedStore = {
    ...counted,
    read: (key) => moment().then(() => counted.read(key)),
    commit: (version, writes) => moment().then(() => counted.commit(version, writes)),
  }
  const { server } = createEventServer({ runner: { isPrompt: true, wake() {} } as never }, shared)
  const all = Array.from({ length: 500 }, (_none, number) =>
    server.events.emit('incident.created', { title: `${number}`, severity: 'P1' }, { waitUntil: () => {} }),
  )
  const results = await Promise.allSettled(all)
  expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
  expect(counts.asked / 500).toBeLessThan(2)
})

describe('events that one process emits at once', () => {
  const titled = (title: string) => ({ title, severity: 'P1' })
  const sorted = (titles: readonly unknown[]) => titles.map(Number).sort((one, other) => one - other)

  it('with the id of another are stored once', async () => {
    const { server, subscribe, endpoints } = createEventServer()
    expect((await subscribe()).error).toBeUndefined()
    const ids = ['a', 'b', 'a', 'c', 'd', 'e', 'b', 'f', 'g', 'h', 'a']
    const emitted = await Promise.all(
      ids.map((eventId) => server.events.emit('incident.created', titled(eventId), { eventId })),
    )
    expect(emitted.map(({ eventId }) => eventId)).toEqual(ids)
    expect(emitted.filter(({ isRepeated }) => isRepeated).map(({ eventId }) => eventId)).toEqual([
      'a',
      'b',
      'a',
    ])
    await vi.waitFor(() => expect(endpoints.received).toHaveLength(8))
    expect(endpoints.received.map(({ body }) => body.eventId).sort()).toEqual([...'abcdefgh'])
  })

  it.each([1, 3, 100])('are kept up to maxEvents, %i', async (maxEvents) => {
    const { subscribe, server, endpoints } = createEventServer({ maxEvents })
    expect((await subscribe()).error).toBeUndefined()
    const numbers = Array.from({ length: maxEvents === 100 ? 40 : maxEvents }, (_none, number) => `${number}`)
    const emitted = await Promise.all(
      numbers.map((title) => server.events.emit('incident.created', titled(title), { eventId: title })),
    )
    expect(emitted).toEqual(numbers.map((eventId) => ({ eventId, isRepeated: false })))
    await vi.waitFor(() => expect(endpoints.received).toHaveLength(numbers.length))
    expect(sorted(endpoints.received.map(({ body }) => body.data.title))).toEqual(numbers.map(Number))
  })

  it('one whose commit fails rejects; the others are stored', async () => {
    const store = createMemoryEvents()
    let left = 0
    const failing: KeyedStore = {
      ...store,
      commit: async (version, writes) => {
        if (left > 0 && left--) throw new Error('down')
        return store.commit(version, writes)
      },
    }
    const { server, subscribe, endpoints } = createEventServer({}, failing)
    expect((await subscribe()).error).toBeUndefined()
    // Each commit is tried twice.
    left = 2
    const emits = Array.from({ length: 12 }, (_none, number) =>
      server.events.emit('incident.created', titled(`${number}`), { eventId: `${number}` }),
    )
    const results = await Promise.allSettled(emits)
    const rejected = results.flatMap(({ status }, at) => (status === 'rejected' ? [`${at}`] : []))
    expect(rejected).toHaveLength(1)
    await vi.waitFor(() => expect(endpoints.received).toHaveLength(12 - rejected.length))
    const stored = Array.from({ length: 12 }, (_none, number) => number)
    expect(sorted(endpoints.received.map(({ body }) => body.data.title))).toEqual(
      stored.filter((number) => !rejected.includes(`${number}`)),
    )
  })
})

/** Lets time pass until the work has ended: digests are made beside the timers. */
async function passTime<Result>(work: Promise<Result>): Promise<Result> {
  const ended = vi.fn()
  void work.finally(ended)
  const look = async (): Promise<void> => {
    await vi.advanceTimersByTimeAsync(500)
    expect(ended).toHaveBeenCalled()
  }
  await vi.waitFor(look, { timeout: 60_000 })
  return work
}

it('500 events that one process emits at once on a slow store are all stored: none gets in the way of others', async () => {
  const { counts, counted } = counting(delayed(100))
  const { server } = createEventServer({ runner: { isPrompt: true, wake() {} } as never }, counted)
  const emits = Array.from({ length: 500 }, (_none, number) =>
    server.events.emit('incident.created', { title: `${number}`, severity: 'P1' }),
  )
  const settled = await Promise.allSettled(emits)
  expect(settled.filter(({ status }) => status === 'rejected')).toEqual([])
  expect(counts.asked / 500).toBeLessThan(2)
})

describe('a commit with several events, of which the answer', () => {
  const isSeveral = (writes: readonly KeyedWrite[]) =>
    writes.filter(({ key }) => key.includes(':e:')).length > 1
  const emitAll = (server: ReturnType<typeof createEventServer>['server'], ids: string) =>
    Promise.allSettled(
      [...ids].map((eventId) =>
        server.events.emit('incident.created', { title: eventId, severity: 'P1' }, { eventId }),
      ),
    )
  const repeatedIn = (results: Awaited<ReturnType<typeof emitAll>>) =>
    results.flatMap((result) =>
      result.status === 'fulfilled' && result.value.isRepeated ? [result.value] : [],
    )

  it('is lost: one rejects, and the others are not told that they were emitted before', async () => {
    const store = createMemoryEvents()
    let losses = 0
    const losing: KeyedStore = {
      ...store,
      async commit(version, writes) {
        const isMade = await store.commit(version, writes)
        // The commit, and its repetition.
        if (isSeveral(writes) && losses++ < 2) throw new Error('lost')
        return isMade
      },
    }
    const { server } = createEventServer({}, losing)
    const results = await emitAll(server, 'abcdef')
    expect(losses).toBeGreaterThanOrEqual(2)
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(repeatedIn(results)).toEqual([])
    expect(repeatedIn(await emitAll(server, 'abcdef'))).toHaveLength(6)
  })

  it('does not come: another one stores its event, and it resolves', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
    const store = createMemoryEvents()
    let hangs = 0
    const hanging: KeyedStore = {
      ...store,
      commit: (version, writes) =>
        isSeveral(writes) && hangs++ < 2 ? new Promise(() => {}) : store.commit(version, writes),
    }
    const { server } = createEventServer({ runner: { isPrompt: true, wake() {} } as never }, hanging)
    const results = await passTime(emitAll(server, 'abcdef'))
    expect(hangs).toBeGreaterThanOrEqual(2)
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
    expect(repeatedIn(results)).toEqual([])
  })
})

it('of eight processes that emit at once, one puts the events in: each is delivered once, in order', async () => {
  const alone = await measureProcesses(1)
  const eight = await measureProcesses(8)
  for (let process = 0; process < 8; process++)
    expect(eight.titles.filter((title) => title.startsWith(`${process}.`))).toEqual(
      Array.from({ length: 10 }, (_none, number) => `${process}.${number}`),
    )
  expect(eight.each).toBeLessThan(alone.each * 2.5)
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

/** Each request to it takes this long. */
function delayed(ms: number): KeyedStore {
  const store = createMemoryEvents()
  const pause = () => new Promise((resolve) => setTimeout(resolve, ms))
  return {
    ...store,
    read: (key) => pause().then(() => store.read(key)),
    list: (options) => pause().then(() => store.list(options)),
    commit: (version, writes) => pause().then(() => store.commit(version, writes)),
  }
}

it('events that come faster than they are put in hold up neither their deliveries nor another event', async () => {
  const other = createEvent({ id: 'other', description: 'x', payloadSchema: z.object({}) })
  const { server, subscribe, endpoints } = createEventServer({ types: { incident, other } }, delayed(3))
  for (const name of ['incident.created', 'other']) expect((await subscribe({ name })).error).toBeUndefined()
  const deadline = Date.now() + 8000
  const work: Promise<unknown>[] = []
  const emit = (name: string, data: object) =>
    server.events.emit(name, data, { deadline, waitUntil: (run) => void work.push(run) })
  const delivered = (name: string) => endpoints.received.filter(({ body }) => body.name === name).length
  const isDelivered = () => delivered('incident.created') > 20 && delivered('other') > 0
  for (let number = 0; !isDelivered() && Date.now() < deadline; number++) {
    await Promise.all([1, 2].map(() => emit('incident.created', { title: `${number}`, severity: 'P1' })))
    // When the others have come too fast for a while.
    if (number === 20) await emit('other', {})
  }
  expect([delivered('incident.created') > 20, delivered('other')]).toEqual([true, 1])
  await server.close()
  await Promise.all(work)
}, 30_000)
