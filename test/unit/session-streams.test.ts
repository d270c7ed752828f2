/** Legacy clients of a stateless server with a bus, a secret and stored subscriptions: their GET stream, and `resources/subscribe`. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createResource, type MCPServerConfig } from '../../src/index.ts'
import {
  createMemorySubscriptions,
  createSubscriptions,
  type SubscriptionStore,
} from '../../src/subscriptions.ts'
import { createServer, initialize, legacy, type SendOptions, StreamReader } from './_client.ts'
import { countingBus, everything } from './_listen.ts'

const SECRET = 'a secret of at least 32 characters'
const ENDPOINT = 'https://mcp.example/mcp'
const notes = createResource({ uriTemplate: 'note://{name}', read: () => '' })
const secrets = createResource({ uriTemplate: 'secret://{name}', scopes: ['admin'], read: () => '' })

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** Two processes that share a bus and a store. */
function fixture({ auth, ...config }: Partial<MCPServerConfig> = {}) {
  const bus = countingBus()
  const subscriptions = createMemorySubscriptions()
  const resources = [...(everything.resources as never[]), notes, secrets]
  const known = auth === undefined ? { trustedTransport: true } : { auth }
  const shared = { ...everything, resources, bus, subscriptions, secret: SECRET, ...known, ...config }
  const [here, there] = [createServer(shared), createServer(shared)]
  const open = async (headers: { [name: string]: string } = {}) => {
    const { headers: answered, result } = await initialize(here, {}, headers)
    const session = { ...headers, 'mcp-session-id': answered.get('mcp-session-id')! }
    const visit = (method: string, server = there, more: Partial<SendOptions> = {}) =>
      server.handle(
        new Request(ENDPOINT, {
          method,
          headers: { accept: 'text/event-stream', ...session, ...more.headers } as never,
        }),
        more.platform ?? {},
      )
    const listen = async (server = there, more: Partial<SendOptions> = {}) => {
      const response = await visit('GET', server, more)
      const stream = new StreamReader(response)
      if (response.status === 200) expect(await stream.next()).toEqual({ comment: 'keep-alive' })
      return { response, stream }
    }
    const call = (method: string, uri: string, server = here) =>
      legacy(server, method, { uri }, { headers: session })
    const subscribe = (uri: string, server = here) => call('resources/subscribe', uri, server)
    return { capabilities: result?.capabilities, session, visit, listen, call, subscribe }
  }
  return { bus, here, there, open }
}

const update = (uri: string) => ({ method: 'notifications/resources/updated', params: { uri } })

describe('with a bus, a secret and stored subscriptions', () => {
  it('the capabilities are advertised [legacy.changes]', async () => {
    const { capabilities } = await fixture().open()
    expect(capabilities).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    })
  })

  it('the stream hears of lists, and of what was subscribed to before and after it opened, anywhere [legacy.changes]', async () => {
    const { bus, here, there, open } = fixture()
    const { listen, subscribe, call } = await open()
    const { stream } = await listen()
    expect((await subscribe('note://1')).result).toEqual({})
    await subscribe('note://2', there)
    for (const uri of ['note://3', 'note://2', 'note://1']) await here.resources.notifyUpdated({ uri })
    expect([await stream.next(), await stream.next()]).toEqual(
      ['note://2', 'note://1'].map((uri) => ({ jsonrpc: '2.0', ...update(uri) })),
    )
    await call('resources/unsubscribe', 'note://2')
    await here.resources.notifyUpdated({ uri: 'note://2' })
    await here.tools.notifyListChanged()
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: {},
    })
    await stream.cancel()
    expect(bus.listeners).toBe(0)
  })

  it('another session hears nothing of it [legacy.changes]', async () => {
    const { here, open } = fixture()
    const [one, other] = [await open(), await open()]
    const { stream } = await other.listen()
    await one.subscribe('note://1')
    await here.resources.notifyUpdated({ uri: 'note://1' })
    await here.tools.notifyListChanged()
    expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' })
    await stream.cancel()
  })

  it('a stream that is opened again is told of what it may have missed meanwhile [legacy.changes] [listen.gap]', async () => {
    const { here, open } = fixture()
    const { listen, subscribe } = await open()
    const first = await listen()
    await subscribe('note://1')
    await first.stream.cancel()
    await here.resources.notifyUpdated({ uri: 'note://1' })
    const { stream } = await listen()
    const heard = [await stream.next(), await stream.next(), await stream.next(), await stream.next()]
    expect(heard).toContainEqual({ jsonrpc: '2.0', ...update('note://1') })
    await stream.cancel()
  })

  it('after a gap, it knows what was subscribed to meanwhile [legacy.changes] [listen.gap]', async () => {
    const { bus, open } = fixture()
    const { publish } = bus
    const { listen, subscribe } = await open()
    const { stream } = await listen()
    bus.publish = () => Promise.reject(new Error('down'))
    await subscribe('note://1')
    bus.publish = publish
    await bus.publish({ type: 'gap' })
    const heard = []
    for (let index = 0; index < 4; index++) heard.push(await stream.next())
    expect(heard).toContainEqual({ jsonrpc: '2.0', ...update('note://1') })
    await stream.cancel()
  })

  it('DELETE ends it: nothing is stored, and its streams hear nothing more [legacy.changes]', async () => {
    const { here, open } = fixture()
    const { listen, subscribe, visit } = await open()
    const { stream } = await listen()
    await subscribe('note://1')
    expect((await visit('DELETE')).status).toBe(200)
    await here.resources.notifyUpdated({ uri: 'note://1' })
    await here.tools.notifyListChanged()
    const silence = stream.next()
    await vi.advanceTimersByTimeAsync(5000)
    expect(await silence).toEqual({ comment: 'keep-alive' })
    await stream.cancel()
    const again = await listen()
    const nothing = again.stream.next()
    await vi.advanceTimersByTimeAsync(5000)
    expect(await nothing).toEqual({ comment: 'keep-alive' })
    await again.stream.cancel()
  })
})

describe('the guards of streams', () => {
  const expiresAt = () => Math.floor(Date.now() / 1000) + 60
  const auth = () =>
    bearer((token) => ({
      clientId: token === 'stranger' ? 's' : 'c',
      scopes: token === 'admin' ? ['admin'] : [],
      expiresAt: expiresAt(),
    }))
  const as = (token: string) => ({ authorization: `Bearer ${token}` })

  it('a token with fewer scopes than the one that subscribed hears less; a stream ends with its token [auth.scopes] [listen.graceful]', async () => {
    const { here, open } = fixture({ auth: auth(), http: { maxListenMs: 3_600_000, keepAliveMs: 3_600_000 } })
    const { listen, subscribe } = await open(as('admin'))
    await subscribe('secret://1')
    await subscribe('note://1')
    const { stream } = await listen(here, { headers: as('user') })
    const heard = []
    for (let index = 0; index < 4; index++) heard.push(await stream.next())
    await subscribe('secret://2')
    for (const uri of ['secret://1', 'secret://2', 'note://1']) await here.resources.notifyUpdated({ uri })
    await vi.advanceTimersByTimeAsync(100)
    heard.push(await stream.next())
    expect(JSON.stringify(heard)).not.toContain('secret')
    expect(heard.at(-1)).toMatchObject(update('note://1'))
    const end = stream.next()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await end).toBeUndefined()
  })

  it('it is the session of its principal alone; an id that is not sealed is none → 405 [legacy.changes]', async () => {
    const { here, open } = fixture({ auth: auth() })
    const { session, visit } = await open(as('user'))
    for (const headers of [
      as('stranger'),
      { 'mcp-session-id': `${session['mcp-session-id']}x` },
      { 'mcp-session-id': 'mayfly1.W10' },
    ])
      for (const method of ['GET', 'DELETE'])
        expect((await visit(method, here, { headers })).status).toBe(405)
    expect((await visit('GET', here, { headers: { authorization: '' } })).status).toBe(401)
  })

  it('maxListenStreams and maxListenCharacters hold for them, too [listen.limit] [listen.memory]', async () => {
    const limits = { maxListenStreams: 1, maxListenCharacters: 500 }
    const { open } = fixture({ http: limits })
    const { listen, subscribe } = await open()
    const { stream } = await listen()
    expect((await listen()).response.status).toBe(503)
    await stream.cancel()
    for (let index = 0; index < 5; index++) await subscribe(`note://${index}`)
    expect((await listen()).response.status).toBe(503)
  })

  it('it ends gracefully after maxListenMs, and when the server closes [listen.graceful] [listen.close]', async () => {
    const { bus, there, open } = fixture({ http: { maxListenMs: 3000 } })
    const { listen } = await open()
    const one = await listen()
    const end = one.stream.next()
    await vi.advanceTimersByTimeAsync(3000)
    expect(await end).toBeUndefined()
    const two = await listen()
    await there.close()
    expect(await two.stream.next()).toBeUndefined()
    expect(bus.listeners).toBe(0)
  })

  it('a session has 1000 URIs of 100 000 characters at the most → -32602 [legacy.changes]', async () => {
    const { open } = fixture()
    const { subscribe } = await open()
    for (let index = 0; index < 3; index++) await subscribe(`note://${index}`.padEnd(30_000, 'x'))
    expect((await subscribe('note://3'.padEnd(30_000, 'x'))).error?.code).toBe(-32602)
    expect((await subscribe('note://2'.padEnd(30_000, 'x'))).error).toBeUndefined()
  })

  it('canSubscribe decides, too [listen.can-subscribe]', async () => {
    const owned = createResource({
      uriTemplate: 'order://{id}',
      read: () => '',
      canSubscribe: ({ uri }) => uri === 'order://1',
    })
    const { here, open } = fixture({ resources: [owned] })
    const { listen, subscribe } = await open()
    for (const uri of ['order://1', 'order://2']) await subscribe(uri)
    const { stream } = await listen()
    const heard = []
    for (let index = 0; index < 4; index++) heard.push(await stream.next())
    await here.resources.notifyUpdated({ uri: 'order://2' })
    expect(JSON.stringify(heard)).toContain('order://1')
    expect(JSON.stringify(heard)).not.toContain('order://2')
    await stream.cancel()
  })
})

describe('without one of them', () => {
  it.each<[string, Partial<MCPServerConfig>]>([
    ['a bus', { bus: undefined as never }],
    ['a secret', { secret: undefined as never }],
    ['subscriptions', { subscriptions: undefined as never }],
  ])(
    '%s: nothing is advertised, GET and DELETE are 405, subscribing is acknowledged [legacy.changes]',
    async (_what, without) => {
      const config: Partial<MCPServerConfig> = Object.fromEntries(
        Object.entries({ ...without }).filter(([, value]) => value !== undefined),
      )
      const kept = fixture()
      const all = {
        ...everything,
        resources: [notes],
        bus: kept.bus,
        subscriptions: createMemorySubscriptions(),
        secret: SECRET,
      }
      for (const option of Object.keys(without)) delete (all as Record<string, unknown>)[option]
      const server = createServer({ ...all, ...config })
      const { headers, result } = await initialize(server)
      expect(JSON.stringify(result?.capabilities)).not.toMatch(/listChanged|subscribe/)
      const session = { 'mcp-session-id': headers.get('mcp-session-id')!, accept: 'text/event-stream' }
      for (const method of ['GET', 'DELETE'])
        expect((await server.handle(new Request(ENDPOINT, { method, headers: session }), {})).status).toBe(
          405,
        )
      const answer = await legacy(server, 'resources/subscribe', { uri: 'note://1' }, { headers: session })
      expect(answer.result).toEqual({})
    },
  )

  it('a platform that buffers: the same [legacy.changes] [streaming.buffered-platform]', async () => {
    const { here, open } = fixture()
    const { visit } = await open()
    expect((await visit('GET', here, { platform: { canStream: false } })).status).toBe(405)
  })

  it('an id, because the client declares more than one can hold: nothing is advertised [legacy.changes]', async () => {
    const { here } = fixture()
    const experimental = { mine: { value: Array.from({ length: 100 }, () => crypto.randomUUID()).join() } }
    const { headers, result } = await initialize(here, { capabilities: { experimental } })
    expect(headers.get('mcp-session-id')).toBeNull()
    expect(JSON.stringify(result?.capabilities)).not.toMatch(/listChanged|subscribe/)
  })

  it('a GET or POST that only looks like one is served as always [legacy.changes]', async () => {
    const { here, open } = fixture()
    const { session } = await open()
    for (const method of ['GET', 'DELETE'])
      expect((await legacy(here, method, {}, { headers: session })).error?.code).toBe(-32601)
    expect((await here.handle(new Request(ENDPOINT), {})).status).toBe(405)
    const preflight = await here.handle(new Request(ENDPOINT, { method: 'OPTIONS' }), {})
    expect(preflight.headers.get('access-control-allow-methods')).toContain('DELETE')
  })
})

it('a store that is down: subscribing and the stream are 503, with one report, and then it works again [legacy.changes] [bus.down]', async () => {
  const onError = vi.fn()
  let isDown = true
  const uris = new Set<string>()
  const attempt = <Value>(value: Value): Value => {
    if (isDown) throw new Error('no connection')
    return value
  }
  const store: SubscriptionStore = {
    add: (_session, uri) => attempt(uris).add(uri),
    remove: (_session, uri) => attempt(uris).delete(uri),
    list: () => [...attempt(uris)],
    clear: () => attempt(uris).clear(),
  }
  const { bus, open } = fixture({ subscriptions: createSubscriptions(store), onError })
  const { listen, subscribe } = await open()
  expect([(await subscribe('note://1')).status, (await listen()).response.status]).toEqual([503, 503])
  expect(onError).toHaveBeenCalledOnce()
  expect(bus.listeners).toBe(0)
  isDown = false
  expect((await subscribe('note://1')).result).toEqual({})
  const { stream } = await listen()
  await stream.cancel()
})

describe('createMemorySubscriptions', () => {
  it('forgets a session that is not used for ttlMs [legacy.changes]', async () => {
    const { here, open } = fixture({ subscriptions: createMemorySubscriptions({ ttlMs: 1000 }) })
    const { listen, subscribe } = await open()
    await subscribe('note://1')
    vi.setSystemTime(Date.now() + 1001)
    const { stream } = await listen()
    await here.resources.notifyUpdated({ uri: 'note://1' })
    await here.tools.notifyListChanged()
    expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' })
    await stream.cancel()
  })
})
