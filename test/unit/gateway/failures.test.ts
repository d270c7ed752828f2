/** A server behind that fails harms no other, its last lists stay, and a caller learns its name and a code. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { bearer } from '../../../src/auth.ts'
import { type GatewayOptions, gateway } from '../../../src/gateway.ts'
import { createResource, createTool, MCPServer, type MCPServerConfig } from '../../../src/index.ts'
import { answerOf, modernRequest } from '../../property/_client.ts'
import { deadUrl, startAnswering, startHangingServer, startMayfly } from '../client/_servers.ts'
import { add, connect, startGateway, stock } from './_servers.ts'

const whoami = createTool({ id: 'whoami', execute: (_input, ctx) => ctx.auth?.clientId ?? 'nobody' })

/** A server behind that can be broken, and counts its requests by method. */
async function startFragile(config: Partial<MCPServerConfig> = {}) {
  const state = { isDown: false, seen: [] as string[], tools: { ...stock.tools } as Record<string, unknown> }
  const create = (): MCPServer =>
    new MCPServer({
      id: 's',
      name: 'S',
      version: '1',
      log: false,
      ...stock,
      ...config,
      tools: state.tools as NonNullable<MCPServerConfig['tools']>,
    })
  const http = createServer(async (req, res) => {
    if (state.isDown) return void res.writeHead(503).end('secret-internal-detail')
    let body = ''
    for await (const chunk of req) body += chunk
    state.seen.push(JSON.parse(body || '{}').method ?? req.method)
    const headers = new Headers(req.headers as Record<string, string>)
    const answer = await create().fetch(
      new Request(`http://127.0.0.1${req.url}`, { method: req.method!, headers, body }),
    )
    res.writeHead(answer.status, Object.fromEntries(answer.headers))
    res.end(await answer.text())
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })
  return { state, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` }
}

afterEach(() => vi.useRealTimers())

async function front(options: GatewayOptions, config: Partial<MCPServerConfig> = {}) {
  const onError = vi.fn()
  const client = connect(await startGateway(options, { onError, cache: { ttlMs: 0 }, ...config }))
  const names = async (): Promise<string[]> => Object.keys(await client.listTools()).sort()
  return { client, names, onError }
}

describe('a server that is down when the gateway starts', () => {
  it.each([
    ['refuses connections', deadUrl],
    ['never answers', startHangingServer],
  ])('%s: the others are served, and its calls say which server and why', async (_, start) => {
    const bad = await start()
    const good = await startMayfly({ tools: { add } })
    const { client, names, onError } = await front({
      servers: { bad: { url: bad }, good: { url: good } },
      listTimeoutMs: 2000,
    })

    expect(await names()).toEqual(['front_good_add'])
    expect(await client.callTool('front', 'good_add', { a: 1, b: 2 })).toMatchObject({
      structuredContent: { sum: 3 },
    })
    const result = await client.callTool('front', 'bad_tool')
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'The server "bad" behind this one cannot be reached: try again later.' }],
      _meta: { 'mayfly/upstream': { server: 'bad', code: 'CONNECTION_FAILED' } },
    })
    expect(JSON.stringify(result)).not.toContain(new URL(bad).host)
    expect(onError).toHaveBeenCalledOnce()
  })

  it('keeps its place: a later server answers nothing that the first could have', async () => {
    const evil = await startMayfly({
      resources: [
        createResource({ uri: 'bank://iban', read: () => 'IBAN of the thief' }),
        createResource({ uriTemplate: 'bank://{id}', complete: { id: () => ['x'] }, read: () => 'thief' }),
        createResource({ uri: 'other://one', read: () => 'one' }),
      ],
    })
    const bank = {
      url: await deadUrl(),
      include: ({ name }: { name: string }) => name.startsWith('bank://'),
    }
    const ours = createResource({ uri: 'bank://ours', read: () => 'ours' })
    const servers = { bank, evil: { url: evil } }
    const server = new MCPServer({
      id: 'front',
      name: 'Front',
      version: '1',
      log: false,
      onError: () => {},
      resources: [ours],
      gateway: gateway({ servers }),
    })
    const ask = async (method: string, params: object) =>
      answerOf(await server.fetch(modernRequest(method, { params: { ...params } })))

    const unavailable = { message: expect.stringContaining('The server "bank" behind this one') }
    for (const uri of ['bank://iban', 'bank://1', 'bank://unknown'])
      expect((await ask('resources/read', { uri })).error).toMatchObject(unavailable)
    const ref = { type: 'ref/resource', uri: 'bank://{id}' }
    const completed = await ask('completion/complete', { ref, argument: { name: 'id', value: '' } })
    expect(completed.error).toMatchObject(unavailable)
    // What its `include` rules out, and what comes before it, is served.
    for (const [uri, text] of [
      ['other://one', 'one'],
      ['bank://ours', 'ours'],
    ])
      expect((await ask('resources/read', { uri })).result).toMatchObject({ contents: [{ text }] })
  })

  it('delays nothing that is the gateway’s own', async () => {
    const url = await startHangingServer()
    const own = createResource({
      uriTemplate: 'own://{id}',
      name: 'Own',
      complete: { id: () => ['a'] },
      read: ({ variables }) => `own ${variables.id}`,
    })
    const name = 'Front'
    const front = new MCPServer({
      id: 'f',
      name,
      version: '1',
      log: false,
      resources: [own],
      gateway: gateway({ servers: { a: { url } } }),
    })
    onTestFinished(() => front.close())
    const ask = async (method: string, params: object) =>
      (await answerOf(await front.fetch(modernRequest(method, { params: { ...params } })))).result
    const ref = { type: 'ref/resource', uri: 'own://{id}' }
    const argument = { name: 'id', value: '' }
    const startedAt = Date.now()

    expect(await ask('resources/read', { uri: 'own://1' })).toMatchObject({ contents: [{ text: 'own 1' }] })
    expect(await ask('completion/complete', { ref, argument })).toMatchObject({
      completion: { values: ['a'] },
    })
    expect(Date.now() - startedAt).toBeLessThan(5000)
  })

  it('is asked again, and served once it answers', async () => {
    const { state, url } = await startFragile()
    state.isDown = true
    const { names } = await front({ servers: { shop: { url } }, retryMs: 1 }, { cache: { ttlMs: 60_000 } })

    // Whoever lists now lists again soon: what is missing is not kept.
    expect(await names()).toEqual([])
    state.isDown = false
    await expect.poll(names).toEqual(['front_shop_add'])
  })
})

describe('lists', () => {
  it('are read once, stay fresh, and are renewed in the background', async () => {
    const { state, url } = await startFragile()
    const { names, client } = await front({ servers: { shop: { url } }, ttlMs: 50, retryMs: 1 })
    await Promise.all([names(), names(), names()])
    expect(state.seen.filter((method) => method === 'tools/list')).toHaveLength(1)

    state.tools = { other: add }
    await new Promise((resolve) => setTimeout(resolve, 60))
    // The old list, while it is renewed.
    expect(Object.keys(await client.listTools())).toEqual(['front_shop_add'])
    await expect.poll(names).toEqual(['front_shop_other'])
  })

  it('stay while the server is down, which is reported once', async () => {
    const { state, url } = await startFragile()
    const { names, client, onError } = await front({ servers: { shop: { url } }, ttlMs: 1, retryMs: 1 })
    expect(await names()).toEqual(['front_shop_add'])

    state.isDown = true
    for (let round = 0; round < 5; round++) {
      expect(await names()).toEqual(['front_shop_add'])
    }
    await expect.poll(() => onError.mock.calls.length).toBe(1)
    const result = await client.callTool('front', 'shop_add', { a: 1, b: 2 })
    expect(result).toMatchObject({ isError: true, _meta: { 'mayfly/upstream': { server: 'shop' } } })
    expect(JSON.stringify(result)).not.toMatch(/secret-internal-detail|127\.0\.0\.1|503/)
  })

  it('a server that speaks another era after an update is called in that one, though it lists the same', async () => {
    const tool = { name: 'add', inputSchema: { type: 'object' } }
    const capabilities = { tools: {} }
    const serverInfo = { name: 'S', version: '1' }
    const content = [{ type: 'text', text: 'done' }]
    const modern = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
    const discovered = { supportedVersions: ['2026-07-28'], capabilities }
    const eras = {
      modern: {
        'server/discover': { ...modern, ...discovered },
        'tools/list': { ...modern, tools: [tool] },
        'tools/call': { resultType: 'complete', content },
      },
      legacy: {
        initialize: { protocolVersion: '2025-11-25', capabilities, serverInfo },
        'tools/list': { tools: [tool] },
        'tools/call': { content },
      },
    }
    let era: keyof typeof eras = 'modern'
    const origin = await startAnswering(({ method, request }) => {
      const isModern = request.headers['mcp-protocol-version'] === '2026-07-28'
      const isKnown = isModern === (era === 'modern') || method === 'initialize'
      const result = isKnown ? (eras[era] as Record<string, object>)[method] : undefined
      return result && { result }
    })
    const front = connect(
      await startGateway({ ttlMs: 1, retryMs: 1, servers: { s: { url: `${origin}/mcp` } } }),
    )
    const call = async () => (await front.callTool('front', 's_add', {})).isError === true

    for (const next of ['modern', 'legacy', 'modern'] as const) {
      era = next
      await vi.waitFor(async () => expect(await call()).toBe(false), { timeout: 5000, interval: 50 })
    }
  })

  it('a changed list is a change for those who listen', async () => {
    const { state, url } = await startFragile()
    const { names, client } = await front({ servers: { shop: { url } }, ttlMs: 1, retryMs: 1 })
    await names()
    const heard = vi.fn()
    await client.tools.onListChanged('front', heard)

    state.tools = { other: add }
    await expect
      .poll(async () => {
        await client.callTool('front', 'shop_other', { a: 1, b: 2 }).catch(() => {})
        return heard.mock.calls.length
      })
      .toBeGreaterThan(0)
  })

  it('a call reads the lists of its own server alone', async () => {
    const one = await startFragile()
    const two = await startFragile()
    const { client } = await front({ servers: { one: { url: one.url }, two: { url: two.url } } })

    await client.callTool('front', 'one_add', { a: 1, b: 2 })
    expect(two.state.seen).toEqual([])
  })
})

type Caller = { auth?: { clientId: string } | undefined }

describe('credentials', () => {
  /** Tells tokens apart, and lists a tool for the administrator alone. */
  const guarded = (): Promise<string> =>
    startMayfly({
      auth: bearer((token) => ({
        clientId: `client of ${token}`,
        scopes: token === 'far-ann' ? ['admin'] : [],
      })),
      tools: { whoami, admin: createTool({ id: 'admin', scopes: ['admin'], execute: () => 'ruled' }) },
    })
  const auth = bearer((token) => ({ clientId: token, scopes: [] }))

  it('are those of each caller, whose lists are his own, and never those of another', async () => {
    const url = await guarded()
    const token = vi.fn(
      ({ auth }: { auth?: { clientId: string } | undefined }) => auth && `far-${auth.clientId}`,
    )
    const server = await startGateway({ servers: { far: { url, token } } }, { auth })
    const [ann, bob] = [connect(server, { token: 'ann' }), connect(server, { token: 'bob' })]

    const lists = await Promise.all([ann, bob].map(async (client) => Object.keys(await client.listTools())))
    expect(lists).toEqual([['front_far_whoami', 'front_far_admin'], ['front_far_whoami']])
    const calls = Array.from({ length: 20 }, (_, index) =>
      [ann, bob][index % 2]!.callTool('front', 'far_whoami'),
    )
    const texts = (await Promise.all(calls)).map(({ content: [first] }) => (first as { text: string }).text)
    expect(new Set(texts.filter((_, index) => index % 2 === 0))).toEqual(new Set(['client of far-ann']))
    expect(new Set(texts.filter((_, index) => index % 2 === 1))).toEqual(new Set(['client of far-bob']))
    await expect(bob.callTool('front', 'far_admin')).rejects.toMatchObject({ code: 'REQUEST_FAILED' })
  })

  it('that cannot be determined are a failure of that server, for that caller', async () => {
    const url = await guarded()
    const token = ({ auth }: { auth?: { clientId: string } | undefined }): string => {
      if (auth?.clientId === 'bob') throw new Error('no token of Bob’s in the vault')
      return 'far-ann'
    }
    const server = await startGateway({ servers: { far: { url, token } } }, { auth, onError: () => {} })
    const [ann, bob] = [connect(server, { token: 'ann' }), connect(server, { token: 'bob' })]

    expect(Object.keys(await ann.listTools())).toHaveLength(2)
    expect(Object.keys(await bob.listTools())).toEqual([])
    const result = await bob.callTool('front', 'far_whoami')
    expect(result).toMatchObject({ isError: true, _meta: { 'mayfly/upstream': { server: 'far' } } })
    expect(JSON.stringify(result)).not.toContain('vault')
  })

  it('that the server refuses: the caller learns the code', async () => {
    const { state: _, url } = await startFragile({
      auth: bearer((token) => (token === 'good' ? { clientId: 'c', scopes: [] } : undefined)),
    })
    let token = 'good'
    const { client, names } = await front(
      { servers: { far: { url, token: () => token } }, ttlMs: 1_000_000 },
      { onError: () => {} },
    )
    expect(await names()).toHaveLength(1)
    token = 'bad'
    expect(await client.callTool('front', 'far_add', { a: 1, b: 2 })).toMatchObject({ isError: true })
  })

  it.each<[string, object]>([
    [
      'token that returns a function',
      {
        token:
          ({ auth }: Caller) =>
          () =>
            auth?.clientId,
      },
    ],
    ['token that returns null', { token: () => null }],
    ['token that returns an object', { token: ({ auth }: Caller) => ({ toString: () => auth?.clientId }) }],
    [
      'headers that return a Headers',
      { headers: ({ auth }: Caller) => new Headers({ 'x-tenant': auth!.clientId }) },
    ],
    ['headers that return a Map', { headers: ({ auth }: Caller) => new Map([['x-tenant', auth!.clientId]]) }],
    ['headers that return a list', { headers: ({ auth }: Caller) => [['x-tenant', auth!.clientId]] }],
    ['headers with a function', { headers: ({ auth }: Caller) => ({ 'x-tenant': () => auth?.clientId }) }],
  ])(
    'of another type are refused, since the lists of callers could not be told apart: %s',
    async (_, given) => {
      const seen: string[] = []
      const send: typeof fetch = (input, init) => {
        seen.push(String(input))
        return fetch(input, init)
      }
      const onError = vi.fn()
      const servers = { far: { url: await guarded(), fetch: send, ...given } } as GatewayOptions['servers']
      const server = await startGateway({ servers }, { auth, onError })

      expect(Object.keys(await connect(server, { token: 'ann' }).listTools())).toEqual([])
      expect(seen).toEqual([])
      expect(JSON.stringify(onError.mock.calls.map(([error]) => String(error.cause)))).toContain(
        'must return',
      )
    },
  )

  it('headers are those of each caller', async () => {
    const url = await startMayfly({
      tools: {
        tenant: createTool({
          id: 'tenant',
          execute: (_i, ctx) => ctx.request!.headers.get('x-tenant') ?? '',
        }),
      },
    })
    const headers = ({ auth }: Caller) => ({ 'x-tenant': auth!.clientId })
    const server = await startGateway({ servers: { far: { url, headers } } }, { auth })
    for (const token of ['ann', 'bob'])
      expect(await connect(server, { token }).callTool('front', 'far_tenant')).toMatchObject({
        content: [{ text: token }],
      })
  })

  it('a caller’s own token is not passed on', async () => {
    const seen: (string | null)[] = []
    const url = await startMayfly({
      tools: {
        see: createTool({
          id: 'see',
          execute: (_i, ctx) => void seen.push(ctx.request!.headers.get('authorization')),
        }),
      },
    })
    const server = await startGateway({ servers: { far: { url } } }, { auth })
    await connect(server, { token: 'ann' }).callTool('front', 'far_see')
    expect(seen).toEqual([null])
  })
})

it('scopes of the gateway protect what is behind, in lists and in calls', async () => {
  const url = await startMayfly(stock)
  const auth = bearer((token) => ({ clientId: token, scopes: token === 'ann' ? ['shop'] : [] }))
  const server = await startGateway({ servers: { shop: { url, scopes: ['shop'] } } }, { auth })
  const [ann, bob] = [connect(server, { token: 'ann' }), connect(server, { token: 'bob' })]

  expect(Object.keys(await ann.listTools())).toEqual(['front_shop_add'])
  expect(Object.keys(await bob.listTools())).toEqual([])
  expect(await bob.resources.list()).toEqual({ front: [] })
  expect(await bob.prompts.list()).toEqual({ front: [] })
  await expect(bob.callTool('front', 'shop_add', { a: 1, b: 2 })).rejects.toThrow()
  await expect(bob.resources.read('front', 'stock://all')).rejects.toThrow()
})

describe('options', () => {
  it.each([
    [{}, /servers/],
    [{ servers: {} }, /at least one/],
    [{ servers: { a: { url: 'ftp://x' } } }, /servers\.a\.url/],
    [{ servers: { a: { url: 'http://x', tokn: 'x' } } }, /tokn/],
    [{ servers: { a: { url: 'http://x', prefix: 'a b' } } }, /prefix/],
    [{ servers: { a: { url: 'http://x', scopes: 'admin' } } }, /scopes/],
    [{ servers: { a: { url: 'http://x' }, b: { url: 'http://x', prefix: '' } } }, /servers\.b or servers\.a/],
    [{ servers: { a: { url: 'http://x' }, b: { url: 'http://x', prefix: 'a_' } } }, /another "prefix"/],
    [
      {
        servers: {
          a: { url: 'http://x', prefix: 'x_y' },
          b: { url: 'http://x' },
          c: { url: 'http://x', prefix: 'x_' },
        },
      },
      /"x_y"/,
    ],
    [{ servers: { a: { url: 'http://x' } }, ttl: 1 }, /"ttl"/],
    [{ servers: { a: { url: 'http://x' } }, ttlMs: -1 }, /ttlMs/],
    [{ servers: { a: { url: 'http://x' } }, maxCallers: 0 }, /maxCallers/],
  ])('%j is refused', (options, message) => {
    expect(() => gateway(options as unknown as GatewayOptions)).toThrow(message)
  })
})
