/** Events and their deliveries (SEP-3415, "Webhook Event Delivery"). */
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest'
import * as z from 'zod'
import { createEvent, createMemoryEvents } from '../../../src/mcp-events.ts'
import { createEventServer, incident, isSigned, type Received, SECRET, URL_A, URL_B } from './_events.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-29T12:00:00Z') }))
afterEach(() => void vi.useRealTimers())

function byUrlOf(received: readonly Received[]): Map<string, Received[]> {
  const byUrl = new Map<string, Received[]>()
  for (const one of received) byUrl.set(one.url, [...(byUrl.get(one.url) ?? []), one])
  return byUrl
}

const later = (ms: number): unknown => vi.setSystemTime(Date.now() + ms)

describe('emit', () => {
  it('is delivered: signed, with the subscription and a cursor [events.delivery]', async () => {
    const { subscribe, endpoints, emit } = createEventServer()
    const { result } = await subscribe()
    expect(await emit({ title: 'Down' }, 'pd-1234')).toEqual({ eventId: 'pd-1234', isRepeated: false })

    expect(endpoints.received).toHaveLength(1)
    const [delivery] = endpoints.received
    expect(delivery).toMatchObject({
      url: URL_A,
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'pd-1234',
        'webhook-timestamp': '1795953600',
        'x-mcp-subscription-id': result?.id,
      },
    })
    expect(delivery!.body).toEqual({
      eventId: 'pd-1234',
      name: 'incident.created',
      timestamp: '2026-11-29T12:00:00.000Z',
      data: { title: 'Down', severity: 'P1' },
      cursor: expect.stringMatching(/^[\w-]+\.1$/),
    })
    expect(await isSigned(delivery!, SECRET)).toBe(true)
  })

  it('the same eventId → one event, also at once, and from another process', async () => {
    const { subscribe, endpoints, emit, restart } = createEventServer()
    await subscribe()
    const all = await Promise.all([emit({}, 'one'), emit({}, 'one'), emit({}, 'one')])
    expect(all.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1)
    const again = await restart().events.emit(
      'incident.created',
      { title: 'x', severity: 'P1' },
      { eventId: 'one' },
    )
    expect(again.isRepeated).toBe(true)
    expect(endpoints.received).toHaveLength(1)
  })

  test.each([
    ['an unknown event', 'other', { title: 'x', severity: 'P1' }, {}, /There is no event "other"/],
    ['data that the schema refuses', 'incident.created', { title: 1 }, {}, /is invalid: title/],
    [
      'too much data',
      'incident.created',
      { title: 'x'.repeat(60_000), severity: 'P1' },
      {},
      /at most 60000 are allowed/,
    ],
    [
      'an id that no header takes',
      'incident.created',
      { title: 'x', severity: 'P1' },
      { eventId: 'a b' },
      /visible ASCII/,
    ],
  ])('%s → a TypeError, and nothing is stored', async (_what, name, data, options, message) => {
    const { server, store } = createEventServer()
    await expect(server.events.emit(name, data, options)).rejects.toThrow(message)
    expect((await store.list({ prefix: '', limit: 10 })).keys).toEqual([])
  })

  it('reaches those whose arguments match: by the index, and by matches', async () => {
    const { subscribe, endpoints, emit } = createEventServer()
    const id = async (args: object) => (await subscribe({ arguments: args })).result?.id
    const all = await id({})
    const p1 = await id({ severity: 'P1' })
    const p2 = await id({ severity: 'P2' })
    const p1db = await id({ severity: 'P1', service: 'db' })
    const reached = async (data: object) => {
      endpoints.received.length = 0
      await emit(data)
      return endpoints.received.map(({ headers }) => headers['x-mcp-subscription-id']).sort()
    }
    expect(await reached({ severity: 'P1' })).toEqual([all, p1].sort())
    expect(await reached({ severity: 'P2', service: 'db' })).toEqual([all, p2].sort())
    expect(await reached({ severity: 'P1', service: 'db' })).toEqual([all, p1, p1db].sort())
    expect(await reached({ severity: 'P3' })).toEqual([all])
  })

  it('events before a subscription are not for it', async () => {
    const { subscribe, emit, titles } = createEventServer()
    await emit({ title: 'before' })
    await subscribe()
    await emit({ title: 'after' })
    expect(titles()).toEqual(['after'])
  })

  it('many subscriptions, and many events, in the order in which they were emitted', async () => {
    const { subscribe, endpoints, emit } = createEventServer()
    // A principal has 20 challenges a minute.
    for (let index = 0; index < 18; index++)
      await subscribe({ arguments: { service: `s${index % 3}` } }, 'alice', { url: `${URL_B}/${index}` })
    await Promise.all(
      Array.from({ length: 12 }, (_none, index) => emit({ title: `t${index}`, service: 's1' })),
    )
    const byUrl = byUrlOf(endpoints.received)
    expect(byUrl.size).toBe(6)
    for (const received of byUrl.values()) {
      const seqs = received.map(({ body }) => Number(body.cursor.split('.')[1]))
      expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
      expect(new Set(received.map(({ body }) => body.eventId)).size).toBe(12)
    }
  })

  it('what matches throws is reported, and others get the event', async () => {
    const type = createEvent({
      id: 'odd',
      description: 'Odd',
      inputSchema: z.object({ bad: z.boolean().optional() }),
      matches: (_data, { bad }) => {
        if (bad) throw new Error('broken')
        return true
      },
    })
    const { subscribe, endpoints, emit, errors } = createEventServer({ types: { type } })
    await subscribe({ name: 'odd', arguments: { bad: true } })
    await subscribe({ name: 'odd' })
    await emit({}, undefined, 'odd')
    expect(endpoints.received).toHaveLength(1)
    expect(errors).toMatchObject([{ message: 'broken' }])
  })

  it('work grows with the subscriptions that match, not with all', async () => {
    const work = async (others: number): Promise<number> => {
      const inner = createMemoryEvents()
      let calls = 0
      const counted = (name: 'read' | 'commit' | 'list') =>
        ((...given: never[]) => {
          calls++
          return (inner[name] as (...given: never[]) => unknown)(...given)
        }) as never
      const store = { ...inner, read: counted('read'), commit: counted('commit'), list: counted('list') }
      const { subscribe, emit } = createEventServer({ maxSubscriptions: 1000 }, store)
      for (let index = 0; index < others; index++)
        await subscribe({ arguments: { severity: 'P2', service: `s${index}` } })
      await subscribe({ arguments: { severity: 'P1' } })
      calls = 0
      await emit({ severity: 'P1' })
      return calls
    }
    expect(await work(60)).toBe(await work(1))
  })
})

describe('an endpoint that fails', () => {
  it('is tried again later, with the same id and a new signature [events.retries]', async () => {
    const { server, subscribe, endpoints, emit } = createEventServer()
    await subscribe()
    endpoints.answer = () => ({ status: 500 })
    await emit()
    const { nextDueAt } = await server.events.run()
    expect(endpoints.received).toHaveLength(1)
    expect(nextDueAt! - Date.now()).toBeGreaterThanOrEqual(4000)
    expect(nextDueAt! - Date.now()).toBeLessThanOrEqual(6000)

    endpoints.answer = () => ({ status: 204 })
    later(6000)
    expect(await server.events.run()).toEqual({ delivered: 1, failed: 0, nextDueAt: null })
    const [first, second] = endpoints.received
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    expect(second!.raw).toBe(first!.raw)
    expect(second!.headers['webhook-timestamp']).not.toBe(first!.headers['webhook-timestamp'])
    expect(await isSigned(second!, SECRET)).toBe(true)
  })

  it('waits longer each time, at most an hour', async () => {
    const { server, subscribe, endpoints, emit } = createEventServer({ suspendAfterMs: 86_400_000 })
    await subscribe({ ttlMs: 86_400_000 })
    endpoints.answer = () => ({ failure: 'refused' })
    await emit()
    const waits: number[] = []
    for (let tries = 0; tries < 13; tries++) {
      const { nextDueAt } = await server.events.run()
      waits.push(nextDueAt! - Date.now())
      vi.setSystemTime(nextDueAt!)
    }
    waits.forEach((wait, index) => {
      const expected = Math.min(5000 * 2 ** index, 3_600_000)
      expect(wait).toBeGreaterThanOrEqual(expected * 0.79)
      expect(wait).toBeLessThanOrEqual(expected * 1.21)
    })
  })

  it('Retry-After is kept to', async () => {
    const { server, subscribe, endpoints, emit } = createEventServer()
    await subscribe()
    endpoints.answer = () => ({ status: 503, retryAfterMs: 120_000 })
    await emit()
    const { nextDueAt } = await server.events.run()
    expect(nextDueAt! - Date.now()).toBe(120_000)
  })

  it('one event that is refused holds up no other, and the cursor stays before it', async () => {
    const { server, subscribe, endpoints, emit, titles } = createEventServer()
    await subscribe()
    endpoints.answer = ({ body }) => ({ status: body.data.title === 'poison' ? 500 : 200 })
    await emit({ title: 'poison' })
    await emit({ title: 'good' })
    expect(titles()).toEqual(['poison', 'good'])
    expect(endpoints.received[1]!.body.cursor).toMatch(/\.0$/)
    endpoints.answer = () => ({ status: 200 })
    later(10_000)
    await server.events.run()
    expect(titles()).toEqual(['poison', 'good', 'poison'])
  })

  it('a dead endpoint gets few requests, and delays nobody', async () => {
    const { subscribe, endpoints, emit } = createEventServer()
    await subscribe()
    await subscribe({}, 'alice', { url: URL_B })
    endpoints.answer = ({ url }) => (url === URL_A ? { failure: 'timeout' } : { status: 200 })
    for (let index = 0; index < 10; index++) await emit()
    const byUrl = byUrlOf(endpoints.received)
    expect(byUrl.get(URL_B)).toHaveLength(10)
    expect(byUrl.get(URL_A)).toHaveLength(1)
  })

  test.each([410, 413])('%d → that event is given up', async (status) => {
    const { server, subscribe, endpoints, emit, store } = createEventServer()
    await subscribe()
    endpoints.answer = () => ({ status })
    await emit()
    later(100_000)
    await server.events.run()
    expect(endpoints.received).toHaveLength(1)
    const { keys } = await store.list({ prefix: '', limit: 100 })
    expect(keys.filter((key) => key.includes(':l:'))).toHaveLength(1)
  })

  it('after hours of failures → suspended; a refresh says so, and begins again', async () => {
    const { server, subscribe, endpoints, emit, titles } = createEventServer()
    await subscribe({ ttlMs: 86_400_000 })
    endpoints.answer = () => ({ status: 500 })
    await emit({ title: 'first' })
    for (;;) {
      const { nextDueAt } = await server.events.run()
      if (nextDueAt === null) break
      vi.setSystemTime(nextDueAt)
    }
    const tries = endpoints.received.length
    await emit({ title: 'second' })
    expect(endpoints.received).toHaveLength(tries)

    const { result } = await subscribe({ ttlMs: 86_400_000 })
    expect(result).toMatchObject({
      truncated: false,
      deliveryStatus: { active: false, lastError: 'http_5xx', failedSince: '2026-11-29T12:00:00.000Z' },
    })
    endpoints.answer = () => ({ status: 200 })
    await server.events.run()
    expect(titles().slice(tries)).toEqual(['first', 'second'])
    expect((await subscribe()).result?.deliveryStatus).toMatchObject({
      active: true,
      lastError: null,
      lastDeliveryAt: expect.any(String),
    })
  })

  it('a sender that throws counts as a failure, and is reported', async () => {
    const { server, subscribe, endpoints, emit, errors } = createEventServer()
    await subscribe()
    endpoints.answer = () => {
      throw new Error('no network')
    }
    await emit()
    expect(errors).toMatchObject([{ message: 'no network' }])
    endpoints.answer = () => ({ status: 200 })
    later(10_000)
    expect(await server.events.run()).toMatchObject({ delivered: 1 })
  })
})

describe('nothing is delivered', () => {
  it('to a subscription that has expired [events.expiry]', async () => {
    const { subscribe, endpoints, emit, server } = createEventServer()
    await subscribe()
    endpoints.answer = () => ({ status: 500 })
    await emit()
    endpoints.answer = () => ({ status: 200 })
    later(3_600_001)
    await emit()
    expect(await server.events.run()).toEqual({ delivered: 0, failed: 0, nextDueAt: null })
    expect(endpoints.received).toHaveLength(1)
  })

  it('after it was unsubscribed during a run', async () => {
    const { subscribe, unsubscribe, endpoints, emit, titles } = createEventServer()
    await subscribe()
    endpoints.answer = () => ({ status: 503 })
    await emit({ title: 'one' })
    later(10_000)
    endpoints.answer = async () => {
      await unsubscribe()
      return { status: 200 }
    }
    await emit({ title: 'two' })
    expect(titles()).toEqual(['one', 'one'])
  })

  it('once canSubscribe says no: terminated, and nothing else', async () => {
    let isMember = true
    const type = createEvent({ id: 'room', description: 'A room', canSubscribe: () => isMember })
    const { server, subscribe, endpoints, emit } = createEventServer({ types: { type } })
    const { result } = await subscribe({ name: 'room' })
    isMember = false
    endpoints.answer = () => ({ status: 500 })
    await emit({}, undefined, 'room')
    later(10_000)
    endpoints.answer = () => ({ status: 200 })
    await server.events.run()
    await emit({}, undefined, 'room')

    expect(endpoints.received.map(({ body }) => body)).toEqual(
      Array.from({ length: 2 }, () => ({
        type: 'terminated',
        error: {
          code: -32012,
          message: expect.stringMatching(/^Forbidden/),
          data: { reason: 'Access revoked' },
        },
      })),
    )
    const [first, second] = endpoints.received.map(({ headers }) => headers)
    expect(first!['webhook-id']).toMatch(/^msg_terminated_/)
    expect(second!['webhook-id']).toBe(first!['webhook-id'])
    expect(first!['x-mcp-subscription-id']).toBe(result?.id)
    expect((await subscribe({ name: 'room' })).error).toMatchObject({ code: -32012 })
    isMember = true
    expect((await subscribe({ name: 'room' })).result?.id).toBe(result?.id)
    await emit({}, undefined, 'room')
    expect(endpoints.received).toHaveLength(3)
  })

  it('to a subscriber whose next request has fewer rights', async () => {
    let isMember = true
    const type = createEvent({ id: 'room', description: 'A room', canSubscribe: () => isMember })
    const { subscribe, endpoints, emit } = createEventServer({ types: { type } })
    await subscribe({ name: 'room' })
    isMember = false
    await subscribe({ name: 'room' })
    isMember = true
    await emit({}, undefined, 'room')
    expect(endpoints.received.map(({ body }) => body.type)).toEqual(['terminated'])
  })

  it('while canSubscribe fails; later it is', async () => {
    let isDown = false
    const type = createEvent({
      id: 'room',
      description: 'A room',
      canSubscribe: () => {
        if (isDown) throw new Error('directory is down')
        return true
      },
    })
    const { server, subscribe, endpoints, emit, errors } = createEventServer({ types: { type } })
    await subscribe({ name: 'room' })
    isDown = true
    await emit({}, undefined, 'room')
    expect(endpoints.received).toEqual([])
    expect(errors).toMatchObject([{ message: 'directory is down' }])
    isDown = false
    later(60_000)
    await server.events.run()
    expect(endpoints.received).toHaveLength(1)
  })

  it('by a version of the server that does not know the event; another one delivers it', async () => {
    const other = createEvent({ id: 'other', description: 'Other' })
    const { subscribe, endpoints, emit, store, server } = createEventServer()
    await subscribe()
    endpoints.answer = () => ({ status: 503 })
    await emit()
    endpoints.answer = () => ({ status: 200 })
    later(10_000)
    const old = createEventServer({ types: { other }, deliver: endpoints }, store)
    expect(await old.server.events.run()).toMatchObject({ delivered: 0 })
    later(60_000)
    expect(await server.events.run()).toMatchObject({ delivered: 1 })
  })
})

describe('a subscription that lapsed', () => {
  it('gets what happened since its cursor', async () => {
    const { subscribe, emit, titles, server } = createEventServer()
    const { result } = await subscribe()
    later(3_600_001)
    for (const title of ['one', 'two', 'three']) await emit({ title })
    const again = await subscribe({ cursor: result?.cursor })
    expect(again.result).toMatchObject({ truncated: false, cursor: result?.cursor })
    await server.events.run()
    expect(titles()).toEqual(['one', 'two', 'three'])
  })

  it('nothing older than maxAgeMs, and is told so', async () => {
    const { subscribe, emit, titles, server } = createEventServer()
    const { result } = await subscribe()
    later(3_600_001)
    await emit({ title: 'old' })
    later(100_000)
    await emit({ title: 'new' })
    const again = await subscribe({ cursor: result?.cursor, maxAgeMs: 50_000 })
    expect(again.result).toMatchObject({ truncated: true })
    await server.events.run()
    expect(titles()).toEqual(['new'])
  })

  it('a cursor of a log that is gone → from now on, truncated', async () => {
    const { subscribe, emit } = createEventServer()
    await emit()
    expect((await subscribe({ cursor: 'other.1' })).result).toMatchObject({ truncated: true })
  })

  it('a live one is not disturbed by its cursor', async () => {
    const { subscribe, emit, endpoints, server } = createEventServer()
    const { result } = await subscribe()
    await emit()
    const again = await subscribe({ cursor: result?.cursor })
    expect(again.result?.truncated).toBe(false)
    await server.events.run()
    expect(endpoints.received).toHaveLength(1)
  })
})

describe('events that are lost', () => {
  it('with more than the log keeps → the client learns of a gap', async () => {
    const { server, subscribe, endpoints, emit } = createEventServer({ maxEvents: 3 })
    await subscribe()
    endpoints.answer = () => ({ status: 503 })
    for (let index = 0; index < 5; index++) await emit({ title: `t${index}` })
    endpoints.received.length = 0
    endpoints.answer = () => ({ status: 200 })
    later(3_000_000)
    await server.events.run()
    const bodies = endpoints.received.map(({ body }) => body)
    expect(bodies.filter(({ type }) => type === 'gap')).toEqual([{ type: 'gap', cursor: expect.any(String) }])
    expect(bodies.flatMap(({ data }) => data?.title ?? [])).toEqual(['t2', 't3', 't4'])
    expect((await subscribe()).result?.truncated).toBe(false)
  })
})

describe('a run', () => {
  it('of nothing costs two look-ups of the store, and one for each event', async () => {
    const inner = createMemoryEvents()
    const list = vi.fn(inner.list)
    const read = vi.fn(inner.read)
    const { server } = createEventServer({}, { ...inner, list, read })
    expect(await server.events.run()).toEqual({ delivered: 0, failed: 0, nextDueAt: null })
    expect(list.mock.calls.length).toBeLessThanOrEqual(3)
    expect(read).not.toHaveBeenCalled()
  })

  it('ends in time, and what is left is due', async () => {
    const { server, subscribe, endpoints, emit } = createEventServer()
    await subscribe()
    endpoints.answer = () => ({ status: 503 })
    await emit()
    later(10_000)
    endpoints.received.length = 0
    expect(await server.events.run({ deadline: Date.now() + 1000 })).toEqual({
      delivered: 0,
      failed: 0,
      nextDueAt: Date.now(),
    })
    expect(endpoints.received).toEqual([])
  })

  it('two at once deliver once', async () => {
    const { server, restart, subscribe, endpoints, emit } = createEventServer()
    for (let index = 0; index < 10; index++) await subscribe({}, 'alice', { url: `${URL_B}/${index}` })
    endpoints.answer = () => ({ status: 503 })
    await emit()
    endpoints.received.length = 0
    endpoints.answer = () => ({ status: 200 })
    later(10_000)
    await Promise.all([server.events.run(), restart().events.run()])
    expect(endpoints.received).toHaveLength(10)
  })

  it('a run that died leaves its lease, and another one delivers', async () => {
    const { server, subscribe, endpoints, emit } = createEventServer()
    await subscribe()
    let isDead = true
    endpoints.answer = () => (isDead ? new Promise(() => {}) : { status: 200 })
    void emit()
    await vi.waitFor(() => expect(endpoints.received).toHaveLength(1))
    isDead = false
    expect(await server.events.run()).toMatchObject({ delivered: 0 })
    later(90_001)
    expect(await server.events.run()).toMatchObject({ delivered: 1, nextDueAt: null })
    expect(endpoints.received[1]!.body.eventId).toBe(endpoints.received[0]!.body.eventId)
  })
})

test('two servers, and two stages, share a store without seeing each other', async () => {
  const store = createMemoryEvents()
  const one = createEventServer({}, store)
  await one.subscribe()
  const { createServer } = await import('../_client.ts')
  const { events } = await import('../../../src/mcp-events.ts')
  const two = createServer({
    id: 'other',
    auth: 'host',
    events: events({ types: { incident }, store, deliver: one.endpoints }),
  })
  await two.events.emit('incident.created', { title: 'x', severity: 'P1' })
  await two.events.run()
  expect(one.endpoints.received).toEqual([])
})
