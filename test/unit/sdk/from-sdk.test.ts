import { describe, expect, it, vi } from 'vitest'
import { bearer, staticTokens } from '../../../src/auth.ts'
import type { TracedRequest } from '../../../src/request/telemetry.ts'
import { type FromSdkOptions, fromSdk, type HostedServer, type SdkContext } from '../../../src/sdk.ts'
import { eventually } from '../../_eventually.ts'
import { secretOf } from '../../_secrets.ts'
import {
  initialize,
  legacy,
  legacyRequest,
  META,
  modern,
  modernRequest,
  namesIn,
  post,
  readAnswer,
  textOf,
} from '../_client.ts'
import { createLowLevelV1, createV1, createV2, type Seen } from './_servers.ts'

const factories = { v1: createV1, v2: createV2 }

const create = (
  sdk: keyof typeof factories,
  options: FromSdkOptions = {},
  seen: Partial<Seen> = {},
): HostedServer => fromSdk((context: SdkContext) => factories[sdk](context, seen), { log: false, ...options })

/** Each SDK in each era it speaks. */
const SPOKEN = [
  ['v1', 'legacy'],
  ['v2', 'legacy'],
  ['v2', 'modern'],
] as const
const speak = { legacy, modern }

describe.each(SPOKEN)('SDK %s, %s', (sdk, era) => {
  const ask = speak[era]

  it('tools, resources and prompts are served', async () => {
    const server = create(sdk)
    const added = await ask(server, 'tools/call', { name: 'add', arguments: { a: 2, b: 3 } })
    expect(added.isStream).toBe(false)
    expect(textOf(added)).toBe('5')
    expect(namesIn(await ask(server, 'tools/list'))).toContain('progress')
    expect((await ask(server, 'resources/read', { uri: 'note://1' })).result?.contents).toHaveLength(1)
    expect((await ask(server, 'prompts/get', { name: 'greet' })).result?.messages).toHaveLength(1)
  })

  it('the factory knows the platform and the caller, and the tool its token', async () => {
    const server = create(sdk, {
      auth: staticTokens([{ token: secretOf('x'), clientId: 'desk', scopes: [] }]),
    })
    const answer = await ask(
      server,
      'tools/call',
      { name: 'who', arguments: {} },
      { headers: { authorization: `Bearer ${secretOf('x')}` }, platform: { env: { REGION: 'eu' } } },
    )
    expect(textOf(answer)).toBe('desk desk {"REGION":"eu"}')
    expect((await ask(server, 'tools/list')).status).toBe(401)
  })

  it('notifications make a stream, with the result as its last event', async () => {
    const answer = await ask(create(sdk), 'tools/call', {
      name: 'progress',
      arguments: {},
      _meta: { progressToken: 7 },
    })
    expect(answer.isStream).toBe(true)
    expect(answer.notifications.map(({ params }) => params?.progress)).toEqual([1, 2, 3])
    expect(textOf(answer)).toBe('done')
  })

  it('a platform that cannot stream gets JSON without them', async () => {
    const answer = await ask(
      create(sdk),
      'tools/call',
      { name: 'progress', arguments: {}, _meta: { progressToken: 7 } },
      { platform: { canStream: false } },
    )
    expect(answer).toMatchObject({ isStream: false, notifications: [] })
    expect(textOf(answer)).toBe('done')
  })

  it.each(['application/json', '*/*', undefined])('Accept: %s → JSON', async (accept) => {
    const answer = await ask(
      create(sdk),
      'tools/call',
      { name: 'add', arguments: { a: 1, b: 1 } },
      { headers: { accept } },
    )
    expect(answer.isStream).toBe(false)
    expect(textOf(answer)).toBe('2')
  })

  it('a tool that throws → isError', async () => {
    const { result } = await ask(create(sdk), 'tools/call', { name: 'fail', arguments: {} })
    expect(result?.isError).toBe(true)
  })

  it('a client that goes away aborts the tool', async () => {
    const seen: Partial<Seen> = {}
    const client = new AbortController()
    const build = era === 'modern' ? modernRequest : legacyRequest
    const request = build('tools/call', { name: 'wait', arguments: {} }, { signal: client.signal })
    const response = create(sdk, {}, seen).handle(request, {})
    await eventually(() => expect(seen.waiting).toBe(1))
    client.abort()
    await response
    await eventually(() => expect(seen.aborted).toBe(true))
  })

  it('a tool that never ends is ended before the platform does, with the limit’s name', async () => {
    const seen: Partial<Seen> = {}
    const { error } = await ask(
      create(sdk, {}, seen),
      'tools/call',
      { name: 'wait', arguments: {} },
      { platform: { deadline: Date.now() + 2000, deadlineName: 'the timeout of the function' } },
    )
    expect(error).toMatchObject({ code: -32603, data: { limit: 'deadline' } })
    expect(error?.message).toContain('the timeout of the function')
    await eventually(() => expect(seen.aborted).toBe(true))
  })

  it('an answer that is too large for the platform → an error that says so', async () => {
    const { error } = await ask(create(sdk), 'tools/list', {}, { platform: { maxResponseBytes: 100 } })
    expect(error).toMatchObject({ data: { limit: 'responseBytes' } })
  })

  it('scopes of single tools: absent from the list, 403 when called', async () => {
    const server = create(sdk, {
      auth: staticTokens([{ token: secretOf('x'), clientId: 'desk', scopes: ['read'] }]),
      scopes: { tools: { add: ['write'], who: ['read'] } },
    })
    const headers = { authorization: `Bearer ${secretOf('x')}` }
    const tools = namesIn(await ask(server, 'tools/list', {}, { headers }))
    expect(tools).toContain('who')
    expect(tools).not.toContain('add')
    const refused = await ask(server, 'tools/call', { name: 'add', arguments: { a: 1, b: 1 } }, { headers })
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toContain('scope="write"')
    expect((await ask(server, 'tools/call', { name: 'who', arguments: {} }, { headers })).status).toBe(200)
  })

  it('the page asks the server once a minute, however often it is opened [page.private]', async () => {
    const made = vi.fn(factories[sdk])
    const server = fromSdk(made, { log: false })
    const open = async () =>
      (await server.fetch(new Request('https://mcp.example/', { headers: { accept: 'text/html' } }))).text()
    const pages = await Promise.all([open(), open(), open()])
    const asked = made.mock.calls.length
    expect(await open()).toBe(pages[0])
    expect([new Set(pages).size, made.mock.calls.length]).toEqual([1, asked])
  })

  it('and asks again when the minute is over [page.private]', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const made = vi.fn(factories[sdk])
      const server = fromSdk(made, { log: false })
      const openAfter = async (ms: number, visitors = 1): Promise<number> => {
        vi.setSystemTime(Date.now() + ms)
        made.mockClear()
        const visit = () =>
          server.fetch(new Request('https://mcp.example/', { headers: { accept: 'text/html' } }))
        const pages = await Promise.all(Array.from({ length: visitors }, visit))
        for (const page of pages) expect(await page.text()).toContain('shop')
        return made.mock.calls.length
      }
      expect(await openAfter(0)).toBeGreaterThan(0)
      expect(await openAfter(59_000)).toBe(0)
      const once = await openAfter(2000)
      expect(once).toBeGreaterThan(0)
      // One of five reads it; the others get the last page.
      expect(await openAfter(61_000, 5)).toBe(once)
    } finally {
      vi.useRealTimers()
    }
  })

  it('the factory is called for each request, and its servers are no two the same', async () => {
    const made: object[] = []
    const server = fromSdk(
      async (context: SdkContext) => {
        const one = await factories[sdk](context, {})
        made.push(one)
        return one as never
      },
      { log: false },
    )
    for (let call = 1; call <= 3; call++) {
      await ask(server, 'tools/call', { name: 'add', arguments: { a: 1, b: 1 } })
      expect(made.length).toBeGreaterThanOrEqual(call)
    }
    expect(new Set(made).size).toBe(made.length)
  })

  it('a factory that returns one server again → an error that says so, and nobody else’s answer', async () => {
    const one = await factories[sdk]({} as SdkContext, {})
    const reported: string[] = []
    const server = fromSdk(() => one as never, {
      log: false,
      onError: (error) => void reported.push((error as Error).message),
    })
    const first = await ask(server, 'tools/list')
    const later = [await ask(server, 'tools/list'), await ask(server, 'tools/list')]
    expect([first, ...later].filter(({ result }) => result !== undefined).length).toBeLessThan(2)
    for (const { error } of later) expect(error).toMatchObject({ code: -32603, message: 'Internal error' })
    expect(reported.join()).toContain('returned the same server again')
  })

  it('with auth the page shows neither instructions nor lists [page.private]', async () => {
    const auth = staticTokens([{ token: secretOf('x'), clientId: 'desk', scopes: [] }])
    const response = await create(sdk, { auth }).fetch(
      new Request('https://mcp.example/', { headers: { accept: 'text/html' } }),
    )
    const page = await response.text()
    expect(page).toContain('shop')
    expect(page).not.toMatch(/Be brief|greet|note:\/\/1/)
  })

  it('the page shows who it is', async () => {
    const server = create(sdk)
    const get = (path: string, accept: string) =>
      server.fetch(new Request(`https://mcp.example${path}`, { headers: { accept } }))
    expect(await (await get('/healthz', '*/*')).json()).toEqual({ status: 'ok' })
    const page = await (await get('/', 'text/html')).text()
    for (const text of ['shop', 'add', 'note://1', 'greet', 'Be brief.']) expect(page).toContain(text)
  })

  it('one log line a request, with what was asked', async () => {
    const log = vi.fn()
    await ask(create(sdk, { log }), 'tools/call', { name: 'add', arguments: { a: 1, b: 1 } })
    expect(log).toHaveBeenCalledOnce()
    expect(log.mock.calls[0]?.[0]).toMatchObject({ method: 'tools/call', target: 'add', era, status: 200 })
  })

  it('a span a request, with what came of it', async () => {
    const end = vi.fn()
    const start = vi.fn((_request: TracedRequest) => ({ run: <Result>(work: () => Result) => work(), end }))
    const server = create(sdk, { telemetry: { start } })
    await ask(server, 'tools/call', { name: 'add', arguments: { a: 1, b: 1 } })
    await ask(server, 'tools/call', { name: 'progress', arguments: {}, _meta: { progressToken: 1 } })
    await ask(server, 'tools/call', { name: 'fail', arguments: {} })
    expect(start.mock.calls.map(([request]) => request.method)).toEqual(Array(3).fill('tools/call'))
    expect(end.mock.calls.map(([outcome]) => [outcome.status, outcome.isToolError])).toEqual([
      [200, undefined],
      [200, undefined],
      [200, true],
    ])
  })

  it('malformed input is refused before a server is made', async () => {
    const factory = vi.fn(() => factories[sdk]())
    const server = fromSdk(factory, { log: false })
    for (const body of ['{', '{"jsonrpc":"2.0","id":1,"method":"x","params":{"__proto__":{}}}', '5']) {
      expect((await server.fetch(post(body))).status).toBe(400)
    }
    expect((await server.fetch(post('{}', { headers: { 'content-type': 'text/plain' } }))).status).toBe(415)
    expect(factory).not.toHaveBeenCalled()
  })
})

describe('SDK v1', () => {
  it('tells modern clients what it speaks', async () => {
    const answer = await modern(create('v1'), 'server/discover')
    expect(answer.status).toBe(400)
    expect(answer.error).toMatchObject({
      code: -32022,
      data: { supported: ['2025-11-25', '2025-06-18', '2025-03-26'], requested: '2026-07-28' },
    })
  })

  it('every server is closed once its answer is there', async () => {
    const seen: Partial<Seen> = {}
    await legacy(create('v1', {}, seen), 'tools/call', { name: 'progress', arguments: {} })
    await eventually(() => expect(seen.closed).toBe(1))
  })

  it('a low-level server works as well; notifications are accepted', async () => {
    const server = fromSdk(createLowLevelV1, { log: false })
    expect(namesIn(await legacy(server, 'tools/list'))).toEqual(['low'])
    expect((await initialize(server)).result?.serverInfo).toMatchObject({ name: 'shop' })
    const notified = await server.fetch(post({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    expect(notified.status).toBe(202)
  })
})

describe('SDK v2', () => {
  it('subscriptions hear what the bus brings, and end in time', async () => {
    const listeners = new Set<(event: { kind: string }) => void>()
    const bus = {
      publish: (event: { kind: string }) => {
        for (const listener of listeners) listener(event)
      },
      subscribe: (listener: (event: { kind: string }) => void) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    }
    const server = create('v2', { handler: { bus }, http: { maxListenMs: 300 } })
    const response = server.fetch(
      modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } }),
    )
    await eventually(() => expect(listeners.size).toBe(1))
    bus.publish({ kind: 'tools_list_changed' })
    const answer = await readAnswer(await response)
    expect(answer.notifications.map(({ method }) => method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ])
    expect(answer.result).toMatchObject({ resultType: 'complete', _meta: { [META.subscriptionId]: 1 } })
    await eventually(() => expect(listeners.size).toBe(0))
  })

  it.each<[string, FromSdkOptions]>([
    ['maxListenMs: 0', { http: { maxListenMs: 0 } }],
    [
      'a token that expires',
      { auth: bearer(() => ({ clientId: 'c', scopes: [], expiresAt: Date.now() / 1000 + 0.3 })) },
    ],
  ])('%s ends them, too', async (_what, options) => {
    const request = modernRequest(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      { headers: { authorization: 'Bearer token' } },
    )
    const answer = await readAnswer(await create('v2', options).fetch(request))
    expect(answer.result).toMatchObject({ resultType: 'complete' })
  })
})

describe('what cannot be served', () => {
  it('no factory → TypeError', () => {
    expect(() => fromSdk(createV1() as never)).toThrow('a function that creates a server')
    expect(() => fromSdk(createV1, { auth: {} as never })).toThrow('"auth" must be created by')
  })

  it.each([
    () => ({}),
    () => undefined,
    () => {
      throw new Error('secret reason')
    },
  ])('a factory %s → an internal error, reported', async (factory) => {
    const onError = vi.fn()
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const answer = await legacy(fromSdk(factory as never, { log: false, onError }), 'tools/list')
    error.mockRestore()
    expect(answer.error).toMatchObject({ code: -32603 })
    expect(JSON.stringify(answer.message)).not.toContain('secret reason')
    expect(onError).toHaveBeenCalledOnce()
  })
})

it('SDK v2: what fails once when the first call prepares it is prepared again for the next', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  let prepared = 0
  const handler = {
    get responseMode(): string {
      if (prepared++ === 0) throw new Error('no file today')
      return 'auto'
    },
  }
  const server = create('v2', { handler })
  const first = await Promise.all([1, 2].map(() => modern(server, 'tools/list')))
  expect(first.map(({ error }) => error?.code)).toEqual([-32603, -32603])
  expect(namesIn(await modern(server, 'tools/list'))).toContain('add')
  expect(prepared).toBe(2)
})
