/** Subscribers who take what belongs to all, or make a server work for nothing. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { staticTokens } from '../../../src/auth.ts'
import { createEvent, createMemoryEvents, events } from '../../../src/mcp-events.ts'
import { eventsHandler } from '../../../src/webhook.ts'
import { modern } from '../_client.ts'
import { createEventServer, incident, OTHER_SECRET, SECRET, URL_A, URL_B } from './_events.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-29T12:00:00Z') }))
afterEach(() => void vi.useRealTimers())

/** Only what a test runs itself is delivered. */
const manual = { isPrompt: true, wake() {}, attach() {} } as never
const DAY = 86_400_000

describe('one subscriber does not stop the others', () => {
  it('by arguments that defaults make larger than an entry of the store', async () => {
    const filter = z.object({ negate: z.boolean().default(false), weight: z.number().default(1) })
    const type = createEvent({
      id: 'incident.created',
      description: 'A new incident',
      inputSchema: z.object({ filters: z.array(filter).optional() }),
    })
    const { subscribe, emit, endpoints, errors } = createEventServer({ types: { type } })
    await subscribe({}, 'bob', { url: URL_B })
    for (let count = 2300; count > 100; count -= 100) {
      const { error } = await subscribe({ arguments: { filters: Array.from({ length: count }, () => ({})) } })
      if (error === undefined) break
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('with their defaults') })
    }
    for (let count = 0; count < 5; count++) await emit()
    expect(endpoints.received.filter(({ url }) => url === URL_B)).toHaveLength(5)
    expect(errors).toEqual([])
  })

  it('by slow endpoints under many names', async () => {
    const { subscribe, server, endpoints, emit } = createEventServer({ runner: manual })
    for (let count = 0; count < 20; count++)
      await subscribe({}, 'alice', { url: `https://host-${count}.example.com/` })
    await subscribe({}, 'bob', { url: URL_B })
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    endpoints.answer = async ({ url }) => {
      if (url !== URL_B) await held
      return { status: 200 }
    }
    await emit()
    const run = server.events.run()
    const urls = () => endpoints.received.map(({ url }) => url)
    await expect.poll(urls).toContain(URL_B)
    release()
    await run
    expect(urls()).toHaveLength(21)
  })

  it('by dead letters of a subscription that begins again and again', async () => {
    const { subscribe, unsubscribe, emit, endpoints, store, server } = createEventServer()
    const { result } = await subscribe({ ttlMs: DAY })
    endpoints.answer = () => ({ status: 413 })
    for (let count = 0; count < 25; count++) await emit({ title: String(count) })
    for (let round = 0; round < 3; round++) {
      await unsubscribe()
      await subscribe({ ttlMs: DAY, cursor: result!.cursor })
      await server.events.run()
    }
    const { keys } = await store.list({ prefix: '', limit: 1000 })
    expect(keys.filter((key) => key.includes(':l:')).length).toBe(20)
  })
})

describe('nobody begins without end', () => {
  it('with old events: the same ones again and again', async () => {
    const { subscribe, unsubscribe, emit, endpoints, server } = createEventServer({
      maxSubscriptions: 2,
      runner: manual,
    })
    const { result } = await subscribe()
    for (let count = 0; count < 10; count++) await emit()
    await server.events.run()
    const begin = async () => {
      await unsubscribe()
      const answer = await subscribe({ cursor: result!.cursor })
      await server.events.run()
      return answer.error
    }
    for (let count = 0; count < 4; count++) expect(await begin()).toBeUndefined()
    expect(endpoints.received).toHaveLength(50)
    expect(await begin()).toMatchObject({
      code: -32013,
      message: expect.stringContaining('at most 4 of a caller begin with a cursor in an hour'),
      data: { limit: 'newSubscriptions', max: 4 },
    })
    expect(endpoints.received).toHaveLength(50)
    // Others, what begins now, and the next hour are as before.
    expect((await subscribe({ cursor: result!.cursor }, 'bob', { url: URL_B })).error).toBeUndefined()
    expect((await subscribe()).error).toBeUndefined()
    expect((await subscribe({ cursor: result!.cursor })).error).toBeUndefined()
    vi.setSystemTime(Date.now() + 3_600_000)
    expect(await begin()).toBeUndefined()
  })

  it('with others each time, whose marks stay for a day', async () => {
    const { subscribe, unsubscribe, store } = createEventServer({ maxSubscriptions: 2 })
    const begin = async (count: number) => {
      const one = { arguments: { service: String(count) } }
      const { error } = await subscribe(one)
      await unsubscribe(one)
      return error
    }
    for (let count = 0; count < 20; count++) expect(await begin(count)).toBeUndefined()
    const before = (await store.list({ prefix: '', limit: 1000 })).keys.length
    for (let count = 20; count < 25; count++)
      expect(await begin(count)).toMatchObject({ code: -32013, data: { limit: 'newSubscriptions', max: 20 } })
    expect((await store.list({ prefix: '', limit: 1000 })).keys.length).toBe(before)
  })

  it('but refreshes as often as it likes', async () => {
    const { subscribe } = createEventServer({ maxSubscriptions: 1 })
    const { result } = await subscribe()
    for (let count = 0; count < 20; count++)
      expect((await subscribe({ cursor: result!.cursor })).error).toBeUndefined()
  })
})

describe('work ends', () => {
  it.each([
    { status: 503, retryAfterMs: 0 },
    { status: 429, retryAfterMs: 0 },
    { status: 503, retryAfterMs: 1 },
  ])('an endpoint that wants the event again at once waits like others: %j', async (outcome) => {
    const { subscribe, emit, endpoints, server } = createEventServer({ runner: manual })
    await subscribe()
    endpoints.answer = () => outcome
    await emit()
    const { nextDueAt } = await server.events.run({ deadline: Date.now() + 4000 })
    expect(endpoints.received).toHaveLength(1)
    expect(nextDueAt! - Date.now()).toBeGreaterThanOrEqual(4000)
  })

  it('a replay that finds its queue full waits for it', async () => {
    const store = createMemoryEvents()
    const { subscribe, unsubscribe, server, endpoints } = createEventServer({ runner: manual }, store)
    const { result } = await subscribe({ ttlMs: DAY })
    await unsubscribe()
    for (let count = 0; count < 1000; count++)
      await server.events.emit('incident.created', { title: String(count), severity: 'P1' })
    let count = 0
    endpoints.answer = () => ({ status: count++ % 2 === 0 ? 500 : 200 })
    await subscribe({ ttlMs: DAY, cursor: result!.cursor })
    const commits = vi.spyOn(store, 'commit')
    const { nextDueAt } = await server.events.run({ deadline: Date.now() + DAY })
    expect(nextDueAt).toBeGreaterThan(Date.now())
    expect(commits.mock.calls.length).toBeLessThan(10 * endpoints.received.length)
  })
})

describe('nothing is sent after the access was revoked', () => {
  const room = (canSubscribe: () => boolean | Promise<boolean>) =>
    createEvent({ id: 'room', description: 'A room', canSubscribe })

  it('not even in the same turn: asked before each delivery', async () => {
    let isMember = true
    let asked = 0
    const type = room(() => {
      asked++
      return isMember
    })
    const { subscribe, emit, server, endpoints } = createEventServer({ types: { type }, runner: manual })
    await subscribe({ name: 'room' })
    for (let count = 0; count < 5; count++) await emit({}, `e${count}`, 'room')
    endpoints.answer = ({ body }) => {
      if (body.eventId === 'e1') isMember = false
      return { status: 200 }
    }
    asked = 0
    await server.events.run()
    expect(endpoints.received.map(({ body }) => body.eventId ?? body.type)).toEqual([
      'e0',
      'e1',
      'terminated',
    ])
    expect(asked).toBe(3)
  })

  it('what it throws in the middle of a turn puts the rest off', async () => {
    let fails = false
    const type = room(() => {
      if (fails) throw new Error('the database is down')
      return true
    })
    const { subscribe, emit, server, endpoints } = createEventServer({ types: { type }, runner: manual })
    await subscribe({ name: 'room' })
    for (let count = 0; count < 3; count++) await emit({}, `e${count}`, 'room')
    endpoints.answer = () => {
      fails = true
      return { status: 200 }
    }
    await server.events.run()
    expect(endpoints.received).toHaveLength(1)
    fails = false
    endpoints.answer = () => ({ status: 200 })
    vi.setSystemTime(Date.now() + 60_000)
    await server.events.run()
    expect(endpoints.received.map(({ body }) => body.eventId)).toEqual(['e0', 'e1', 'e2'])
  })

  it('a refresh that lacks a scope is a step-up: what was granted goes on by its own scopes', async () => {
    const auth = staticTokens([
      { token: 'full-token-of-thirty-two-characters', clientId: 'alice', scopes: ['incidents:read'] },
      { token: 'bare-token-of-thirty-two-characters', clientId: 'alice', scopes: [] },
    ])
    const { server, emit, titles } = createEventServer({}, createMemoryEvents(), { auth })
    const refresh = (token: string) =>
      modern(
        server,
        'events/subscribe',
        { name: 'incident.created', delivery: { mode: 'webhook', url: URL_A, secret: SECRET } },
        { headers: { authorization: `Bearer ${token}-token-of-thirty-two-characters` } },
      )
    expect((await refresh('full')).error).toBeUndefined()
    const refused = await refresh('bare')
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toContain('insufficient_scope')
    await emit()
    expect(titles()).toEqual(['Down'])
  })
})

describe('a delivery that an invocation has no time for', () => {
  it('is not begun in its last moments', async () => {
    const { subscribe, emit, server, endpoints } = createEventServer({ runner: manual })
    await subscribe()
    await emit()
    await server.events.run({ deadline: Date.now() + 2400 })
    expect(endpoints.received).toEqual([])
    await server.events.run({ deadline: Date.now() + 2600 })
    expect(endpoints.received).toHaveLength(1)
  })

  it('is made again, and counts as failed neither for the subscription nor in metrics; without end it does', async () => {
    const measured: unknown[] = []
    const telemetry = {
      start: () => ({ run: (work: () => unknown) => work(), end() {} }),
      events: {},
    } as never
    Object.assign((telemetry as { events: object }).events, {
      recordDelivery: (delivery: unknown) => measured.push(delivery),
    })
    const { subscribe, emit, server, endpoints } = createEventServer({ runner: manual }, undefined, {
      telemetry,
    })
    await subscribe({ ttlMs: DAY })
    await emit()
    const limits: number[] = []
    const { post } = endpoints
    endpoints.post = (url, request, limit) => {
      limits.push(limit.timeoutMs)
      return post(url, request, limit)
    }
    endpoints.answer = () => ({ failure: 'timeout' })
    const cut = async () => {
      const run = await server.events.run({ deadline: Date.now() + 5000 })
      const { result } = await subscribe({ ttlMs: DAY })
      vi.setSystemTime(Date.now() + 3_600_000)
      return { run, status: result!.deliveryStatus as object }
    }
    for (let count = 0; count < 3; count++) {
      const { run, status } = await cut()
      expect(run).toMatchObject({ delivered: 0, failed: 0 })
      expect(run.nextDueAt).toBeGreaterThanOrEqual(Date.now() - 3_600_000 + 4000)
      expect(status).toEqual({ active: true, lastError: null })
    }
    expect(limits.every((ms) => ms < 10_000)).toBe(true)
    expect(measured).toEqual([])
    expect((await cut()).status).toMatchObject({ lastError: 'timeout' })
    expect(measured).toMatchObject([{ error: 'timeout', tries: 1 }])
  })
})

describe('no event is lost', () => {
  it('after the newest number of a log was lost in the store', async () => {
    const store = createMemoryEvents()
    const { subscribe, unsubscribe, emit, server, endpoints, titles, call } = createEventServer(
      { runner: manual },
      store,
    )
    const other = { arguments: { service: 'db' } }
    const { result } = await subscribe({ ttlMs: DAY })
    const poll = async (cursor: unknown) =>
      (await call('alice', 'events/poll', { name: 'incident.created', arguments: {}, cursor })).result!
    const before = (await poll(null)).cursor
    for (const title of ['one', 'two', 'three']) await emit({ title })
    await subscribe({ ttlMs: DAY, ...other })
    endpoints.answer = () => ({ status: 503 })
    await server.events.run()
    await emit({ title: 'four', service: 'db' })
    const { keys } = await store.list({ prefix: '', limit: 100 })
    await store.commit('lost', [{ key: keys.find((key) => key.endsWith(':h:incident.created'))! }])
    // Both the events that wait and those that come reach all, each with its own content, and once.
    for (const title of ['five', 'six']) await emit({ title, service: 'db' })
    endpoints.answer = () => ({ status: 200 })
    endpoints.received.length = 0
    vi.setSystemTime(Date.now() + 3_600_000)
    await server.events.run()
    const all = ['one', 'two', 'three', 'four', 'five', 'six']
    expect(titles().toSorted()).toEqual([...all, 'four', 'five', 'six'].toSorted())
    // Who reads from before is told that there is a gap, and goes on at once.
    const reads = vi.spyOn(store, 'read')
    const page = await poll(before)
    expect(page).toMatchObject({ truncated: true, hasMore: false })
    await emit({ title: 'seven' })
    expect(await poll(page.cursor)).toMatchObject({
      truncated: false,
      events: [{ data: { title: 'seven' } }],
    })
    const refresh = (await subscribe({ ttlMs: DAY })).result!
    expect(refresh).toMatchObject({ truncated: true })
    expect((await subscribe({ ttlMs: DAY })).result).toMatchObject({ truncated: false })
    for (const [cursor, truncated] of [
      [result!.cursor, true],
      [refresh.cursor, false],
    ]) {
      await unsubscribe()
      expect((await subscribe({ ttlMs: DAY, cursor })).result).toMatchObject({ truncated })
      await server.events.run()
    }
    expect(reads.mock.calls.length).toBeLessThan(500)
  })

  it('by a cursor of a refresh that comes before the event is in the subscription', async () => {
    const { subscribe, unsubscribe, server, emit, titles } = createEventServer({ runner: manual })
    await subscribe()
    await emit({ title: 'one' })
    const { result } = await subscribe()
    await unsubscribe()
    await subscribe({ cursor: result!.cursor })
    await server.events.run()
    expect(titles()).toEqual(['one'])
  })

  it.each([[['severity']], [['service', 'severity']], [[]]])(
    'after the index has changed to %j: the next refresh says so, and repairs it',
    async (index) => {
      const store = createMemoryEvents()
      const args = { severity: 'P1', service: 'db' }
      const before = createEventServer(
        { types: { type: { ...incident, index: ['severity', 'service'] } } },
        store,
      )
      await before.subscribe({ arguments: args })
      const after = createEventServer({ types: { type: { ...incident, index } } }, store)
      const { result } = await after.subscribe({ arguments: args })
      expect(result).toMatchObject({ truncated: true })
      await after.emit({ title: 'Down', service: 'db' })
      await after.emit({ title: 'Other', service: 'web' })
      expect(after.titles()).toEqual(['Down'])
      expect((await after.subscribe({ arguments: args })).result).toMatchObject({ truncated: false })
      const { keys } = await store.list({ prefix: '', limit: 1000 })
      expect(keys.filter((key) => key.includes(':x:'))).toHaveLength(1)
    },
  )
})

describe('an event is received once', () => {
  const [fixed, found] = [SECRET, () => SECRET]
  it.each([
    ['one secret', fixed],
    ['a function', found],
  ])('whatever a header says that is not signed: %s', async (_what, secret) => {
    const { subscribe, emit, endpoints } = createEventServer()
    await subscribe()
    await emit({}, 'e1')
    const { url, headers, raw } = endpoints.received[0]!
    const onEvent = vi.fn()
    const handle = eventsHandler({ secret, onEvent })
    for (const changed of [{}, { 'x-mcp-subscription-id': 'sub_other' }, { 'user-agent': 'other' }])
      for (const at of [url, `${url}&more=1`]) {
        const request = new Request(at, { method: 'POST', headers: { ...headers, ...changed }, body: raw })
        expect((await handle(request)).status).toBe(200)
      }
    expect(onEvent).toHaveBeenCalledTimes(1)
  })

  it('through a rotation, in which both secrets sign', async () => {
    const { subscribe, emit, endpoints, server } = createEventServer({ runner: manual })
    await subscribe()
    await emit({}, 'e1')
    const onEvent = vi.fn()
    const handle = eventsHandler({ secret: [OTHER_SECRET, SECRET], onEvent })
    endpoints.answer = async ({ url, headers, raw }) => {
      await handle(new Request(url, { method: 'POST', headers, body: raw }))
      // The answer is lost, so it comes again.
      return { status: 500 }
    }
    await server.events.run()
    await subscribe({}, 'alice', { secret: OTHER_SECRET })
    vi.setSystemTime(Date.now() + 60_000)
    await server.events.run()
    expect(endpoints.received.map(({ headers }) => headers['webhook-signature']!.split(' ').length)).toEqual([
      1, 2,
    ])
    expect(onEvent).toHaveBeenCalledTimes(1)
  })
})

describe('arguments that a schema drops', () => {
  it('make subscriptions of their own, as the specification compares them, within the quota', async () => {
    const { subscribe, unsubscribe, emit, endpoints } = createEventServer({ maxSubscriptions: 3 })
    const id = async (args: object) => (await subscribe({ arguments: args })).result?.id
    const ids = [await id({}), await id({ unknown: 1 }), await id({ unknown: 2 })]
    expect(new Set(ids).size).toBe(3)
    expect(await id({ unknown: 3 })).toBeUndefined()
    expect(endpoints.verifications).toHaveLength(1)
    await unsubscribe({ arguments: { unknown: 1 } })
    await emit()
    expect(endpoints.received.map(({ headers }) => headers['x-mcp-subscription-id']).toSorted()).toEqual(
      [ids[0], ids[2]].toSorted(),
    )
  })
})

describe('modules load without work', () => {
  it('an index is checked without the JSON Schema of a zod object', () => {
    const convert = vi.fn(() => ({}))
    const inputSchema = z.object({ severity: z.string().optional() })
    const payloadSchema = z.object({ severity: z.string() })
    for (const schema of [inputSchema, payloadSchema])
      Object.assign(schema['~standard'], { jsonSchema: { input: convert, output: convert } })
    const event = { id: 'a', description: 'A', inputSchema, payloadSchema }
    createEvent({ ...event, index: ['severity'] })
    expect(() => createEvent({ ...event, index: ['severty'] })).toThrow(/"index" of event/)
    expect(convert).not.toHaveBeenCalled()
  })
})

describe('what is misspelt is refused', () => {
  it.each([{ eventid: 'e1' }, { waitUntill: () => {} }, { timestamp: 5 }, 'e1', 5])(
    'emit: %j',
    async (options) => {
      const { server } = createEventServer()
      const emitted = server.events.emit('incident.created', { title: 'x', severity: 'P1' }, options as never)
      await expect(emitted).rejects.toThrow(TypeError)
    },
  )

  it.each([{ deadlin: 5 }, 'x'])('run: %j', async (platform) => {
    const { server } = createEventServer()
    await expect(server.events.run(platform as never)).rejects.toThrow(TypeError)
  })

  it.each([
    { allowedOrigins: [] },
    { allowedOrigins: ['http://a.example.com'] },
    { allowedOrigins: ['https://*.example.com'] },
    { allowedOrigins: ['ftp://a.example'] },
    { maxEvents: 2.5 },
  ])('events: %j', (options) => {
    const types = { incident }
    expect(() => events({ types, store: createMemoryEvents(), ...options })).toThrow(TypeError)
  })

  it.each([['severty'], ['service', 'titel']])('index: %j', (...index) => {
    const config = {
      id: 'incident.created',
      description: 'A new incident',
      inputSchema: z.object({ severity: z.string().optional(), service: z.string().optional() }),
      payloadSchema: z.object({ severity: z.string(), title: z.string() }),
      index,
    }
    expect(() => createEvent(config)).toThrow(/"index" of event/)
    expect(createEvent({ ...config, index: ['severity'] }).index).toEqual(['severity'])
  })

  it.each([{ rememberMs: 1 }, { store: {} }, { timeoutMs: 1e12 }])('eventsHandler: %j', (options) => {
    expect(() => eventsHandler({ secret: SECRET, onEvent: () => {}, ...options } as never)).toThrow(TypeError)
  })

  it('another spelling of a host, which would have limits of its own', async () => {
    const { subscribe } = createEventServer()
    const url = URL_A.replace('.com/', '.com./')
    expect((await subscribe({}, 'alice', { url })).error?.code).toBe(-32602)
  })
})
