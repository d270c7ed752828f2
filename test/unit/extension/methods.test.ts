/** The methods of an extension: declared, negotiated, checked, answered. */
import { describe, expect, it, test } from 'vitest'
import * as z from 'zod'
import { staticTokens } from '../../../src/auth.ts'
import { createMethod, extension } from '../../../src/extensions.ts'
import { createTool, type LogEntry } from '../../../src/index.ts'
import { createServer, initialize, legacy, META, modern, modernRequest, send } from '../_client.ts'
import { CONFIG, DECLARED, forecastServer, get, ID } from './_forecast.ts'

const SECRET = 'a-secret-of-thirty-two-characters'

describe('an extension is declared', () => {
  it('in server/discover and in initialize, with its settings [extensions.declared]', async () => {
    const server = forecastServer()

    const discovered = await modern(server, 'server/discover')
    const { result } = await initialize(server)

    expect(discovered.result).toMatchObject({ capabilities: { extensions: { [ID]: { cities: 3 } } } })
    expect(result).toMatchObject({ capabilities: { extensions: { [ID]: { cities: 3 } } } })
  })

  it('only in the eras it serves, and to the requests that its settings are for', async () => {
    const server = createServer({
      extensions: [
        extension({ id: 'com.example/modern', eras: ['modern'] }),
        extension({ id: 'com.example/streams', settings: ({ canStream }) => (canStream ? {} : undefined) }),
      ],
    })

    const streaming = await modern(server, 'server/discover')
    const buffered = await modern(server, 'server/discover', {}, { headers: { accept: 'application/json' } })
    const { result } = await initialize(server)

    const of = (one: typeof result) =>
      Object.keys((one!.capabilities as { extensions?: object }).extensions ?? {})
    expect(of(streaming.result)).toEqual(['com.example/modern', 'com.example/streams'])
    expect(of(buffered.result)).toEqual(['com.example/modern'])
    expect(of(result)).toEqual(['com.example/streams'])
  })

  it('also under the name of a capability, where clients of an earlier text look', async () => {
    const server = forecastServer({ alsoDeclaredAs: 'forecast' })

    const { result } = await modern(server, 'server/discover')

    expect(result).toMatchObject({
      capabilities: { forecast: { cities: 3 }, extensions: { [ID]: { cities: 3 } } },
    })
  })

  it('and a server without one declares none', async () => {
    const { result } = await modern(createServer(), 'server/discover')
    expect(result?.capabilities).not.toHaveProperty('extensions')
  })
})

describe('a method', () => {
  it('gets validated parameters without _meta, and its result is validated [extensions.method]', async () => {
    const { result } = await modern(forecastServer(), 'forecast/get', { city: 'Rome' }, DECLARED)

    expect(result).toMatchObject({
      city: 'Rome',
      celsius: 21,
      resultType: 'complete',
      _meta: { era: 'modern' },
    })
    expect(result?._meta).toHaveProperty([META.serverInfo])
  })

  it('refuses wrong parameters → -32602 that names them', async () => {
    const { error } = await modern(forecastServer(), 'forecast/get', { city: 7 }, DECLARED)
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/^Invalid params: city: /) })
  })

  it('throws a ProtocolError → the client gets its code and data; any other error → -32603 without its text', async () => {
    const errors: unknown[] = []
    const server = forecastServer({}, { onError: (error) => errors.push(error) })

    const known = await modern(server, 'forecast/get', { city: 'Atlantis' }, DECLARED)
    const other = await modern(server, 'forecast/get', { city: 'Error' }, DECLARED)
    const invalid = await modern(server, 'forecast/get', { city: 'Nowhere' }, DECLARED)

    expect(known.error).toEqual({ code: -32011, message: 'NotFound', data: { kind: 'city' } })
    expect(other.error).toEqual({ code: -32603, message: 'Internal error' })
    expect(invalid.error).toEqual({ code: -32603, message: 'Internal error' })
    expect(errors.map(String)).toEqual([
      'Error: the secret reason',
      expect.stringMatching(/The result of method "forecast\/get" is invalid: celsius: /),
    ])
  })

  it.each([
    ['nothing', undefined],
    ['a list', []],
    ['a member of the protocol', { ttlMs: 5 }],
  ])('that returns %s → -32603, reported', async (_what, value) => {
    const errors: unknown[] = []
    const method = createMethod({ execute: () => value as never })
    const server = forecastServer(
      { methods: { 'forecast/odd': method } },
      { onError: (one) => errors.push(one) },
    )

    const { error } = await modern(server, 'forecast/odd', {}, DECLARED)

    expect(error?.code).toBe(-32603)
    expect(errors).toHaveLength(1)
  })

  it('of no extension → -32601', async () => {
    expect((await modern(forecastServer(), 'forecast/none', {}, DECLARED)).error?.code).toBe(-32601)
    expect((await modern(createServer(), 'forecast/get', {}, DECLARED)).error?.code).toBe(-32601)
  })

  it('is logged and audited like any other', async () => {
    const entries: LogEntry[] = []
    const audited: unknown[] = []
    const server = forecastServer(
      {},
      { log: (entry) => entries.push(entry), audit: { record: (entry) => void audited.push(entry) } },
    )

    await modern(server, 'forecast/get', { city: 'Rome' }, DECLARED)

    expect(entries).toMatchObject([{ method: 'forecast/get', status: 200, era: 'modern' }])
    expect(audited).toMatchObject([{ method: 'forecast/get' }])
  })

  it('runs after setup, within the limits of calls', async () => {
    const seen: string[] = []
    const slow = createMethod({
      execute: (_params, ctx) =>
        new Promise<never>((_resolve, reject) =>
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
        ),
    })
    const server = forecastServer(
      { methods: { 'forecast/slow': slow } },
      {
        setup: ({ context }) => void seen.push(context.requestId),
        http: { maxCallMs: 20, deadlineMarginMs: 0 },
      },
    )

    const { error } = await modern(server, 'forecast/slow', {}, DECLARED)

    expect(error).toMatchObject({ code: -32603, data: { limit: 'deadline' } })
    expect(seen).toHaveLength(1)
  })

  it('with cache: the hints of the server, private where results depend on the caller', async () => {
    const list = createMethod({ cache: 'shared', execute: () => ({ all: [] }) })
    const own = createMethod({ cache: 'private', execute: () => ({ all: [] }) })
    const methods = { 'forecast/list': list, 'forecast/own': own }
    const shared = forecastServer({ methods }, { cache: { ttlMs: 7 } })
    const perCaller = forecastServer({ methods }, { setup: () => {} })

    expect((await modern(shared, 'forecast/list', {}, DECLARED)).result).toMatchObject({
      ttlMs: 7,
      cacheScope: 'public',
    })
    expect((await modern(shared, 'forecast/own', {}, DECLARED)).result).toMatchObject({
      ttlMs: 0,
      cacheScope: 'private',
    })
    expect((await modern(perCaller, 'forecast/list', {}, DECLARED)).result).toMatchObject({
      cacheScope: 'private',
    })
  })

  it('with nameHeader: an Mcp-Name that differs → -32020; none is needed', async () => {
    const method = createMethod({ nameHeader: 'city', execute: ({ city }) => ({ city }) })
    const server = forecastServer({ methods: { 'forecast/named': method } })
    const call = (headers: Record<string, string>) =>
      modern(server, 'forecast/named', { city: 'Rome' }, { ...DECLARED, headers })

    expect((await call({ 'mcp-name': 'Oslo' })).error?.code).toBe(-32020)
    expect((await call({ 'mcp-name': 'Rome' })).result).toMatchObject({ city: 'Rome' })
    expect((await call({})).result).toMatchObject({ city: 'Rome' })
  })
})

describe('negotiation', () => {
  it('a client that did not declare the extension → -32021 with what is missing, HTTP 400 [extensions.negotiated]', async () => {
    const { error, status } = await modern(forecastServer(), 'forecast/get', { city: 'Rome' })

    expect(status).toBe(400)
    expect(error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [ID]: {} } } },
    })
  })

  it('optional, for the extension or for one method → served', async () => {
    const one = createMethod({ declaration: 'optional', execute: () => ({ ok: true }) })
    const all = forecastServer({ declaration: 'optional' })
    const some = forecastServer({ methods: { 'forecast/one': one, 'forecast/get': get } })

    expect((await modern(all, 'forecast/get', { city: 'Rome' })).result).toMatchObject({ celsius: 21 })
    expect((await modern(some, 'forecast/one')).result).toMatchObject({ ok: true })
    expect((await modern(some, 'forecast/get', { city: 'Rome' })).error?.code).toBe(-32021)
  })

  it("ctx.clientExtension: the client's settings, in methods and in tools; undefined for another or for none", async () => {
    const tell = createTool({
      id: 'tell',
      execute: (_input, ctx) => ({
        own: ctx.clientExtension(ID) ?? null,
        other: ctx.clientExtension('com.example/other') ?? null,
      }),
    })
    const server = forecastServer({}, { tools: { tell } })

    const method = await modern(server, 'forecast/settings', { a: 1 }, DECLARED)
    const tool = await modern(server, 'tools/call', { name: 'tell' }, DECLARED)
    const without = await modern(server, 'tools/call', { name: 'tell' })

    expect(method.result).toMatchObject({ params: { a: 1 }, client: { units: 'celsius' }, canStream: true })
    expect(tool.result?.structuredContent).toEqual({ own: { units: 'celsius' }, other: null })
    expect(without.result?.structuredContent).toEqual({ own: null, other: null })
  })

  it.each([null, 7, 'yes', []])('settings that are %j are none', async (settings) => {
    const meta = { [META.clientCapabilities]: { extensions: { [ID]: settings } } }
    expect((await modern(forecastServer(), 'forecast/settings', {}, { meta })).error?.code).toBe(-32021)
  })
})

describe('a legacy client', () => {
  const open = async (server: ReturnType<typeof forecastServer>, capabilities: object) => {
    const { headers } = await initialize(server, { capabilities })
    const session = headers.get('mcp-session-id')
    return session === null ? {} : { headers: { 'mcp-session-id': session } }
  }

  it.each([undefined, SECRET])(
    'that declared the extension in initialize is served, secret %j [extensions.legacy]',
    async (secret) => {
      const server = forecastServer({}, secret === undefined ? {} : { secret })
      const session = await open(server, { extensions: { [ID]: { units: 'kelvin' } } })

      expect((await legacy(server, 'forecast/get', { city: 'Rome' }, session)).result).toMatchObject({
        celsius: 21,
      })
      expect((await legacy(server, 'forecast/settings', {}, session)).result).toMatchObject({
        client: { units: 'kelvin' },
      })
    },
  )

  it('that did not, or that sends no session id → -32021, HTTP 200, since legacy clients read no other error', async () => {
    const server = forecastServer()
    const declared = await open(server, { extensions: { [ID]: {} } })

    for (const session of [await open(server, {}), { ...declared, headers: {} }]) {
      const answer = await legacy(server, 'forecast/get', { city: 'Rome' }, session)
      expect(answer).toMatchObject({ status: 200, error: { code: -32021 } })
    }
  })

  it('calls a method without declaration, or one of the modern era alone', async () => {
    const optional = forecastServer({ declaration: 'optional' })
    const modernAlone = forecastServer({ declaration: 'optional', eras: ['modern'] })

    expect((await legacy(optional, 'forecast/get', { city: 'Rome' })).result).toMatchObject({
      celsius: 21,
      _meta: { era: 'legacy' },
    })
    expect((await legacy(modernAlone, 'forecast/get', { city: 'Rome' })).error?.code).toBe(-32601)
  })

  it('calls two methods in a batch', async () => {
    const server = forecastServer({ declaration: 'optional' })
    const body = ['Rome', 'Atlantis'].map((city, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'forecast/get',
      params: { city },
    }))
    const request = new Request('https://mcp.example/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'mcp-protocol-version': '2025-03-26',
      },
      body: JSON.stringify(body),
    })

    const answers = await (await server.handle(request, {})).json()

    expect(answers).toMatchObject([{ result: { celsius: 21 } }, { error: { code: -32011 } }])
  })
})

describe('scopes', () => {
  const guarded = createMethod({ scopes: ['forecast:read'], execute: () => ({ ok: true }) })
  const auth = staticTokens([
    { token: 'a-token-that-may-read-forecasts-0001', clientId: 'a', scopes: ['forecast:read'] },
    { token: 'a-token-that-may-not-read-them-00002', clientId: 'b' },
  ])
  const call = (server: ReturnType<typeof forecastServer>, token?: string) =>
    modern(
      server,
      'forecast/get',
      {},
      { ...DECLARED, headers: token ? { authorization: `Bearer ${token}` } : {} },
    )

  it('a caller without them → 403 with what is needed, before anything runs [extensions.scopes]', async () => {
    const server = forecastServer({ methods: { 'forecast/get': guarded } }, { auth })

    expect((await call(server, 'a-token-that-may-read-forecasts-0001')).result).toMatchObject({ ok: true })
    const refused = await call(server, 'a-token-that-may-not-read-them-00002')
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toContain('scope="forecast:read"')
    expect((await call(server)).status).toBe(401)
  })

  it('anonymous callers → 401 for every method, since none can be named as open', async () => {
    const open = staticTokens([{ token: 'a-token-that-may-read-forecasts-0001', clientId: 'a' }], {
      anonymous: { tools: ['t'] },
    })
    const t = createTool({ id: 't', execute: () => '' })
    expect((await call(forecastServer({}, { auth: open, tools: { t } }))).status).toBe(401)
  })

  it('on a server that cannot know its callers → a TypeError', () => {
    expect(() => forecastServer({ methods: { 'forecast/get': guarded } })).toThrow(
      /Method "forecast\/get" needs the scope forecast:read, but the server cannot know its callers/,
    )
  })
})

test('the input and the output of a method are typed by its schemas', () => {
  createMethod({
    paramsSchema: z.object({ days: z.number().default(1) }),
    resultSchema: z.object({ total: z.number() }),
    execute: ({ days }, ctx) => {
      const typed: number = days
      // @ts-expect-error: methods cannot ask the client.
      void ctx.elicit
      return { total: typed }
    },
  })
  createMethod({
    resultSchema: z.object({ total: z.number() }),
    // @ts-expect-error: the result has no total.
    execute: () => ({ sum: 1 }),
  })
})

test('modern requests of unknown methods are the same with and without extensions', async () => {
  const answer = await send(createServer({ extensions: [extension(CONFIG)] }), modernRequest('nothing/here'))
  expect(answer).toMatchObject({
    status: 404,
    error: { code: -32601, message: 'Method not found: nothing/here' },
  })
})
