/** `events/poll` and `events/stream` (SEP-3415). */
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest'
import { createMemoryBus } from '../../../src/index.ts'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { createEvent } from '../../../src/mcp-events.ts'
import { createServer, META, modern, modernRequest, StreamReader } from '../_client.ts'
import { createEventServer, TOKENS } from './_events.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-29T12:00:00Z') }))
afterEach(() => void vi.useRealTimers())

type Server = ReturnType<typeof createEventServer>

const poll = async ({ call }: Pick<Server, 'call'>, params: object = {}) => {
  const { result, error } = await call('alice', 'events/poll', { name: 'incident.created', ...params })
  if (error !== undefined) throw Object.assign(new Error(error.message), error)
  return result as {
    events: { eventId: string; data: { title: string } }[]
    cursor: string
    truncated: boolean
    hasMore: boolean
    nextPollMs: number
  }
}

describe('events/poll', () => {
  it('begins with a cursor and no events; then has what happened since [events.poll]', async () => {
    const server = createEventServer()
    const first = await poll(server, { cursor: null })
    expect(first).toMatchObject({
      events: [],
      cursor: expect.any(String),
      truncated: false,
      hasMore: false,
      nextPollMs: 10_000,
    })
    await server.emit({ title: 'one' }, 'e1')
    const second = await poll(server, { cursor: first.cursor })
    expect(second.events).toEqual([
      {
        eventId: 'e1',
        name: 'incident.created',
        timestamp: '2026-11-29T12:00:00.000Z',
        data: { title: 'one', severity: 'P1' },
      },
    ])
    expect(await poll(server, { cursor: second.cursor })).toMatchObject({ events: [], hasMore: false })
    // The same answer again: a poll changes nothing.
    expect(await poll(server, { cursor: first.cursor })).toEqual(second)
  })

  it('has pages, and only what the arguments want', async () => {
    const server = createEventServer()
    const { cursor } = await poll(server)
    for (let index = 0; index < 7; index++)
      await server.emit({ title: `t${index}`, severity: index % 2 ? 'P1' : 'P2', service: 'db' })
    const args = { severity: 'P2', service: 'db' }
    const one = await poll(server, { cursor, arguments: args, maxEvents: 3 })
    expect(one.events.map(({ data }) => data.title)).toEqual(['t0', 't2', 't4'])
    expect(one.hasMore).toBe(true)
    const two = await poll(server, { cursor: one.cursor, arguments: args, maxEvents: 3 })
    expect(two.events.map(({ data }) => data.title)).toEqual(['t6'])
    expect(two.hasMore).toBe(false)
    const others = await poll(server, { cursor, arguments: { ...args, service: 'web' } })
    expect(others).toMatchObject({ events: [], cursor: two.cursor })
  })

  it('leaves out what is older than maxAgeMs, and says so', async () => {
    const server = createEventServer()
    const { cursor } = await poll(server)
    await server.emit({ title: 'old' })
    vi.setSystemTime(Date.now() + 100_000)
    await server.emit({ title: 'new' })
    const page = await poll(server, { cursor, maxAgeMs: 50_000 })
    expect(page.events.map(({ data }) => data.title)).toEqual(['new'])
    expect(page.truncated).toBe(true)
  })

  it('from a position that is gone → truncated, never an error', async () => {
    const server = createEventServer({ maxEvents: 2 })
    const { cursor } = await poll(server)
    for (let index = 0; index < 5; index++) await server.emit({ title: `t${index}` })
    const page = await poll(server, { cursor })
    expect(page.events.map(({ data }) => data.title)).toEqual(['t3', 't4'])
    expect(page.truncated).toBe(true)
    expect(await poll(server, { cursor: 'other.3' })).toMatchObject({ events: [], truncated: true })
    vi.setSystemTime(Date.now() + 86_400_001)
    expect(await poll(server, { cursor })).toMatchObject({ events: [], truncated: true, cursor: page.cursor })
  })

  it('is asked of canSubscribe, and works without authentication', async () => {
    const open = createEvent({ id: 'open', description: 'For all' })
    const closed = createEvent({ id: 'closed', description: 'For no one', canSubscribe: () => false })
    const { events, createMemoryEvents } = await import('../../../src/mcp-events.ts')
    const server = createServer({ events: events({ types: { open, closed }, store: createMemoryEvents() }) })
    const { result } = await modern(server, 'events/list')
    expect(result?.events).toMatchObject([{ delivery: ['poll', 'push'] }, { delivery: ['poll', 'push'] }])
    expect((await modern(server, 'events/poll', { name: 'open' })).result).toMatchObject({ events: [] })
    expect((await modern(server, 'events/poll', { name: 'closed' })).error).toMatchObject({ code: -32012 })
  })

  test.each([
    [{ name: 'other' }, { code: -32011 }],
    [{ arguments: { severity: 'P9' } }, { code: -32602 }],
    [{ cursor: 1 }, { code: -32602 }],
    [{ maxEvents: 0 }, { code: -32602 }],
    [{ maxAgeMs: -1 }, { code: -32602 }],
  ])('%o → %o', async (params, error) => {
    await expect(poll(createEventServer(), params)).rejects.toMatchObject(error)
  })

  it('of an event that is delivered by webhook alone → -32014', async () => {
    const type = createEvent({ id: 'incident.created', description: 'By webhook', modes: ['webhook'] })
    await expect(poll(createEventServer({ types: { type } }))).rejects.toMatchObject({
      code: -32014,
      data: { feature: 'deliveryMode', value: 'poll' },
    })
  })
})

describe('events/stream', () => {
  const fast = (options: Parameters<typeof createEventServer>[0] = {}, store?: KeyedStore) =>
    createEventServer({ streamIntervalMs: 10, ...options }, store)
  const paramsOf = (item: unknown) => (item as { params?: { cursor?: string } }).params
  const open = async ({ server }: Server, params: object = {}) => {
    const request = modernRequest(
      'events/stream',
      { name: 'incident.created', ...params },
      { id: 'stream', headers: { authorization: `Bearer ${TOKENS.alice}` } },
    )
    return new StreamReader(await server.handle(request, {}))
  }
  const _meta = { [META.subscriptionId]: 'stream' }

  it('is active, then sends events with their cursors; another one continues there [events.stream]', async () => {
    const server = fast()
    const stream = await open(server)
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/events/active',
      params: { cursor: expect.any(String), truncated: false, _meta },
    })
    await server.emit({ title: 'one' }, 'e1')
    const event = await stream.next()
    expect(event).toMatchObject({
      method: 'notifications/events/event',
      params: {
        eventId: 'e1',
        name: 'incident.created',
        data: { title: 'one' },
        cursor: expect.any(String),
        _meta,
      },
    })
    await stream.cancel()
    await server.emit({ title: 'two' }, 'e2')
    const again = await open(server, { cursor: paramsOf(event)?.cursor })
    expect(await again.next()).toMatchObject({
      params: { truncated: false, cursor: paramsOf(event)?.cursor },
    })
    expect(await again.next()).toMatchObject({ params: { eventId: 'e2' } })
    await again.cancel()
  })

  it('sends a heartbeat with its cursor while nothing happens', async () => {
    const server = fast()
    const stream = await open(server)
    const active = await stream.next()
    vi.setSystemTime(Date.now() + 15_000)
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/events/heartbeat',
      params: { cursor: paramsOf(active)?.cursor, _meta },
    })
    await stream.cancel()
  })

  it('of a caller that may no longer have it → terminated, and its result', async () => {
    let isMember = true
    const type = createEvent({ id: 'incident.created', description: 'A room', canSubscribe: () => isMember })
    const stream = await open(fast({ types: { type } }))
    await stream.next()
    isMember = false
    vi.setSystemTime(Date.now() + 60_000)
    expect(await stream.next()).toMatchObject({
      method: 'notifications/events/terminated',
      params: { error: { code: -32012 }, _meta },
    })
    expect(await stream.next()).toMatchObject({ id: 'stream', result: {} })
  })

  it('events after the access was revoked → terminated before the first of them', async () => {
    let isMember = true
    const type = createEvent({ id: 'incident.created', description: 'A room', canSubscribe: () => isMember })
    const server = fast({ types: { type } })
    const stream = await open(server)
    await stream.next()
    await server.emit({ title: 'one' })
    expect(await stream.next()).toMatchObject({ params: { data: { title: 'one' } } })
    isMember = false
    await server.emit({ title: 'two' })
    expect(await stream.next()).toMatchObject({ method: 'notifications/events/terminated' })
    expect(await stream.next()).toMatchObject({ id: 'stream', result: {} })
  })

  it('events while nobody knows whether the caller may have them → an error, then the events', async () => {
    let isDown = false
    const canSubscribe = () => {
      if (isDown) throw new Error('the database is down')
      return true
    }
    const type = createEvent({ id: 'incident.created', description: 'A room', canSubscribe })
    const server = fast({ types: { type } })
    const stream = await open(server)
    await stream.next()
    isDown = true
    await server.emit({ title: 'one' })
    expect(await stream.next()).toMatchObject({
      method: 'notifications/events/error',
      params: { error: { code: -32603 }, _meta },
    })
    isDown = false
    let message = await stream.next()
    while ((message as { method: string }).method === 'notifications/events/error')
      message = await stream.next()
    expect(message).toMatchObject({ params: { data: { title: 'one' } } })
    await stream.cancel()
  })

  it('while the store is down → an error, and it goes on', async () => {
    const { createMemoryEvents } = await import('../../../src/mcp-events.ts')
    const inner = createMemoryEvents()
    let isDown = false
    const store = {
      ...inner,
      read: async (key: string) => {
        if (isDown) throw new Error('the store is down')
        return inner.read(key)
      },
    }
    const server = fast({}, store)
    const stream = await open(server)
    await stream.next()
    isDown = true
    expect(await stream.next()).toMatchObject({
      method: 'notifications/events/error',
      params: { error: { code: -32603 }, _meta },
    })
    isDown = false
    await server.emit({ title: 'one' })
    expect(await stream.next()).toMatchObject({ params: { data: { title: 'one' } } })
    await stream.cancel()
  })

  it('an invalid one is an answer without a stream', async () => {
    const { call } = createEventServer()
    expect((await call('alice', 'events/stream', { name: 'other' })).error).toMatchObject({ code: -32011 })
  })

  it('ends with its result when the server closes', async () => {
    const server = fast()
    const stream = await open(server)
    await stream.next()
    await server.server.close()
    expect(await stream.next()).toMatchObject({ id: 'stream', result: {} })
  })
})

test('notifications/events/list_changed reaches who listens, and is declared [events.list-changed]', async () => {
  const { events, createMemoryEvents } = await import('../../../src/mcp-events.ts')
  const open = createEvent({ id: 'open', description: 'For all' })
  const server = createServer({
    bus: createMemoryBus(),
    events: events({ types: { open }, store: createMemoryEvents() }),
  })
  const { result } = await modern(server, 'server/discover')
  expect(result?.capabilities).toMatchObject({ events: { listChanged: true } })
  const request = modernRequest('subscriptions/listen', { notifications: { eventsListChanged: true } })
  const stream = new StreamReader(await server.handle(request, {}))
  await stream.next()
  await server.events.notifyListChanged()
  expect(await stream.next()).toMatchObject({ method: 'notifications/events/list_changed' })
  await stream.cancel()
})
