/** What `subscriptions/listen` makes of a bus: bursts, one subscription for all streams, and who may hear. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { subscribePersistently } from '../../src/events/persistent-subscription.ts'
import { createResource } from '../../src/index.ts'
import { modern } from './_client.ts'
import { ALL, countingBus, everything, fixture } from './_listen.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('bursts', () => {
  const LIST_CHANGED = { method: 'notifications/tools/list_changed' }

  it('the first leaves at once, all others as one 100 ms later; other changes are not held up [listen.coalesced]', async () => {
    const { server, listen } = fixture()
    const { stream } = await listen()
    await stream.next()
    const beganAt = Date.now()
    const arrivals: unknown[] = []
    const reading = (async () => {
      for (let item = await stream.next(); item !== undefined; item = await stream.next())
        if ('method' in item) arrivals.push([Date.now() - beganAt, item.params?.uri ?? item.method])
    })()
    for (let round = 0; round < 30; round++) {
      await server.tools.notifyListChanged()
      if (round === 20) await server.resources.notifyUpdated({ uri: 'a://1' })
      await vi.advanceTimersByTimeAsync(1)
    }
    await vi.advanceTimersByTimeAsync(1000)
    expect(arrivals).toEqual([
      [0, LIST_CHANGED.method],
      [20, 'a://1'],
      [100, LIST_CHANGED.method],
    ])
    await stream.cancel()
    await reading
  })

  it('a server that closes sends what is held back before the result [listen.coalesced]', async () => {
    const { server, listen } = fixture()
    const { stream } = await listen()
    await stream.next()
    await server.tools.notifyListChanged()
    expect(await stream.next()).toMatchObject(LIST_CHANGED)
    await server.tools.notifyListChanged()
    const held = stream.next()
    await server.close()
    expect(await held).toMatchObject(LIST_CHANGED)
    expect(await stream.next()).toMatchObject({ result: { resultType: 'complete' } })
  })
})

describe('the bus', () => {
  it('is subscribed to once, whatever the number of streams, until the last one ends [bus.shared]', async () => {
    const { bus, server, listen } = fixture()
    const open = await Promise.all(Array.from({ length: 50 }, () => listen()))
    for (const { stream } of open) await stream.next()
    const stopSession = subscribePersistently(server.getSessionParts().join, () => {})
    expect(bus.listeners).toBe(1)
    const [first, ...others] = open
    await first!.stream.cancel()
    await server.tools.notifyListChanged()
    for (const { stream } of others)
      expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' })
    for (const { stream } of others) await stream.cancel()
    expect(bus.listeners).toBe(1)
    stopSession()
    expect(bus.listeners).toBe(0)
  })

  it('one whose subscriptions belong to requests is reported once an outage, too [bus.down]', async () => {
    const onError = vi.fn()
    const bus = Object.assign(countingBus(), { isRequestBound: true, isDown: false })
    const { subscribe } = bus
    bus.subscribe = async (listener) => {
      if (bus.isDown) throw new Error('no connection')
      return subscribe(listener)
    }
    const { server, listen } = fixture({ bus, onError })
    for (const outages of [1, 2]) {
      bus.isDown = true
      for (let attempt = 0; attempt < 3; attempt++)
        expect((await modern(server, 'subscriptions/listen', { notifications: ALL })).status).toBe(503)
      expect(onError).toHaveBeenCalledTimes(outages)
      bus.isDown = false
      const { stream } = await listen()
      await stream.cancel()
    }
  })

  it('one whose subscriptions belong to requests is subscribed to by each stream [bus.shared]', async () => {
    const counting = countingBus()
    const { listen } = fixture({ bus: Object.assign(counting, { isRequestBound: true }) })
    const [one, two] = [await listen(), await listen()]
    expect(counting.listeners).toBe(2)
    await one.stream.cancel()
    expect(counting.listeners).toBe(1)
    await counting.publish({ type: 'toolsListChanged' })
    await two.stream.next()
    expect(await two.stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' })
    await two.stream.cancel()
    expect(counting.listeners).toBe(0)
  })
})

describe('access', () => {
  const notes = createResource({ uriTemplate: 'note://{name}', read: () => '' })
  const secrets = createResource({ uriTemplate: 'secret://{name}', scopes: ['admin'], read: () => '' })
  const expiresAt = () => Math.floor(Date.now() / 1000) + 60
  const auth = () =>
    bearer((token) => ({ clientId: 'c', scopes: token === 'admin' ? ['admin'] : [], expiresAt: expiresAt() }))
  const uris = ['note://1', 'secret://1', 'a://1']

  it.each([
    ['user', ['note://1', 'a://1']],
    ['admin', uris],
  ])('%s hears of %j, which templates serve, too [listen.delivery] [auth.scopes]', async (token, allowed) => {
    const resources = [...(everything.resources as never[]), notes, secrets]
    const { server, listen } = fixture({ resources, auth: auth() })
    const headers = { authorization: `Bearer ${token}` }
    const { stream } = await listen({ resourceSubscriptions: uris }, { headers })
    expect(await stream.next()).toMatchObject({
      params: { notifications: { resourceSubscriptions: allowed } },
    })
    for (const uri of uris) await server.resources.notifyUpdated({ uri })
    for (const uri of allowed) expect(await stream.next()).toMatchObject({ params: { uri } })
    await stream.cancel()
  })

  describe('canSubscribe', () => {
    const asked = vi.fn()
    const owned = createResource({
      uriTemplate: 'order://{owner}/{id}',
      read: () => '',
      canSubscribe: async ({ uri, variables }, { auth, env }) => {
        asked(uri, env)
        return variables.owner === auth?.clientId
      },
    })
    const auth = bearer((token) => ({ clientId: token }))
    const listenAs = async (token: string, resourceSubscriptions: string[], resources: unknown = [owned]) => {
      const made = fixture({ resources: resources as never, auth })
      const headers = { authorization: `Bearer ${token}` }
      const platform = { env: { REGION: 'eu' } }
      return { ...made, ...(await made.listen({ resourceSubscriptions }, { headers, platform })) }
    }

    it('asked once for each URI when a caller subscribes; what it denies is left out [listen.can-subscribe]', async () => {
      asked.mockClear()
      const { server, stream } = await listenAs('ann', ['order://ann/1', 'order://bob/2'])
      expect(await stream.next()).toMatchObject({
        params: { notifications: { resourceSubscriptions: ['order://ann/1'] } },
      })
      for (const uri of ['order://bob/2', 'order://ann/1']) await server.resources.notifyUpdated({ uri })
      expect(await stream.next()).toMatchObject({ params: { uri: 'order://ann/1' } })
      expect(asked.mock.calls).toEqual([
        ['order://ann/1', { REGION: 'eu' }],
        ['order://bob/2', { REGION: 'eu' }],
      ])
      await stream.cancel()
    })

    it('of a fixed resource, and of callbacks, too [listen.can-subscribe]', async () => {
      const fixed = createResource({ uri: 'a://1', read: () => '', canSubscribe: () => false })
      const callbacks = {
        listResources: () => [],
        getResourceContent: () => '',
        canSubscribe: ({ uri }: { uri: string }) => uri === 'a://2',
      }
      for (const [resources, uri] of [
        [[fixed, owned], 'order://ann/1'],
        [callbacks, 'a://2'],
      ] as const) {
        const { stream } = await listenAs('ann', ['a://1', uri], resources)
        expect(await stream.next()).toMatchObject({
          params: { notifications: { resourceSubscriptions: [uri] } },
        })
        await stream.cancel()
      }
    })

    it('is no part of the list of resources [listen.can-subscribe]', async () => {
      const { server } = fixture({ resources: [owned] })
      const answer = await modern(server, 'resources/templates/list')
      expect(answer.result?.resourceTemplates).toEqual([
        { name: 'order://{owner}/{id}', uriTemplate: 'order://{owner}/{id}' },
      ])
    })

    it.each([
      ['throws', () => Promise.reject(new Error('no database'))],
      ['never answers', () => new Promise<boolean>(() => {})],
    ])(
      'one that %s → refused with -32603, and reported [listen.can-subscribe]',
      async (_what, canSubscribe) => {
        const onError = vi.fn()
        const resources = [createResource({ uriTemplate: 'order://{id}', read: () => '', canSubscribe })]
        const { bus, server } = fixture({ resources, onError })
        const notifications = { resourceSubscriptions: ['order://1'] }
        const answer = modern(server, 'subscriptions/listen', { notifications })
        await vi.advanceTimersByTimeAsync(5000)
        expect((await answer).error).toMatchObject({ code: -32603, message: 'Internal error' })
        expect(onError).toHaveBeenCalledOnce()
        expect(bus.listeners).toBe(0)
      },
    )
  })

  it('a caller who may hear of nothing it names → completed at once [listen.delivery] [auth.scopes]', async () => {
    const resources = [...(everything.resources as never[]), notes, secrets]
    const { bus, listen } = fixture({ resources, auth: auth() })
    const headers = { authorization: 'Bearer user' }
    const { stream } = await listen({ resourceSubscriptions: ['secret://1'] }, { headers })
    expect(await stream.next()).toMatchObject({ params: { notifications: {} } })
    expect(await stream.next()).toMatchObject({ result: { resultType: 'complete' } })
    expect(bus.listeners).toBe(0)
  })

  it('a stream ends with the token that it was opened with [listen.graceful]', async () => {
    const { listen } = fixture({ auth: auth(), http: { keepAliveMs: 3_600_000, maxListenMs: 3_600_000 } })
    const { stream } = await listen(ALL, { headers: { authorization: 'Bearer user' } })
    await stream.next()
    const last = stream.next()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await last).toMatchObject({ result: { resultType: 'complete' } })
  })
})
