/** Who may use what of a server that knows no scopes. */
import { Server as LowLevelV1 } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Server as LowLevelV2, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { toCaller } from '../../../src/auth/host-caller.ts'
import { bearer } from '../../../src/auth.ts'
import { type FromSdkOptions, fromSdk, type GuardedNames, type HostedServer } from '../../../src/sdk.ts'
import { type Answer, CLIENT, legacy, modern, namesIn, post } from '../_client.ts'
import { createV1, createV2 } from './_servers.ts'

const SECRET = 'the gold'

/** What it has, and one method that MCP does not. Resources are found as sloppily as by some server somewhere. */
function createShop(): McpServer {
  const server = new McpServer(
    { name: 'shop', version: '1.0.0' },
    { capabilities: { resources: { subscribe: true } } },
  )
  for (const name of ['look', 'refund']) {
    server.registerTool(name, {}, () => ({ content: [{ type: 'text', text: name }] }))
  }
  server.registerPrompt('greet', {}, () => ({ messages: [] }))
  server.registerPrompt('haggle', { argsSchema: z.object({ price: z.string() }) }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: SECRET } }],
  }))
  const contents = (uri: URL, text: string) => ({ contents: [{ uri: uri.href, text }] })
  server.registerResource('window', 'shop://window', {}, (uri) => contents(uri, 'pretty'))
  server.registerResource('till', 'vault://till', {}, (uri) => contents(uri, SECRET))
  const list = () => ({ resources: [{ uri: 'vault://safe/1', name: 'safe 1' }] })
  const complete = { id: () => [SECRET] }
  server.registerResource('safe', new ResourceTemplate('vault://safe/{id}', { list, complete }), {}, (uri) =>
    contents(uri, SECRET),
  )
  server.registerResource(
    'page',
    new ResourceTemplate('shop://pages/{+path}', { list: undefined }),
    {},
    (uri, { path }) =>
      contents(uri, new URL(String(path), 'x://shop/').pathname === '/till' ? SECRET : 'a page'),
  )
  for (const method of ['orders/list', 'orders/refund']) {
    server.server.setRequestHandler(method, { params: z.looseObject({}) }, () => ({ text: SECRET }))
  }
  return server
}

/** Some of it, as a server of SDK v1. */
function createV1Shop(): McpServerV1 {
  const server = new McpServerV1({ name: 'shop', version: '1.0.0' })
  for (const name of ['look', 'refund'])
    server.registerTool(name, {}, () => ({ content: [{ type: 'text', text: name }] }))
  server.registerTool('fails', {}, () => ({ content: [], isError: true }))
  server.registerPrompt('haggle', {}, () => ({ messages: [] }))
  const contents = (uri: URL) => ({ contents: [{ uri: uri.href, text: 'pretty' }] })
  server.registerResource('window', 'shop://window', {}, contents)
  server.registerResource('till', 'vault://till', {}, contents)
  return server
}

const INFO = { name: 'shop', version: '1.0.0' }
const TOOLS = { capabilities: { tools: {} } }

/** It has no names but in its list. */
function createLowLevel<Server extends LowLevelV1 | LowLevelV2>(server: Server, list: () => object): Server {
  const fail = () => ({ content: [{ type: 'text', text: 'Out of stock.' }], isError: true })
  if (server instanceof LowLevelV2) {
    server.setRequestHandler('tools/list', list as never)
    server.setRequestHandler('tools/call', fail as never)
  } else {
    server.setRequestHandler(ListToolsRequestSchema, list as never)
    server.setRequestHandler(CallToolRequestSchema, fail as never)
  }
  return server
}

const SCOPES: GuardedNames = {
  tools: { refund: ['orders:write'] },
  prompts: { haggle: ['orders:write'] },
  resources: {
    'vault://till': ['vault'],
    'vault://safe/{id}': ['vault', 'safe'],
    'shop://pages/till': ['vault'],
  },
  methods: { 'orders/refund': ['orders:write'] },
}

const ANONYMOUS = {
  tools: ['look'],
  prompts: ['greet'],
  resources: ['shop://window', 'shop://pages/{+path}'],
}

/** The token is the scopes it has: `a.b`. Without one the caller is anonymous. */
function createServer(options: FromSdkOptions = {}): HostedServer {
  const auth = bearer((token) => ({ clientId: token, scopes: token.split('.') }), { anonymous: ANONYMOUS })
  return fromSdk(createShop, { auth, scopes: SCOPES, methods: ['orders/list'], log: false, ...options })
}

const withToken = (token: string | undefined) =>
  token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }

const ask = (
  token: string | undefined,
  method: string,
  params = {},
  server = createServer(),
): Promise<Answer> => modern(server, method, params, withToken(token))

/** Without the headers of the modern era, in which not every URI can be written. */
const askLegacy = (token: string | undefined, method: string, params: object): Promise<Answer> =>
  legacy(createServer(), method, params as never, withToken(token))

const complete = (ref: object) => ({ ref, argument: { name: 'id', value: '' } })
const safe = { type: 'ref/resource', uri: 'vault://safe/{id}' }
const haggle = { type: 'ref/prompt', name: 'haggle' }
const listen = (...uris: string[]) => ({ notifications: { resourceSubscriptions: uris } })

/** Methods, what they name, and the scopes that it takes. */
const GUARDED: readonly (readonly [method: string, params: object, scopes: string])[] = [
  ['tools/call', { name: 'refund' }, 'orders:write'],
  ['prompts/get', { name: 'haggle', arguments: { price: '1' } }, 'orders:write'],
  ['resources/read', { uri: 'vault://till' }, 'vault'],
  ['resources/read', { uri: 'vault://safe/1' }, 'vault safe'],
  ['resources/subscribe', { uri: 'vault://safe/1' }, 'vault safe'],
  ['resources/unsubscribe', { uri: 'vault://till' }, 'vault'],
  ['completion/complete', complete(safe), 'vault safe'],
  ['completion/complete', complete(haggle), 'orders:write'],
  ['completion/complete', complete({ type: 'ref/resource', uri: 'vault://till' }), 'vault'],
  ['subscriptions/listen', listen('shop://window', 'vault://till'), 'vault'],
  ['subscriptions/listen', listen('vault://safe/7'), 'vault safe'],
  ['orders/refund', {}, 'orders:write'],
]

/** Other spellings of what is guarded, each of them a URI in its normal form. */
const ALIKE = [
  'vault://TILL',
  'vault://till/',
  'vault://till//',
  'vault:///till',
  'vault://till#',
  'vault://till#part',
  'vault://till?',
  'vault://till?x=1',
  'vault://safe/1/',
  'vault://safe/a%2Fb',
  'vault://safe/1?x=1',
  'vault://safe/1#x',
  'vault://safe/1,2',
  'vault://SAFE/1',
  'vault://safe/',
  'shop://pages//till',
  'shop://pages/x//pages/till',
  'vault://x/%2Ftill',
  'vault://x//till',
  'vault:///srv/x/till',
  'vault:////srv/x/till',
  'vault://C:till',
  'shop://pages//srv/x/till',
  'shop://pages/file:till',
  'vault://x/%5C%5Ctill',
  'vault://till.',
  'vault://till::$DATA',
  'vault://till%2F::$DATA',
  'vault://safe./1.',
  'shop://a//b//c//d//e',
  `vault://till${'%CC%81'.repeat(31)}`,
  'shop://pages/till?x',
]

/** Spellings that are not. */
const CROOKED = [
  'VAULT://till',
  'Vault://till',
  'vault://till\n',
  ' vault://till',
  'va\tult://till',
  'vault://%74ill',
  'vault://%2574ill',
  'vault://./till',
  'vault://x/../till',
  'vault://x/%2e%2e/till',
  'vault://x/%252e%252e/till',
  'vault://x%2f..%2ftill',
  'vault://x%2F..%2Ftill',
  'vault://x\\..\\till',
  'vault://x%5C..%5Ctill',
  'vault://ｔｉｌｌ',
  'vault://%EF%BD%94ill/..%EF%BC%8Ftill',
  'vault://till%00',
  'vault://till%0a',
  'vault://till%0A',
  'vault://safe/../safe/1',
  'vault://safe/%31',
  'vault://safe/..',
  'shop://pages/x/../till',
  'shop://pages/%74ill',
]

const SPELLINGS = [...ALIKE, ...CROOKED]

describe('a caller with a token', () => {
  it.each(GUARDED)(
    '%s %j without its scopes → 403 that names %s [guarded.scopes]',
    async (method, params, scopes) => {
      const { status, headers, message } = await ask('none', method, params)
      expect(status).toBe(403)
      expect(headers.get('www-authenticate')).toContain(`scope="${scopes}"`)
      expect(JSON.stringify(message)).not.toContain(SECRET)
    },
  )

  it.each(GUARDED.filter(([method]) => !/subscribe|listen/.test(method)))(
    '%s %j with its scopes is served [guarded.scopes]',
    async (method, params, scopes) => {
      const { status, error } = await ask(scopes.replaceAll(' ', '.'), method, params)
      expect([status, error]).toEqual([200, undefined])
    },
  )

  it.each(['vault', 'safe'])('one of two scopes (%s) is not enough [guarded.scopes]', async (scope) => {
    expect((await ask(scope, 'resources/read', { uri: 'vault://safe/1' })).status).toBe(403)
  })

  it('a URI that is a key itself needs what that key says, whatever templates say [guarded.scopes]', async () => {
    const resources = { 'vault://{+any}': ['admin'], 'vault://till': [], 'vault://safe/{id}': ['safe'] }
    const server = createServer({ scopes: { resources } })
    expect((await ask('none', 'resources/read', { uri: 'vault://till' }, server)).error).toBeUndefined()
    const { headers } = await ask('none', 'resources/read', { uri: 'vault://safe/1' }, server)
    expect(headers.get('www-authenticate')).toContain('scope="admin safe"')
    // Spelled otherwise it may be another one.
    expect((await ask('none', 'resources/read', { uri: 'vault://TILL' }, server)).status).toBe(403)
  })

  it('what no scope is written for is open to every token [guarded.scopes]', async () => {
    for (const [method, params] of [
      ['tools/call', { name: 'look' }],
      ['prompts/get', { name: 'greet' }],
      ['resources/read', { uri: 'shop://window' }],
      ['resources/read', { uri: 'shop://pages/a/b' }],
      ['orders/list', {}],
    ] as const) {
      expect((await ask('none', method, params)).error).toBeUndefined()
    }
  })

  it.each(SPELLINGS)('%j is no way around a scope [guarded.spelling]', async (uri) => {
    for (const [method, params] of [
      ['resources/read', { uri }],
      ['resources/subscribe', { uri }],
      ['subscriptions/listen', listen(uri)],
      ['completion/complete', complete({ type: 'ref/resource', uri })],
    ] as const) {
      const era = method === 'subscriptions/listen' ? ask : askLegacy
      const { status, error, result } = await era('none', method, params)
      expect(result, method).toBeUndefined()
      expect(status === 403 || error?.code === -32602, method).toBe(true)
    }
  })

  it.each(CROOKED)(
    '%j is refused even with every scope: nobody can tell what it names [guarded.spelling]',
    async (uri) => {
      const { error } = await askLegacy('vault.safe', 'resources/read', { uri })
      expect(error).toMatchObject({ code: -32602, data: { uri } })
    },
  )

  it.each([
    'https://docs.example',
    'https://docs.example/',
    'https://docs.example/a%20b?x=%C3%A9#c',
    'file:///home/user/a.txt',
    'urn:isbn:0451450523',
    'mailto:ann@docs.example',
    'ui://widget/index.html',
    'git+ssh://host/x',
    'notes://100%25',
    'notes://Name',
    'data:,',
  ])('%j is written plainly, and left to the server [guarded.spelling]', async (uri) => {
    // Unknown to it: a refusal of ours would have no such text.
    expect((await askLegacy('none', 'resources/read', { uri })).error?.message).toMatch(/not found/i)
  })

  it.each(['no scheme', 'notes://x|y', 'notes://é', 'notes://a b', 'https://HOST/', 'https://host:443/'])(
    '%j is not → -32602 [guarded.spelling]',
    async (uri) => {
      const { error } = await askLegacy('none', 'resources/read', { uri })
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringContaining('normal form'),
        data: { uri },
      })
    },
  )

  it('a URI of 8192 characters is left to the server, a longer one is -32602 [guarded.spelling]', async () => {
    const read = (length: number) =>
      askLegacy('none', 'resources/read', { uri: 'notes://'.padEnd(length, 'x') })
    expect((await read(8192)).error?.message).toMatch(/not found|exceeds/i)
    expect((await read(8193)).error).toMatchObject({ code: -32602, message: expect.stringContaining('8192') })
  })

  it('without scopes of resources, URIs are the server’s alone [guarded.spelling]', async () => {
    const server = createServer({ scopes: { tools: {} } })
    expect(
      (await ask('none', 'resources/read', { uri: 'VAULT://till' }, server)).result?.contents,
    ).toMatchObject([{ text: SECRET }])
  })

  it.each([
    ['tools/call', { name: ['refund'] }],
    ['tools/call', {}],
    ['prompts/get', { name: { toString: 'haggle' } }],
    ['resources/read', { uri: ['vault://till'] }],
    ['completion/complete', {}],
    ['completion/complete', complete({ type: 'ref/other', name: 'haggle' })],
    ['completion/complete', complete({ type: 'ref/resource', uri: 5 })],
    ['completion/complete', { ref: 'vault://till' }],
    ['subscriptions/listen', {}],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: 'vault://till' } }],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: [['vault://till']] } }],
  ])('%s %j names nothing → -32602, before a server is made [guarded.malformed]', async (method, params) => {
    const factory = vi.fn(createShop)
    const auth = bearer((token) => ({ clientId: token, scopes: [] }))
    const { error } = await ask(
      'none',
      method,
      params,
      fromSdk(factory, { auth, scopes: SCOPES, log: false }),
    )
    expect(error?.code).toBe(-32602)
    expect(factory).not.toHaveBeenCalled()
  })

  it('lists hide what it may not use, templates and what they list as well [guarded.lists]', async () => {
    const seen = async (token: string) => ({
      tools: namesIn(await ask(token, 'tools/list')),
      prompts: namesIn(await ask(token, 'prompts/list'), 'prompts'),
      resources: namesIn(await ask(token, 'resources/list'), 'resources', 'uri'),
      templates: namesIn(await ask(token, 'resources/templates/list'), 'resourceTemplates', 'uriTemplate'),
    })
    expect(await seen('none')).toEqual({
      tools: ['look'],
      prompts: ['greet'],
      resources: ['shop://window'],
      templates: ['shop://pages/{+path}'],
    })
    expect(await seen('vault.safe.orders:write')).toEqual({
      tools: ['look', 'refund'],
      prompts: ['greet', 'haggle'],
      resources: ['shop://window', 'vault://till', 'vault://safe/1'],
      templates: ['vault://safe/{id}', 'shop://pages/{+path}'],
    })
  })

  it('a list that the server calls public is private: another caller may see another one [guarded.lists]', async () => {
    const auth = bearer((token) => ({ clientId: token, scopes: [] }))
    const createPublic = () => {
      const shop = createShop()
      shop.server.setRequestHandler('tools/list', () => ({ tools: [], ttlMs: 60_000, cacheScope: 'public' }))
      return shop
    }
    const guarded = fromSdk(createPublic, { auth, scopes: SCOPES, log: false })
    expect((await ask('none', 'tools/list', {}, guarded)).result?.cacheScope).toBe('private')
    const open = fromSdk(createPublic, { log: false })
    expect((await ask(undefined, 'tools/list', {}, open)).result?.cacheScope).toBe('public')
  })

  it('a template that names its variables otherwise is hidden all the same [guarded.lists]', async () => {
    const server = createServer({ scopes: { resources: { 'vault://safe/{number}': ['vault'] } } })
    const templates = namesIn(await ask('none', 'resources/templates/list', {}, server), 'resourceTemplates')
    expect(templates).toEqual(['page'])
    expect((await ask('none', 'completion/complete', complete(safe), server)).status).toBe(403)
  })
})

it('lists are private, though their server calls them public: they depend on the caller [guarded.lists]', async () => {
  const hint = { ttlMs: 60_000, cacheScope: 'public' as const }
  const methods = [
    'tools/list',
    'prompts/list',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'server/discover',
  ] as const
  const cacheHints = Object.fromEntries(methods.map((method) => [method, hint]))
  const make = () => {
    const shop = new McpServer({ name: 'shop', version: '1.0.0' }, { cacheHints })
    shop.registerTool('look', {}, () => ({ content: [] }))
    shop.registerPrompt('greet', {}, () => ({ messages: [] }))
    shop.registerResource('window', 'shop://window', {}, (uri) => ({
      contents: [{ uri: uri.href, text: '' }],
    }))
    return shop
  }
  const auth = bearer((token) => ({ clientId: token, scopes: [] }))
  for (const [server, scope] of [
    [fromSdk(make, { log: false, auth }), 'private'],
    // Without auth they are everybody's.
    [fromSdk(make, { log: false }), 'public'],
  ] as const) {
    for (const method of methods) {
      const params = method === 'resources/read' ? { uri: 'shop://window' } : {}
      const { result } = await modern(server, method, params, { headers: { authorization: 'Bearer ann' } })
      expect([method, result?.cacheScope]).toEqual([method, scope])
    }
  }
})

describe.each([
  ['v1', createV1, [legacy]],
  ['v2', createV2, [modern, legacy]],
] as const)('the instructions of SDK %s', (_sdk, make, eras) => {
  const read = async (options: FromSdkOptions, headers = {}) => {
    const server = fromSdk(make as never, { log: false, ...options })
    return Promise.all(
      eras.map(async (era) => {
        const isLegacy = era === legacy
        const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT }
        const { result } = await (isLegacy
          ? era(server, 'initialize', params, { headers })
          : era(server, 'server/discover', {}, { headers }))
        expect(result?.capabilities).toBeDefined()
        return result?.instructions
      }),
    )
  }
  const auth = bearer((token) => ({ clientId: token, scopes: [] }), { anonymous: { tools: ['add'] } })
  const told = eras.map(() => 'Be brief.')

  it('are not for callers whom nobody knows, as they may name what is closed [guarded.hidden]', async () => {
    const hidden = eras.map(() => undefined)
    expect(await read({ auth })).toEqual(hidden)
    expect(await read({ auth: 'host', scopes: { tools: { wait: ['wait'] } } })).toEqual(hidden)
  })

  it('are for all others [guarded.hidden]', async () => {
    expect(await read({ auth }, { authorization: 'Bearer ann' })).toEqual(told)
    expect(await read({ auth: 'host' })).toEqual(told)
    expect(await read({})).toEqual(told)
  })
})

/** Each a message about what is closed, and the same about what does not exist. */
const HIDDEN = [
  ['tools/call', { name: 'refund', arguments: {} }, { name: 'unknow', arguments: {} }],
  ['prompts/get', { name: 'haggle' }, { name: 'unknow' }],
  ['resources/read', { uri: 'vault://till' }, { uri: 'notes://none' }],
  ['resources/subscribe', { uri: 'vault://till' }, { uri: 'notes://none' }],
  ['resources/unsubscribe', { uri: 'vault://till' }, { uri: 'notes://none' }],
  ['subscriptions/listen', listen('vault://till'), listen('notes://none')],
  ['completion/complete', complete(haggle), complete({ type: 'ref/prompt', name: 'unknow' })],
  ['orders/refund', {}, {}],
] as const

it('a caller that the host does not name subscribes to what is opened by its own key [guarded.hidden]', async () => {
  const scopes = { resources: { ...SCOPES.resources, 'shop://window': [] } }
  const server = fromSdk(createShop, { log: false, auth: 'host', scopes })
  const headers = { accept: 'application/json' }
  const { status } = await modern(server, 'subscriptions/listen', listen('shop://window'), { headers })
  expect(status).toBe(200)
})

it('a key covers what a variable may resolve to from the third slash on, unless that is a key itself [guarded.spelling]', async () => {
  const read = async (resources: GuardedNames['resources'], uri: string) => {
    const auth = bearer((token) => ({ clientId: token, scopes: [] }))
    const server = fromSdk(createShop, { log: false, auth, scopes: { resources: resources ?? {} } })
    return (await ask('none', 'resources/read', { uri }, server)).status
  }
  const closed = { 'docs:///index.md': ['docs'] }
  expect(await read(closed, 'docs:///guide/index.md')).toBe(403)
  expect(await read({ ...closed, 'docs:///guide/index.md': [] }, 'docs:///guide/index.md')).not.toBe(403)
})

describe.each([
  ['v1', createV1Shop],
  ['v2', createShop],
] as const)('a caller that the host does not name, SDK %s', (sdk, factory) => {
  const server = fromSdk(factory as never, { log: false, auth: 'host', scopes: SCOPES })

  it.each(HIDDEN)(
    '%s: closed and absent are answered alike [guarded.hidden]',
    async (method, closed, absent) => {
      const eras = sdk === 'v1' ? [legacy] : [modern, legacy]
      for (const era of eras) {
        const said = async (asked: string, params: object) => {
          const { status, headers, message } = await era(server, asked, params as never)
          const text = JSON.stringify(message).replaceAll(
            /refund|haggle|unknow\b|vault:..till|notes:..none/g,
            'it',
          )
          return { status, challenge: headers.get('www-authenticate'), text }
        }
        const answer = await said(method, closed)
        expect(answer.status).toBe(401)
        expect(await said(method === 'orders/refund' ? 'orders/unknow' : method, absent)).toEqual(answer)
      }
    },
  )

  it('what is open is served, with its own errors [guarded.hidden]', async () => {
    expect((await legacy(server, 'tools/call', { name: 'look', arguments: {} })).result).toBeDefined()
    if (sdk === 'v1')
      expect((await legacy(server, 'tools/call', { name: 'fails', arguments: {} })).result).toMatchObject({
        isError: true,
      })
    expect((await legacy(server, 'resources/read', { uri: 'shop://window' })).result).toBeDefined()
  })
})

describe.each([
  ['v1', (list: () => object) => createLowLevel(new LowLevelV1(INFO, TOOLS), list)],
  ['v2', (list: () => object) => createLowLevel(new LowLevelV2(INFO, TOOLS), list)],
])('a low-level server of SDK %s, which nobody has listed yet', (sdk, make) => {
  const eras = sdk === 'v1' ? [legacy] : [legacy, modern]
  const scopes = { tools: { refund: ['orders:write'] } }
  const fails = { name: 'fails', arguments: { secret: 1 } }
  const serve = (list: () => object, options: FromSdkOptions = { auth: 'host', scopes }) =>
    fromSdk((() => make(list)) as never, { log: false, ...options })
  const paged = (...pages: string[][]) => {
    let asked = 0
    return () => {
      const names = pages[asked++ % pages.length]!
      const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }))
      return { tools, ...(asked % pages.length > 0 && { nextCursor: String(asked) }) }
    }
  }

  it.each([
    ['auth: "host"', undefined],
    ['anonymous', { auth: bearer(() => undefined, { anonymous: { tools: ['fails'] } }) }],
  ])(
    '%s: the errors of its own tools reach a caller that nobody knows [guarded.hidden]',
    async (_how, options) => {
      for (const era of eras) {
        const server = serve(paged(['look', 'refund'], ['fails']), options)
        const { status, result } = await era(server, 'tools/call', fails)
        expect([status, result]).toEqual([200, expect.objectContaining({ isError: true })])
      }
    },
  )

  it('what it does not list is answered as what is closed, also if it cannot list [guarded.hidden]', async () => {
    const broken = () => {
      throw new Error('no list today')
    }
    const endless = () => ({ tools: [], nextCursor: 'more' })
    for (const era of eras)
      for (const list of [paged(['look'], ['refund']), broken, endless])
        expect((await era(serve(list), 'tools/call', fails)).status).toBe(401)
  })

  it('a list that never ends has the time of the call [guarded.hidden]', async () => {
    const server = serve(() => new Promise(() => {}), { auth: 'host', scopes, http: { maxCallMs: 200 } })
    for (const era of eras) expect((await era(server, 'tools/call', fails)).error?.code).toBe(-32603)
  })
})

it.each([
  ['v1', McpServerV1, legacy],
  ['v2', McpServer, modern],
] as const)(
  'SDK %s: what the server has for one caller alone does not exist for a caller that the host does not name, whoever called first [guarded.hidden]',
  async (_sdk, Server, era) => {
    const factory = ({ authInfo }: { readonly authInfo?: { readonly scopes: readonly string[] } }) => {
      const server = new Server(INFO) as McpServer
      for (const name of ['refund', ...(authInfo?.scopes ?? [])])
        server.registerTool(name, {}, () => ({ content: [] }))
      return server
    }
    const scopes = { tools: { refund: ['orders'] } }
    const server = fromSdk(factory as never, { log: false, auth: 'host', scopes })
    const ann = await toCaller({ token: 'of ann', clientId: 'ann', scopes: ['orders', 'salaries'] })
    const caller = { platform: { caller: ann! } }
    expect(namesIn(await era(server, 'tools/list', {}, caller))).toContain('salaries')
    const said = async (name: string) => {
      const { status, message } = await era(server, 'tools/call', { name, arguments: {} })
      return [status, JSON.stringify(message).replaceAll(name, 'it')]
    }
    const absent = await said('unknown')
    expect(absent[0]).toBe(401)
    expect(await said('salaries')).toEqual(absent)
  },
)

describe('an anonymous caller', () => {
  it.each([
    ['tools/call', { name: 'look' }],
    ['prompts/get', { name: 'greet' }],
    ['resources/read', { uri: 'shop://window' }],
    ['completion/complete', complete({ type: 'ref/prompt', name: 'greet' })],
  ])('%s %j, which is in the subset, is served [guarded.anonymous]', async (method, params) => {
    const { status, result } = await ask(undefined, method, params)
    expect([status, result === undefined]).toEqual([200, false])
  })

  it.each([
    ...GUARDED.map(([method, params]) => [method, params] as const),
    ['tools/call', { name: 'unknown' }],
    ['prompts/get', { name: 'unknown' }],
    ['resources/read', { uri: 'notes://unknown' }],
    ['resources/subscribe', { uri: 'notes://unknown' }],
    ['resources/unsubscribe', { uri: 'notes://unknown' }],
    ['subscriptions/listen', listen('notes://unknown')],
    ['completion/complete', complete({ type: 'ref/resource', uri: 'notes://{unknown}' })],
    ['orders/list', {}],
    ['tasks/list', {}],
    ['tasks/result', { taskId: 'x' }],
    ['constructor', {}],
    ['Tools/Call', { name: 'look' }],
  ] as const)('%s %j → 401, with the way to a token [guarded.anonymous]', async (method, params) => {
    const { status, headers, message } = await ask(undefined, method, params)
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toContain('/.well-known/oauth-protected-resource/mcp')
    expect(JSON.stringify(message)).not.toContain(SECRET)
  })

  it.each(SPELLINGS)('%j opens nothing [guarded.anonymous]', async (uri) => {
    const { result } = await askLegacy(undefined, 'resources/read', { uri })
    expect(result).toBeUndefined()
  })

  it.each([
    'initialize',
    'ping',
    'logging/setLevel',
    'tools/list',
    'prompts/list',
    'resources/list',
    'resources/templates/list',
  ])('%s is open, as it tells nothing that is not [guarded.anonymous]', async (method) => {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
      level: 'info',
    }
    const { status } = await legacy(createServer(), method, params)
    expect(status).toBe(200)
  })

  it('discovery and change notifications of lists are open [guarded.anonymous]', async () => {
    const server = createServer({ http: { maxListenMs: 50 } })
    expect((await ask(undefined, 'server/discover', {}, server)).status).toBe(200)
    const notifications = { toolsListChanged: true }
    expect((await ask(undefined, 'subscriptions/listen', { notifications }, server)).status).toBe(200)
  })

  it.each(['initialized', 'cancelled', 'progress', 'roots/list_changed'])(
    'the notification %s is taken [guarded.anonymous]',
    async (name) => {
      const message = {
        jsonrpc: '2.0',
        method: `notifications/${name}`,
        params: { requestId: 1, progressToken: 1, progress: 1 },
      }
      expect((await createServer().fetch(post(message))).status).toBe(202)
    },
  )

  it.each(['orders/refund', 'tools/call', 'notifications/orders'])(
    'the notification %s is refused [guarded.anonymous]',
    async (method) => {
      const message = { jsonrpc: '2.0', method, params: { name: 'refund' } }
      expect((await createServer().fetch(post(message))).status).toBe(401)
    },
  )

  it('sees the subset in lists, and nothing else [guarded.anonymous]', async () => {
    expect(namesIn(await ask(undefined, 'tools/list'))).toEqual(['look'])
    expect(namesIn(await ask(undefined, 'prompts/list'), 'prompts')).toEqual(['greet'])
    expect(namesIn(await ask(undefined, 'resources/list'), 'resources', 'uri')).toEqual(['shop://window'])
    const templates = await ask(undefined, 'resources/templates/list')
    expect(namesIn(templates, 'resourceTemplates', 'uriTemplate')).toEqual(['shop://pages/{+path}'])
  })

  it('a template of the subset opens what it matches once it is a key, but for what another key keeps [guarded.anonymous]', async () => {
    const resources = {
      'shop://pages/{+path}': [],
      'shop://pages/private/{name}': ['vault'],
      'shop://pages/till': ['vault'],
    }
    const server = createServer({ scopes: { resources } })
    const read = (uri: string) => ask(undefined, 'resources/read', { uri }, server)
    expect((await read('shop://pages/a/b')).result?.contents).toMatchObject([{ text: 'a page' }])
    expect((await read('shop://pages/')).status).toBe(401)
    expect((await read('shop://pages/a?b')).status).toBe(401)
    expect((await read('shop://pages/private/1')).status).toBe(401)
    expect((await read('shop://pages/till')).status).toBe(401)
    expect((await read('shop://pages/x/../till')).result).toBeUndefined()
  })
})

describe('what no scopes can be read from', () => {
  it.each([
    [{ tools: { refund: 'write' } }, 'scopes.tools'],
    [{ methods: { 'orders/list': [1] } }, 'scopes.methods'],
    [{ resources: { 'vault://{id': ['vault'] } }, 'vault://{id'],
    [{ resources: { 'vault://{!id}': ['vault'] } }, 'vault://{!id}'],
  ])('%j → TypeError that names it [guarded.config]', (scopes, named) => {
    expect(() => createServer({ scopes: scopes as never })).toThrow(TypeError)
    expect(() => createServer({ scopes: scopes as never })).toThrow(named)
  })

  it('scopes without a way to know callers → TypeError that says what to add [guarded.config]', () => {
    expect(() => fromSdk(createShop, { scopes: SCOPES })).toThrow(
      /^Tool "refund" needs the scope orders:write, but .* set "auth", or auth: "host" .* trustedTransport: true/,
    )
    expect(() => fromSdk(createShop, { scopes: { methods: { 'shop/audit': ['audit'] } } })).toThrow(
      'Method "shop/audit"',
    )
  })

  it('on a trusted transport scopes are no guard [guarded.config]', async () => {
    const server = fromSdk(createShop, { scopes: SCOPES, trustedTransport: true, log: false })
    expect((await modern(server, 'resources/read', { uri: 'vault://till' })).result?.contents).toMatchObject([
      { text: SECRET },
    ])
  })
})
