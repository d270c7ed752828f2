import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Bus, createTool, ErrorCode } from '../../src/index.ts'
import { createServer, META, modern, modernRequest, type SendOptions } from './_client.ts'
import { ACKNOWLEDGED, ALL, everything, fixture, OURS } from './_listen.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('subscriptions/listen', () => {
  it('acknowledges first, with its id and the filter [listen.acknowledged]', async () => {
    const { listen } = fixture()
    const { response, stream } = await listen()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: ACKNOWLEDGED,
      params: { notifications: ALL, _meta: OURS },
    })
    await stream.cancel()
  })

  it('what the server has nothing of is left out of it [listen.acknowledged]', async () => {
    const { listen } = fixture({ prompts: undefined as never, resources: [] })
    const { stream } = await listen()
    expect(await stream.next()).toMatchObject({ params: { notifications: { toolsListChanged: true } } })
    await stream.cancel()
  })

  it.each([{}, { toolsListChanged: false }, { resourceSubscriptions: [] }, { nobodyKnows: true }])(
    'the filter %j asks for nothing → completed at once [listen.acknowledged]',
    async (notifications) => {
      const { bus, listen } = fixture()
      const { stream } = await listen(notifications)
      expect(await stream.next()).toMatchObject({ method: ACKNOWLEDGED, params: { notifications: {} } })
      expect(await stream.next()).toMatchObject({
        id: 'sub-1',
        result: { resultType: 'complete', _meta: OURS },
      })
      expect(await stream.next()).toBeUndefined()
      expect(bus.listeners).toBe(0)
    },
  )

  it('a server that closes → ended with its result at once, and it serves on [listen.close]', async () => {
    const { bus, server, listen } = fixture()
    const open = await Promise.all([listen(), listen()])
    for (const { stream } of open) await stream.next()
    const waiting = open.map(({ stream }) => stream.next())
    await server.close()
    for (const next of waiting)
      expect(await next).toMatchObject({ id: 'sub-1', result: { resultType: 'complete', _meta: OURS } })
    for (const { stream } of open) expect(await stream.next()).toBeUndefined()
    expect(bus.listeners).toBe(0)
    const { stream } = await listen()
    expect(await stream.next()).toMatchObject({ method: ACKNOWLEDGED })
    await stream.cancel()
  })

  it('what waited in the queue is still delivered before that [listen.close]', async () => {
    const { server, listen } = fixture()
    const { stream } = await listen()
    await stream.next()
    await server.tools.notifyListChanged()
    await server.close()
    expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' })
    expect(await stream.next()).toMatchObject({ result: { resultType: 'complete' } })
  })

  it('without a bus → acknowledged with nothing, completed at once [listen.no-bus]', async () => {
    const server = createServer(everything)
    const { notifications, result, isStream } = await modern(server, 'subscriptions/listen', {
      notifications: ALL,
    })
    expect(isStream).toBe(true)
    expect(notifications).toMatchObject([{ method: ACKNOWLEDGED, params: { notifications: {} } }])
    expect(result).toMatchObject({ resultType: 'complete', _meta: { [META.subscriptionId]: 1 } })
  })

  it.each<[string, SendOptions]>([
    ['on a platform that cannot stream', { platform: { canStream: false } }],
    ['for a client that takes only JSON', { headers: { accept: 'application/json' } }],
  ])(
    '%s → completed at once, in JSON [listen.no-bus] [streaming.buffered-platform]',
    async (_kind, options) => {
      const { bus, server } = fixture()
      const answer = await modern(server, 'subscriptions/listen', { notifications: ALL }, options)
      expect([answer.isStream, answer.result?.resultType, bus.listeners]).toEqual([false, 'complete', 0])
    },
  )

  it.each([
    undefined,
    null,
    'all',
    [],
    { toolsListChanged: 'yes' },
    { resourceSubscriptions: 'a://1' },
    { resourceSubscriptions: [1] },
  ])('the filter %j → -32602 [listen.filter]', async (notifications) => {
    const { bus, server } = fixture()
    const { error } = await modern(server, 'subscriptions/listen', { notifications })
    expect([error?.code, bus.listeners]).toEqual([ErrorCode.invalidParams, 0])
  })

  it.each([
    [1000, 100, undefined],
    [1001, 5, 'may name at most 1000 URIs'],
    [50, 2000, undefined],
    [50, 2001, 'at most 100000 characters'],
  ])('%i URIs of %i characters → %s [listen.filter]', async (count, length, refusal) => {
    const { listen, server } = fixture()
    const uris = Array.from({ length: count }, () => 'a://'.padEnd(length, 'x'))
    const notifications = { resourceSubscriptions: uris }
    if (refusal === undefined) {
      const { stream } = await listen(notifications)
      expect(await stream.next()).toMatchObject({ method: ACKNOWLEDGED, params: { notifications } })
      await stream.cancel()
      return
    }
    const { error } = await modern(server, 'subscriptions/listen', { notifications })
    expect(error).toMatchObject({ code: ErrorCode.invalidParams, message: expect.stringContaining(refusal) })
  })
})

describe('delivery', () => {
  it('every kind of change, under the subscription’s id [listen.delivery]', async () => {
    const { server, listen } = fixture()
    const { stream } = await listen()
    await stream.next()
    await server.tools.notifyListChanged()
    await server.prompts.notifyListChanged()
    await server.resources.notifyListChanged()
    await server.resources.notifyUpdated({ uri: 'a://2' })
    const events = [await stream.next(), await stream.next(), await stream.next(), await stream.next()]
    expect(events).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta: OURS } },
      { jsonrpc: '2.0', method: 'notifications/prompts/list_changed', params: { _meta: OURS } },
      { jsonrpc: '2.0', method: 'notifications/resources/list_changed', params: { _meta: OURS } },
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a://2', _meta: OURS } },
    ])
    await stream.cancel()
  })

  it('nothing that was not asked for [listen.delivery]', async () => {
    const { server, listen } = fixture()
    const { stream } = await listen({ promptsListChanged: true, resourceSubscriptions: ['a://1'] })
    await stream.next()
    await server.tools.notifyListChanged()
    await server.resources.notifyListChanged()
    await server.resources.notifyUpdated({ uri: 'a://2' })
    await server.prompts.notifyListChanged()
    expect(await stream.next()).toMatchObject({ method: 'notifications/prompts/list_changed' })
    await stream.cancel()
  })

  it('two streams get it each under its own id; nothing from before they listened [listen.delivery]', async () => {
    const { server, listen } = fixture()
    await server.tools.notifyListChanged()
    const [one, two] = [await listen(ALL, { id: 1 }), await listen(ALL, { id: 'two' })]
    await one.stream.next()
    await two.stream.next()
    await server.prompts.notifyListChanged()
    expect(await one.stream.next()).toMatchObject({
      method: 'notifications/prompts/list_changed',
      params: { _meta: { [META.subscriptionId]: 1 } },
    })
    expect(await two.stream.next()).toMatchObject({ params: { _meta: { [META.subscriptionId]: 'two' } } })
    await Promise.all([one.stream.cancel(), two.stream.cancel()])
  })

  it('a change that a tool publishes reaches streams of other requests [listen.delivery]', async () => {
    const { server, listen } = fixture({
      tools: {
        touch: createTool({
          id: 'touch',
          execute: async () => {
            await server.resources.notifyUpdated({ uri: 'a://1' })
            return 'touched'
          },
        }),
      },
    })
    const { stream } = await listen()
    await stream.next()
    const { isStream } = await modern(server, 'tools/call', { name: 'touch' })
    expect(isStream).toBe(false)
    expect(await stream.next()).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'a://1' },
    })
    await stream.cancel()
  })

  it('a reader that sleeps gets each change once, also after 100 000 events [listen.delivery]', async () => {
    const { server, listen } = fixture()
    const { stream } = await listen({ toolsListChanged: true, resourceSubscriptions: ['a://1', 'a://2'] })
    await stream.next()
    await server.tools.notifyListChanged()
    for (let round = 0; round < 33_333; round++) {
      for (const uri of ['a://2', 'a://1', 'a://3']) await server.resources.notifyUpdated({ uri })
    }
    expect([await stream.next(), await stream.next(), await stream.next()]).toMatchObject([
      { method: 'notifications/tools/list_changed' },
      { params: { uri: 'a://2' } },
      { params: { uri: 'a://1' } },
    ])
    await stream.cancel()
  })

  it('a gap of the bus → one notification of each kind that was asked for [listen.gap]', async () => {
    const { bus, listen } = fixture()
    const filter = { promptsListChanged: true, resourceSubscriptions: ['a://1', 'a://2'] }
    const { stream } = await listen(filter)
    await stream.next()
    await bus.publish({ type: 'gap' })
    await bus.publish({ type: 'gap' })
    const events = [await stream.next(), await stream.next(), await stream.next()]
    expect(events).toMatchObject([
      { method: 'notifications/prompts/list_changed', params: { _meta: OURS } },
      { method: 'notifications/resources/updated', params: { uri: 'a://1', _meta: OURS } },
      { method: 'notifications/resources/updated', params: { uri: 'a://2', _meta: OURS } },
    ])
    await stream.cancel()
  })
})

describe('the end of a stream', () => {
  it('the client closes it → the subscription ends [listen.cancel]', async () => {
    const { bus, listen } = fixture()
    const { stream } = await listen()
    await stream.next()
    expect(bus.listeners).toBe(1)
    await stream.cancel()
    expect(bus.listeners).toBe(0)
  })

  it('the client goes away → subscription and stream end [listen.cancel]', async () => {
    const { bus, listen } = fixture()
    const client = new AbortController()
    const { stream } = await listen(ALL, { signal: client.signal })
    await stream.next()
    const pending = stream.next()
    client.abort()
    expect(bus.listeners).toBe(0)
    expect(await pending).toBeUndefined()
  })

  it('a client that was gone before → nothing stays behind [listen.cancel]', async () => {
    const { bus, server } = fixture()
    const request = new Request(modernRequest('subscriptions/listen', { notifications: ALL }), {
      signal: AbortSignal.abort(),
    })
    const response = await server.fetch(request)
    await response.text()
    expect(bus.listeners).toBe(0)
  })

  it('comments keep it alive, a result ends it after maxListenMs [listen.graceful]', async () => {
    const { bus, listen } = fixture({ http: { keepAliveMs: 10_000, maxListenMs: 25_000 } })
    const beganAt = Date.now()
    const { stream } = await listen()
    await stream.next()
    const arrivals: [number, unknown][] = []
    const reading = (async () => {
      for (let item = await stream.next(); item !== undefined; item = await stream.next()) {
        arrivals.push([Date.now() - beganAt, 'comment' in item ? 'comment' : item.result])
      }
    })()
    await vi.advanceTimersByTimeAsync(25_000)
    await reading
    expect(arrivals).toEqual([
      [10_000, 'comment'],
      [20_000, 'comment'],
      [
        25_000,
        { resultType: 'complete', _meta: { ...OURS, [META.serverInfo]: { name: 'Test', version: '1.0.0' } } },
      ],
    ])
    expect(bus.listeners).toBe(0)
  })

  it('a result ends it before the platform’s deadline [listen.graceful]', async () => {
    const { bus, listen } = fixture({ http: { deadlineMarginMs: 1000 } })
    const { response, stream } = await listen(ALL, { platform: { deadline: Date.now() + 5000 } })
    await stream.next()
    const last = stream.next()
    await vi.advanceTimersByTimeAsync(4000)
    expect(await last).toMatchObject({ id: 'sub-1', result: { resultType: 'complete' } })
    expect(await stream.next()).toBeUndefined()
    expect([response.status, bus.listeners]).toEqual([200, 0])
  })

  it('an event in the last moment is delivered before it [listen.graceful]', async () => {
    const { server, listen } = fixture({ http: { maxListenMs: 1000, keepAliveMs: 5000 } })
    const { stream } = await listen()
    await stream.next()
    const first = stream.next()
    await vi.advanceTimersByTimeAsync(999)
    await server.tools.notifyListChanged()
    expect(await first).toMatchObject({ method: 'notifications/tools/list_changed' })
    const last = stream.next()
    await vi.advanceTimersByTimeAsync(1)
    expect(await last).toMatchObject({ result: { resultType: 'complete' } })
    expect(await stream.next()).toBeUndefined()
  })
})

describe('a stream whose time is up', () => {
  it('ends although its client reads slowly and everything changes all the time [listen.graceful]', async () => {
    const { bus, server, listen } = fixture({ http: { maxListenMs: 1000 } })
    const { stream } = await listen()
    await stream.next()
    const changeAll = async (): Promise<void> => {
      await server.tools.notifyListChanged()
      await server.prompts.notifyListChanged()
      await server.resources.notifyListChanged()
    }
    const heard: unknown[] = []
    for (let read = 0; read < 20; read++) {
      await changeAll()
      await vi.advanceTimersByTimeAsync(200)
      const message = await stream.next()
      if (message === undefined) break
      heard.push(message)
    }
    expect(heard.at(-1)).toMatchObject({ id: 'sub-1', result: { resultType: 'complete' } })
    expect(heard.length).toBeLessThan(11)
    expect(bus.listeners).toBe(0)
  })

  it('frees its place if its client reads nothing; read later, it ends with its result [listen.limit]', async () => {
    const { bus, listen } = fixture({ http: { maxListenMs: 1000, keepAliveMs: 500, maxListenStreams: 1 } })
    const { stream } = await listen()
    await vi.advanceTimersByTimeAsync(1499)
    expect((await listen()).response.status).toBe(503)
    await vi.advanceTimersByTimeAsync(1)
    expect(bus.listeners).toBe(0)
    const other = await listen()
    expect(other.response.status).toBe(200)
    await other.stream.cancel()
    expect(await stream.next()).toMatchObject({ method: ACKNOWLEDGED })
    let last = await stream.next()
    for (let message = last; message !== undefined; message = await stream.next()) last = message
    expect(last).toMatchObject({ id: 'sub-1', result: { resultType: 'complete' } })
  })

  it('a server that closes while one is opened ends it, too [listen.close]', async () => {
    const { bus, server, listen } = fixture()
    const { subscribe } = bus
    bus.subscribe = async (listener) => {
      await server.close()
      return subscribe(listener)
    }
    const { stream } = await listen()
    expect(await stream.next()).toMatchObject({ method: ACKNOWLEDGED })
    expect(await stream.next()).toMatchObject({ id: 'sub-1', result: { resultType: 'complete' } })
    expect(bus.listeners).toBe(0)
  })
})

describe('maxListenStreams', () => {
  it('one more → 503; once one has ended, served again [listen.limit]', async () => {
    const { server, listen } = fixture({ http: { maxListenStreams: 2 } })
    const [one, two] = [await listen(), await listen()]
    const { status, error } = await modern(server, 'subscriptions/listen', { notifications: ALL })
    expect([status, error?.code]).toEqual([503, ErrorCode.internal])
    await one.stream.cancel()
    const three = await listen()
    expect(three.response.status).toBe(200)
    await Promise.all([two.stream.cancel(), three.stream.cancel()])
  })

  it('what the bus refused does not count, and is reported once [listen.limit] [bus.down]', async () => {
    const onError = vi.fn()
    const bus: Bus = { publish: () => undefined, subscribe: () => Promise.reject(new Error('no connection')) }
    const { server } = fixture({ bus, onError, http: { maxListenStreams: 1 } })
    for (let attempt = 0; attempt < 3; attempt++) {
      const { status, error } = await modern(server, 'subscriptions/listen', { notifications: ALL })
      expect([status, error?.code]).toEqual([503, ErrorCode.internal])
    }
    expect(onError).toHaveBeenCalledOnce()
  })
})

describe('maxListenCharacters', () => {
  const uri = (name: string) => ({ resourceSubscriptions: [`a://${name}`.padEnd(900, 'x')] })

  it('more URIs than fit → 503, others are served; once a stream has ended, they fit [listen.memory]', async () => {
    const { server, listen } = fixture({ http: { maxListenCharacters: 2000 } })
    const [one, two] = [await listen(uri('1')), await listen(uri('2'))]
    const refused = await modern(server, 'subscriptions/listen', { notifications: uri('3') })
    expect([refused.status, refused.error]).toMatchObject([
      503,
      { code: ErrorCode.internal, data: { limit: 'maxListenCharacters' } },
    ])
    const lists = await listen({ toolsListChanged: true })
    expect(lists.response.status).toBe(200)
    await one.stream.cancel()
    const three = await listen(uri('3'))
    expect(three.response.status).toBe(200)
    for (const { stream } of [two, three, lists]) await stream.cancel()
  })
})

it('a deadline that is no number ends a stream at once, and burns no time [listen.graceful]', async () => {
  const { bus, listen } = fixture()
  const { stream } = await listen(ALL, { platform: { deadline: Number.NaN } })
  expect(await stream.next()).toMatchObject({ method: ACKNOWLEDGED })
  expect(await stream.next()).toMatchObject({ id: 'sub-1', result: { resultType: 'complete' } })
  expect(bus.listeners).toBe(0)
})

it('notifyUpdated without a URI is a TypeError that says what to write', () => {
  const { server } = fixture()
  for (const argument of [undefined, null, 'a://1', {}, { uri: 7 }])
    expect(() => server.resources.notifyUpdated(argument as never)).toThrow(/^notifyUpdated takes \{ uri }/)
})
