import { describe, expect, it } from 'vitest'
import { toCaller } from '../../src/auth/host-caller.ts'
import { bearer } from '../../src/auth.ts'
import { gateway } from '../../src/gateway.ts'
import {
  createMemoryBus,
  createPrompt,
  createResource,
  createTool,
  ErrorCode,
  type MCPServerConfig,
} from '../../src/index.ts'
import {
  callTool,
  createServer,
  legacyRequest,
  META,
  modern,
  modernRequest,
  post,
  send,
  VERSION,
} from './_client.ts'

const everything: Partial<MCPServerConfig> = {
  tools: { t: createTool({ id: 't', execute: () => 'ok' }) },
  prompts: { p: createPrompt({ complete: { a: () => [] }, get: () => 'ok' }) },
  resources: [
    createResource({ uri: 'a://1', read: () => 'ok' }),
    createResource({ uriTemplate: 'a://t/{id}', complete: { id: () => ['1'] }, read: () => 'ok' }),
  ],
}

const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'server/discover']

/** Every method of the modern era, with parameters that it serves. */
const SERVED: [string, object][] = [
  ...LISTS.map((method): [string, object] => [method, {}]),
  ['tools/call', { name: 't' }],
  ['prompts/get', { name: 'p' }],
  ['resources/read', { uri: 'a://1' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }],
  ['subscriptions/listen', { notifications: {} }],
]

describe('server/discover', () => {
  it('versions, capabilities, instructions, identity [modern.discover]', async () => {
    const server = createServer({
      ...everything,
      title: 'A test',
      description: 'For tests',
      instructions: 'Be brief.',
      websiteUrl: 'https://mcp.example',
      icons: [{ src: 'data:,' }],
    })
    expect((await modern(server, 'server/discover')).result).toEqual({
      resultType: 'complete',
      supportedVersions: [VERSION],
      capabilities: { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} },
      instructions: 'Be brief.',
      ttlMs: 60_000,
      cacheScope: 'public',
      _meta: {
        [META.serverInfo]: {
          name: 'Test',
          version: '1.0.0',
          title: 'A test',
          description: 'For tests',
          websiteUrl: 'https://mcp.example',
          icons: [{ src: 'data:,' }],
        },
      },
    })
  })

  it('advertises nothing it has nothing for [modern.discover]', async () => {
    const { result } = await modern(createServer(), 'server/discover')
    expect(result?.capabilities).toEqual({ logging: {} })
    expect(result).not.toHaveProperty('instructions')
  })

  it('with a bus → listChanged and subscribe [modern.discover]', async () => {
    const { result } = await modern(
      createServer({ ...everything, bus: createMemoryBus() }),
      'server/discover',
    )
    expect(result?.capabilities).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    })
  })

  it.each([
    ['the platform cannot stream', { platform: { canStream: false } }],
    ['the client takes only JSON', { headers: { accept: 'application/json' } }],
  ])('where %s → neither those nor logging [modern.discover]', async (_kind, options) => {
    const server = createServer({ ...everything, bus: createMemoryBus() })
    expect((await modern(server, 'server/discover', {}, options)).result?.capabilities).toEqual({
      tools: {},
      prompts: {},
      resources: {},
      completions: {},
    })
  })
})

describe('every result', () => {
  it.each(SERVED)('%s carries resultType and serverInfo [modern.result]', async (method, params) => {
    const answer = await modern(createServer(everything), method, { ...params })
    expect(answer.status).toBe(200)
    expect(answer.message).toMatchObject({ jsonrpc: '2.0', id: 1 })
    expect(answer.result).toMatchObject({
      resultType: 'complete',
      _meta: { [META.serverInfo]: { name: 'Test', version: '1.0.0' } },
    })
  })

  it.each([0, -7, 'a', '', Number.MAX_SAFE_INTEGER])('answers the id %j as it came', async (id) => {
    expect((await modern(createServer(everything), 'tools/list', {}, { id })).message?.id).toBe(id)
  })

  it('is of one request alone: nothing of an earlier one is assumed [modern.stateless]', async () => {
    const who = createTool({ id: 'who', execute: (_input, ctx) => ctx.clientInfo?.name ?? 'nobody' })
    const server = createServer({ tools: { who } })
    await callTool(server, 'who')
    const anonymous = await callTool(server, 'who', {}, { meta: { [META.clientInfo]: undefined } })
    expect(anonymous.result).toMatchObject({ content: [{ text: 'nobody' }] })
  })

  it('ignores Mcp-Session-Id and Last-Event-ID, and mints none [modern.stateless]', async () => {
    const headers = { 'mcp-session-id': 'from-elsewhere', 'last-event-id': '7' }
    const answer = await modern(createServer(everything), 'tools/call', { name: 't' }, { headers })
    expect(answer.status).toBe(200)
    expect(answer.headers.has('mcp-session-id')).toBe(false)
  })
})

describe('caching', () => {
  const hints = async (config: Partial<MCPServerConfig>, method: string, params = {}) => {
    const { result } = await modern(createServer({ ...everything, ...config }), method, params)
    return [result?.ttlMs, result?.cacheScope]
  }

  it.each(LISTS)('%s → a minute, public [modern.cache]', async (method) => {
    expect(await hints({}, method)).toEqual([60_000, 'public'])
  })

  it.each(LISTS)('%s with a setup → private [modern.cache]', async (method) => {
    expect(await hints({ setup: () => undefined }, method)).toEqual([60_000, 'private'])
  })

  it.each(LISTS)('%s as configured [modern.cache]', async (method) => {
    expect(await hints({ cache: { ttlMs: 0, scope: 'private' } }, method)).toEqual([0, 'private'])
    expect(await hints({ cache: { scope: 'public' } }, method)).toEqual([60_000, 'public'])
  })

  const listResources = () => []
  it.each<[string, Partial<MCPServerConfig>]>([
    ['"auth"', { auth: bearer(() => ({ clientId: 'desk', scopes: [] })) }],
    ['"auth"', { auth: 'host' }],
    ['"setup"', { setup: () => undefined }],
    ['"gateway"', { gateway: gateway({ servers: { shop: { url: 'https://shop.example/mcp' } } }) }],
    ['the callbacks of "resources"', { resources: { listResources, getResourceContent: () => '' } }],
    ['the callbacks of "prompts"', { prompts: { listPrompts: () => [], getPromptMessages: () => '' } }],
  ])(
    'public with %s → TypeError: the lists of one caller would be for all [modern.cache]',
    (what, config) => {
      expect(() => createServer({ ...config, cache: { scope: 'public' } })).toThrow(
        `With ${what}, "cache.scope" cannot be "public"`,
      )
    },
  )

  it.each(LISTS)(
    '%s for a caller that the host names → private, whatever is set [modern.cache]',
    async (method) => {
      const server = createServer({ ...everything, trustedTransport: true, cache: { scope: 'public' } })
      const caller = await toCaller({ clientId: 'desk', scopes: [] })
      const { result } = await modern(server, method, {}, { platform: { caller: caller! } })
      expect(result?.cacheScope).toBe('private')
    },
  )

  it('what callbacks list → private, as they know who asks [modern.cache]', async () => {
    const config: Partial<MCPServerConfig> = {
      resources: { listResources: () => [], getResourceContent: () => '' },
      prompts: { listPrompts: () => [], getPromptMessages: () => '' },
    }
    expect(await hints(config, 'resources/list')).toEqual([60_000, 'private'])
    expect(await hints(config, 'resources/templates/list')).toEqual([60_000, 'private'])
    expect(await hints(config, 'prompts/list')).toEqual([60_000, 'private'])
    expect(await hints(config, 'tools/list')).toEqual([60_000, 'public'])
  })

  it('a resource → private and stale at once [modern.cache]', async () => {
    expect(await hints({}, 'resources/read', { uri: 'a://1' })).toEqual([0, 'private'])
  })

  it.each([
    ['tools/call', { name: 't' }],
    ['prompts/get', { name: 'p' }],
  ])('%s is not cacheable: no hints [modern.cache]', async (method, params) => {
    expect(await hints({}, method, params)).toEqual([undefined, undefined])
  })
})

describe('the envelope', () => {
  const refusedWith = async (meta: object | undefined) => {
    const params = meta === undefined ? {} : { _meta: meta }
    const headers = { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/list' }
    const body = { jsonrpc: '2.0', id: 7, method: 'tools/list', params }
    return send(createServer(everything), post(body, { headers }))
  }

  const whole = { [META.protocolVersion]: VERSION, [META.clientCapabilities]: {} }

  it.each([
    ['no _meta', undefined],
    ['a _meta that is a list', []],
    ['no version', { [META.clientCapabilities]: {} }],
    ['no capabilities', { [META.protocolVersion]: VERSION }],
    ['a version that is no string', { ...whole, [META.protocolVersion]: 20 }],
    ['capabilities that are a list', { ...whole, [META.clientCapabilities]: [] }],
    ['a capability that is no object', { ...whole, [META.clientCapabilities]: { sampling: true } }],
    ['a clientInfo without version', { ...whole, [META.clientInfo]: { name: 'x' } }],
    ['a clientInfo that is text', { ...whole, [META.clientInfo]: 'x' }],
  ])('with %s → -32602 with status 400 [modern.envelope]', async (_kind, meta) => {
    const { status, error, message } = await refusedWith(meta)
    expect([status, error?.code, message?.id]).toEqual([400, ErrorCode.invalidParams, 7])
  })

  it('without clientInfo → served [modern.envelope]', async () => {
    expect((await refusedWith(whole)).status).toBe(200)
  })

  it.each([true, 1.5, null, {}])(
    'with the progressToken %j → -32602 [modern.envelope] [malformed.params]',
    async (progressToken) => {
      const { error } = await modern(createServer(everything), 'tools/list', {}, { meta: { progressToken } })
      expect(error?.code).toBe(ErrorCode.invalidParams)
    },
  )
})

describe('versions', () => {
  it.each(['2027-01-01', '1900-01-01', '2025-11-25', 'latest', ''])(
    '%j in body and header → -32022, supported and requested [modern.version]',
    async (version) => {
      const { status, error } = await modern(
        createServer(everything),
        'tools/list',
        {},
        {
          meta: { [META.protocolVersion]: version },
          headers: { 'mcp-protocol-version': version },
        },
      )
      expect(status).toBe(400)
      const supported = expect.arrayContaining([VERSION])
      expect(error).toMatchObject({ code: -32_022, data: { requested: version, supported } })
    },
  )

  it('unsupported outranks what else is wrong with the headers [modern.version]', async () => {
    const { error } = await modern(
      createServer(everything),
      'tools/list',
      {},
      {
        meta: { [META.protocolVersion]: '2027-01-01' },
        headers: { 'mcp-protocol-version': '2027-01-01', 'mcp-method': 'wrong' },
      },
    )
    expect(error?.code).toBe(-32_022)
  })

  it('one endpoint serves both eras, request by request [modern.stateless]', async () => {
    const server = createServer(everything)
    const [modernAnswer, legacyAnswer] = await Promise.all([
      send(server, modernRequest('tools/list')),
      send(server, legacyRequest('tools/list')),
    ])
    expect(modernAnswer.result).toHaveProperty('resultType')
    expect(legacyAnswer.result).not.toHaveProperty('resultType')
  })

  it('initialize under a modern header → -32020 with status 400 [headers.version]', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: VERSION } }
    const { status, error } = await send(
      createServer(),
      post(body, { headers: { 'mcp-protocol-version': VERSION, 'mcp-method': 'initialize' } }),
    )
    expect([status, error?.code]).toEqual([400, ErrorCode.headerMismatch])
  })
})

describe('methods', () => {
  it.each([
    'nothing',
    'initialize',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
    'tasks/list',
    'constructor',
    '__proto__',
    '',
  ])('%j → -32601 with status 404 [modern.method]', async (method) => {
    const { status, error, message } = await modern(createServer(everything), method, {
      uri: 'a://1',
      level: 'info',
    })
    expect([status, error?.code, message?.id]).toEqual([404, ErrorCode.methodNotFound, 1])
  })

  it.each(['tools/list', 'prompts/get', 'resources/read', 'completion/complete'])(
    '%s of a server with nothing to offer → the same [modern.method]',
    async (method) => {
      const { status, error } = await modern(createServer(), method, { name: 'x', uri: 'x' })
      expect([status, error?.code]).toEqual([404, ErrorCode.methodNotFound])
    },
  )
})
