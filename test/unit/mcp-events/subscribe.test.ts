/** `events/list`, `events/subscribe` and `events/unsubscribe` (SEP-3415). */
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest'
import * as z from 'zod'
import { createEvent } from '../../../src/mcp-events.ts'
import { initialize, legacy, modern } from '../_client.ts'
import { createEventServer, incident, isSigned, OTHER_SECRET, SECRET, URL_A, URL_B } from './_events.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-29T12:00:00Z') }))
afterEach(() => void vi.useRealTimers())

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe('events/list', () => {
  it('describes each event, with its schemas and modes [events.list]', async () => {
    const { result } = await createEventServer().call('alice', 'events/list', {})
    expect(result?.events).toMatchObject([
      {
        name: 'incident.created',
        description: 'A new incident',
        delivery: ['poll', 'push', 'webhook'],
        inputSchema: { type: 'object', properties: { severity: { enum: ['P1', 'P2'] } } },
        payloadSchema: { type: 'object', properties: { title: { type: 'string' } } },
      },
    ])
  })

  it('hides events whose scopes the caller lacks', async () => {
    const { result } = await createEventServer().call('guest', 'events/list', {})
    expect(result?.events).toEqual([])
  })

  it('both names declare the capability, in both eras', async () => {
    const { server } = createEventServer()
    const { TOKEN } = { TOKEN: 'token-of-alice-thirty-two-characters' }
    const headers = { authorization: `Bearer ${TOKEN}` }
    const discovered = await modern(server, 'server/discover', {}, { headers })
    const initialized = await initialize(server, {}, headers)
    for (const { result } of [discovered, initialized])
      expect(result?.capabilities).toMatchObject({
        events: {},
        extensions: { 'io.modelcontextprotocol/events': {} },
      })
    const { result } = await legacy(server, 'events/list', {}, { headers })
    expect(result?.events).toHaveLength(1)
  })

  it('has pages', async () => {
    const types = Object.fromEntries(
      ['a', 'b', 'c'].map((id) => [id, createEvent({ id, description: `Event ${id}` })]),
    )
    const { call } = createEventServer({ types })
    const { result } = await call('alice', 'events/list', {})
    expect(result?.events).toHaveLength(3)
    const { error } = await call('alice', 'events/list', { cursor: 'other' })
    expect(error).toMatchObject({ code: -32602 })
  })
})

describe('events/subscribe', () => {
  it('grants, after the endpoint has returned a signed challenge [events.subscribe]', async () => {
    const { subscribe, endpoints } = createEventServer()
    const { result } = await subscribe()

    expect(result).toMatchObject({
      id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
      refreshBefore: '2026-11-29T13:00:00.000Z',
      cursor: expect.any(String),
      truncated: false,
    })
    expect(endpoints.verifications).toHaveLength(1)
    const [verification] = endpoints.verifications
    expect(verification).toMatchObject({
      url: URL_A,
      headers: {
        'content-type': 'application/json',
        'webhook-id': expect.stringMatching(/^msg_verification_/),
        'x-mcp-subscription-id': result?.id,
      },
      body: { type: 'verification', challenge: expect.stringMatching(/^[\w-]{22}$/) },
    })
    expect(await isSigned(verification!, SECRET)).toBe(true)
  })

  it('is idempotent: the same caller, URL, event and arguments in any order are one subscription', async () => {
    const { subscribe, endpoints, emit } = createEventServer()
    const args = { severity: 'P1', service: 'db' }
    const first = await subscribe({ arguments: args })
    const second = await subscribe({ arguments: { service: 'db', severity: 'P1' } })
    const other = await subscribe({ arguments: args }, 'bob')

    expect(second.result?.id).toBe(first.result?.id)
    expect(other.result?.id).not.toBe(first.result?.id)
    expect(second.result?.deliveryStatus).toEqual({ active: true, lastError: null })
    // Bob's endpoint is not verified because Alice's is.
    expect(endpoints.verifications).toHaveLength(2)
    await emit({ service: 'db' })
    expect(endpoints.received).toHaveLength(2)
  })

  test.each([
    ['an unknown event', { name: 'other' }, {}, { code: -32011, data: { kind: 'event' } }],
    ['arguments that the schema refuses', { arguments: { severity: 'P9' } }, {}, { code: -32602 }],
    ['http', {}, { url: 'http://a.example.com/' }, { code: -32602 }],
    ['a URL with credentials', {}, { url: 'https://a:b@a.example.com/' }, { code: -32602 }],
    ['a private name', {}, { url: 'https://db.internal/' }, { code: -32602 }],
    ['an address', {}, { url: 'https://10.0.0.1/' }, { code: -32602 }],
    ['the address of this machine', {}, { url: 'https://[::1]/' }, { code: -32602 }],
    ['what is not a URL', {}, { url: 'a.example.com' }, { code: -32602 }],
    ['a short secret', {}, { secret: `whsec_${btoa('short')}` }, { code: -32602 }],
    ['no secret', {}, { secret: undefined }, { code: -32602 }],
    [
      'another mode',
      {},
      { mode: 'push' },
      { code: -32014, data: { feature: 'deliveryMode', value: 'push' } },
    ],
    ['a cursor of another server', { cursor: 'x' }, {}, { code: -32602 }],
    ['a ttl that is not a number', { ttlMs: '1' }, {}, { code: -32602 }],
  ])('%s → %j', async (_what, params, delivery, error) => {
    const { subscribe, endpoints } = createEventServer()
    expect((await subscribe(params, 'alice', delivery)).error).toMatchObject(error)
    expect(endpoints.verifications).toEqual([])
  })

  it('a caller without the scopes is told which, and one without a token to sign in', async () => {
    const { subscribe, server } = createEventServer()
    const { status, headers } = await subscribe({}, 'guest')
    expect(status).toBe(403)
    expect(headers.get('www-authenticate')).toMatch(/insufficient_scope/)
    expect((await modern(server, 'events/subscribe', { name: 'incident.created' })).status).toBe(401)
  })

  it('without authentication → -32012: nobody could be told from others', async () => {
    const { createServer } = await import('../_client.ts')
    const { events, createMemoryEvents } = await import('../../../src/mcp-events.ts')
    const open = createEvent({ id: 'open', description: 'For all' })
    const server = createServer({ events: events({ types: { open }, store: createMemoryEvents() }) })
    const { error } = await modern(server, 'events/subscribe', {
      name: 'open',
      delivery: { mode: 'webhook', url: URL_A, secret: SECRET },
    })
    expect(error).toMatchObject({ code: -32012 })
  })

  test.each([
    ['does not answer', { failure: 'timeout' }, 'timeout'],
    ['has a bad certificate', { failure: 'tls' }, 'tls_error'],
    ['redirects', { failure: 'redirect' }, 'connection_refused'],
    ['fails', { status: 500 }, 'http_5xx'],
    ['refuses', { status: 404 }, 'http_4xx'],
    ['says something else', { status: 200, body: '{"challenge":"other"}' }, 'challenge_failed'],
    ['says nothing', { status: 204 }, 'challenge_failed'],
  ] as const)('an endpoint that %s → -32015, and nothing is stored', async (_what, outcome, reason) => {
    const { subscribe, endpoints, emit, unsubscribe } = createEventServer()
    endpoints.verify = () => outcome
    expect((await subscribe()).error).toMatchObject({ code: -32015, data: { reason } })
    await emit()
    expect(endpoints.received).toEqual([])
    expect((await unsubscribe()).error).toMatchObject({ code: -32011 })
  })

  it('an origin that is allowed needs no challenge, and others are refused', async () => {
    const { subscribe, endpoints } = createEventServer({ allowedOrigins: ['https://a.example.com'] })
    expect((await subscribe()).result).toBeDefined()
    expect((await subscribe({}, 'alice', { url: URL_B })).error).toMatchObject({ code: -32602 })
    expect(endpoints.verifications).toEqual([])
  })

  test.each([
    [undefined, 3_600_000],
    [1, 60_000],
    [120_000, 120_000],
    [999_999_999_999, 86_400_000],
    [null, 86_400_000],
  ])('ttlMs %s → granted for %d ms', async (ttlMs, granted) => {
    const { subscribe } = createEventServer()
    const { result } = await subscribe({ ttlMs })
    expect(result?.refreshBefore).toMatch(ISO)
    expect(Date.parse(result?.refreshBefore as string) - Date.now()).toBe(granted)
  })

  it('no expiry only where the server and the client want it', async () => {
    const { subscribe } = createEventServer({ allowNoExpiry: true })
    expect((await subscribe({ ttlMs: null })).result?.refreshBefore).toBeNull()
    expect((await subscribe()).result?.refreshBefore).toMatch(ISO)
  })

  it('a new secret signs together with the old one for a while, then alone', async () => {
    const { subscribe, endpoints, emit } = createEventServer()
    await subscribe()
    await subscribe({}, 'alice', { secret: OTHER_SECRET })
    await emit()
    vi.setSystemTime(Date.now() + 700_000)
    await emit()
    const [during, after] = endpoints.received
    expect([await isSigned(during!, SECRET), await isSigned(during!, OTHER_SECRET)]).toEqual([true, true])
    expect([await isSigned(after!, SECRET), await isSigned(after!, OTHER_SECRET)]).toEqual([false, true])
  })

  it('quotas: a principal, and all', async () => {
    const { subscribe, unsubscribe } = createEventServer({ maxSubscriptions: 2, maxTotalSubscriptions: 3 })
    const of = (service: string) => ({ arguments: { service } })
    expect((await subscribe(of('a'))).result).toBeDefined()
    expect((await subscribe(of('b'))).result).toBeDefined()
    expect((await subscribe(of('c'))).error).toMatchObject({
      code: -32013,
      data: { limit: 'subscriptions', max: 2 },
    })
    expect((await subscribe(of('b'))).result).toBeDefined()
    expect((await subscribe(of('a'), 'bob')).result).toBeDefined()
    expect((await subscribe(of('b'), 'bob')).error).toMatchObject({ code: -32013 })
    await unsubscribe(of('a'))
    expect((await subscribe(of('c'))).result).toBeDefined()
  })

  it('quotas hold for requests at once', async () => {
    const { subscribe } = createEventServer({ maxSubscriptions: 3 })
    const all = await Promise.all(
      Array.from({ length: 6 }, (_none, index) => subscribe({ arguments: { service: `s${index}` } })),
    )
    expect(all.filter(({ result }) => result !== undefined)).toHaveLength(3)
    expect(all.filter(({ error }) => error?.code === -32013)).toHaveLength(3)
  })

  it('canSubscribe decides, and knows the caller but not its token', async () => {
    const asked: unknown[] = []
    const type = createEvent({
      id: 'secret',
      description: 'For Alice',
      inputSchema: z.object({ room: z.string() }),
      canSubscribe: ({ room }, subscriber) => {
        asked.push(subscriber)
        return room === 'open'
      },
    })
    const { subscribe } = createEventServer({ types: { type } })
    const wanted = { name: 'secret', arguments: { room: 'closed' } }
    expect((await subscribe(wanted)).error).toMatchObject({ code: -32012 })
    expect((await subscribe({ ...wanted, arguments: { room: 'open' } })).result).toBeDefined()
    expect(asked[0]).toMatchObject({ principal: expect.any(String), auth: { clientId: 'alice' } })
    expect(JSON.stringify(asked)).not.toContain('token-of')
  })
})

describe('a request that others overtake', () => {
  it('unsubscribed while its endpoint is verified → it does not return', async () => {
    const { subscribe, unsubscribe, endpoints, emit } = createEventServer()
    const { verify } = endpoints
    endpoints.verify = async (received) => {
      expect((await unsubscribe()).result).toBeDefined()
      return verify(received)
    }
    expect((await subscribe()).error).toMatchObject({ code: -32011, data: { kind: 'subscription' } })
    await emit()
    expect(endpoints.received).toEqual([])
  })

  it('a later request with another secret → the later one counts', async () => {
    const { subscribe, endpoints, emit } = createEventServer()
    const { verify } = endpoints
    endpoints.verify = async (received) => {
      endpoints.verify = verify
      expect((await subscribe({}, 'alice', { secret: OTHER_SECRET })).result).toBeDefined()
      return verify(received)
    }
    expect((await subscribe()).error).toMatchObject({ code: -32013 })
    await emit()
    expect(endpoints.received).toHaveLength(1)
    expect(await isSigned(endpoints.received[0]!, OTHER_SECRET)).toBe(true)
    expect(await isSigned(endpoints.received[0]!, SECRET)).toBe(false)
  })
})

describe('events/unsubscribe', () => {
  it('ends deliveries, and says the same when it is repeated [events.unsubscribe]', async () => {
    const { subscribe, unsubscribe, endpoints, emit } = createEventServer()
    await subscribe()
    expect((await unsubscribe()).result).toBeDefined()
    expect((await unsubscribe()).result).toBeDefined()
    await emit()
    expect(endpoints.received).toEqual([])
  })

  it('of another caller, or another URL → -32011', async () => {
    const { subscribe, unsubscribe, endpoints, emit } = createEventServer()
    await subscribe()
    const error = { code: -32011, data: { kind: 'subscription' } }
    expect((await unsubscribe({}, 'bob')).error).toMatchObject(error)
    expect((await unsubscribe({}, 'alice', URL_B)).error).toMatchObject(error)
    await emit()
    expect(endpoints.received).toHaveLength(1)
  })

  it('and subscribed again → from then on', async () => {
    const { subscribe, unsubscribe, titles, emit } = createEventServer()
    await subscribe()
    await unsubscribe()
    await emit({ title: 'between' })
    await subscribe()
    await emit({ title: 'after' })
    expect(titles()).toEqual(['after'])
  })
})

describe('challenges in a minute', () => {
  const limited = (max: number) => ({
    error: { code: -32013, data: { limit: 'verifications', max } },
  })

  it('a principal causes 20, whatever host it names, and others have theirs', async () => {
    const { subscribe, endpoints } = createEventServer({ maxSubscriptions: 50 })
    const at = (number: number, person: 'alice' | 'bob' = 'alice') =>
      subscribe({}, person, { url: `https://host-${number}.example.com/` })
    const first = await Promise.all(Array.from({ length: 30 }, (_none, number) => at(number)))
    expect(first.filter(({ result }) => result !== undefined)).toHaveLength(20)
    expect(endpoints.verifications).toHaveLength(20)
    expect(first.find(({ error }) => error !== undefined)).toMatchObject(limited(20))
    expect((await at(0, 'bob')).result).toBeDefined()
    vi.setSystemTime(Date.now() + 60_000)
    expect((await at(30)).result).toBeDefined()
  })

  it('a host gets 120, whoever names it; one that is verified needs none', async () => {
    const { subscribe, endpoints, store } = createEventServer()
    await subscribe()
    const { keys } = await store.list({ prefix: '', limit: 1000 })
    const ofHost = keys.find((key) => /:v:\d+:h:/.test(key))!
    await store.commit('raised', [{ key: ofHost, value: '{"others":120}', expiresAt: Date.now() + 60_000 }])
    expect(await subscribe({}, 'bob', { url: `${URL_A}&of=bob` })).toMatchObject(limited(120))
    expect((await subscribe()).result).toBeDefined()
    expect((await subscribe({}, 'bob', { url: URL_B })).result).toBeDefined()
    expect(endpoints.verifications).toHaveLength(2)
  })
})

describe('options', () => {
  test.each([
    [{ types: { incident, twice: incident } }, /Two events have the id/],
    [{ types: { incident: {} as never } }, /must be created by createEvent/],
    [{ store: {} as never }, /needs a store/],
    [{ minTtlMs: 10, maxTtlMs: 5 }, /must not be over/],
    [{ allowedOrigins: ['https://a.example/path'] }, /is not an origin/],
    [{ retention: 1 } as never, /has no option "retention"/],
  ])('%o → a TypeError', (options, message) => {
    expect(() => createEventServer(options)).toThrow(message)
  })

  test.each([
    [{ id: 'a b' }, /is not the name of an event/],
    [{ description: '' }, /needs a "description"/],
    [{ index: ['a', 'b', 'c', 'd', 'e'] }, /at most 4/],
    [{ modes: ['sms'] as never }, /"modes" of event/],
    [{ name: 'x' } as never, /has no option "name"/],
  ])('of createEvent %o → a TypeError', (options, message) => {
    expect(() => createEvent({ id: 'ok', description: 'Fine', ...options })).toThrow(message)
  })
})
