import { describe, expect, it, vi } from 'vitest'
import {
  createMemoryBus,
  createMemoryRendezvous,
  createPrompt,
  createResource,
  createTool,
  ErrorCode,
  type MCPServerConfig,
  type McpContext,
} from '../../src/index.ts'
import {
  CLIENT,
  createServer,
  deferred,
  ENDPOINT,
  initialize,
  legacy,
  legacyRequest,
  namesIn,
  post,
  StreamReader,
  send,
  textOf,
} from './_client.ts'

const everything: Partial<MCPServerConfig> = {
  tools: {
    t: createTool({ id: 't', execute: (_input, ctx) => `${ctx.protocolVersion} ${ctx.clientInfo?.name}` }),
  },
  prompts: { p: createPrompt({ complete: { a: () => [] }, get: () => 'ok' }) },
  resources: [createResource({ uri: 'a://1', read: () => 'ok' })],
}

const ping = (id: string | number) => ({ jsonrpc: '2.0', id, method: 'ping' })
const OLDEST = { headers: { 'mcp-protocol-version': '2025-03-26' } }
const sendBatch = (messages: unknown, options = OLDEST) =>
  send(createServer(everything), post(messages as object, options))

describe('initialize', () => {
  it('version, identity, instructions, capabilities [legacy.initialize]', async () => {
    const answer = await initialize(
      createServer({ ...everything, title: 'A test', instructions: 'Be brief.' }),
    )
    expect(answer.status).toBe(200)
    expect(answer.message).toEqual({
      jsonrpc: '2.0',
      id: 0,
      result: {
        protocolVersion: '2025-11-25',
        serverInfo: { name: 'Test', version: '1.0.0', title: 'A test' },
        capabilities: { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} },
        instructions: 'Be brief.',
      },
    })
  })

  it('never advertises what a stateless server cannot keep, bus or not [legacy.initialize]', async () => {
    const { result } = await initialize(createServer({ ...everything, bus: createMemoryBus() }))
    expect(result?.capabilities).toMatchObject({ tools: {}, prompts: {}, resources: {} })
    expect(JSON.stringify(result?.capabilities)).not.toMatch(/listChanged|subscribe/)
  })

  it.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
    '%s is answered with itself [legacy.negotiation]',
    async (protocolVersion) => {
      expect((await initialize(createServer(), { protocolVersion })).result).toMatchObject({
        protocolVersion,
      })
    },
  )

  it.each(['2024-11-05', '2026-07-28', '1.0.0', ''])(
    '%j is answered with 2025-11-25 [legacy.negotiation]',
    async (protocolVersion) => {
      expect((await initialize(createServer(), { protocolVersion })).result).toMatchObject({
        protocolVersion: '2025-11-25',
      })
    },
  )

  it.each([
    { protocolVersion: undefined },
    { protocolVersion: 5 },
    { capabilities: undefined },
    { capabilities: [] },
    { capabilities: { roots: true } },
    { clientInfo: undefined },
    { clientInfo: { name: 'x' } },
  ])('with %j → -32602 [malformed.params]', async (params) => {
    const { status, error } = await initialize(createServer(), params)
    expect([status, error?.code]).toEqual([200, ErrorCode.invalidParams])
  })
})

describe('Mcp-Session-Id', () => {
  it('is visible ASCII, as the specification asks [legacy.session]', async () => {
    const { headers } = await initialize(createServer(), { clientInfo: { name: 'Grüße 日本', version: '1' } })
    expect(headers.get('mcp-session-id')).toMatch(/^[\x21-\x7e]+$/)
  })

  it('brings back client and version, also to another instance of the server [legacy.session]', async () => {
    const { headers } = await initialize(createServer(everything), {
      protocolVersion: '2025-06-18',
      clientInfo: { name: 'Grüße', version: '1' },
    })
    const sent = { 'mcp-session-id': headers.get('mcp-session-id')!, 'mcp-protocol-version': undefined }
    const { result } = await legacy(createServer(everything), 'tools/call', { name: 't' }, { headers: sent })
    expect(result?.content).toEqual([{ type: 'text', text: '2025-06-18 Grüße' }])
  })

  it.each(['mayfly1.', 'mayfly1.AAAA', 'mayfly1.!!!!', 'mayfly1.W10', 'another-server', 'x'.repeat(5000)])(
    '%j is ignored, never refused [legacy.session]',
    async (id) => {
      const { status, result } = await legacy(
        createServer(everything),
        'tools/call',
        { name: 't' },
        {
          headers: { 'mcp-session-id': id },
        },
      )
      expect(status).toBe(200)
      expect(result?.content).toEqual([{ type: 'text', text: '2025-11-25 undefined' }])
    },
  )

  it('an id that is not ours is not handed to the tool [legacy.session]', async () => {
    const execute = vi.fn((_input: unknown, _ctx: McpContext) => '')
    const server = createServer({ tools: { t: createTool({ id: 't', execute }) } })
    await legacy(server, 'tools/call', { name: 't' }, { headers: { 'mcp-session-id': 'another-server' } })
    expect(execute.mock.calls[0]?.[1].sessionId).toBeUndefined()
  })

  it('a client that says more of itself than fits in a header gets none, and is served [legacy.session]', async () => {
    const { status, headers } = await initialize(createServer(), {
      capabilities: { experimental: { big: 'x'.repeat(3000) } },
    })
    expect([status, headers.has('mcp-session-id')]).toEqual([200, false])
  })
})

describe('ping and logging/setLevel', () => {
  it('ping → an empty result [legacy.ping]', async () => {
    expect((await legacy(createServer(), 'ping')).message).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  })

  it('setLevel → an empty result [legacy.set-level]', async () => {
    expect((await legacy(createServer(), 'logging/setLevel', { level: 'error' })).result).toEqual({})
  })

  it.each(['loud', 'ERROR', 3, undefined])('setLevel %j → -32602 [legacy.set-level]', async (level) => {
    expect((await legacy(createServer(), 'logging/setLevel', { level })).error?.code).toBe(
      ErrorCode.invalidParams,
    )
  })
})

describe('batches', () => {
  it('2025-03-26: one array, the requests’ answers alone [legacy.batch]', async () => {
    const response = await createServer(everything).fetch(
      post(
        [
          ping(1),
          { jsonrpc: '2.0', method: 'notifications/initialized' },
          { jsonrpc: '2.0', id: 'b', method: 'tools/list' },
          { jsonrpc: '2.0', id: 3, method: 'nothing' },
          { jsonrpc: '2.0', id: 4, result: {} },
        ],
        OLDEST,
      ),
    )
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    const answers = (await response.json()) as { id: unknown; error?: { code: number } }[]
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 3, 'b'])
    expect(answers.find(({ id }) => id === 3)?.error?.code).toBe(ErrorCode.methodNotFound)
  })

  it('a tool in one that notifies is answered all the same, in JSON [legacy.batch]', async () => {
    const chatty = createTool({
      id: 'chatty',
      execute: (_input, ctx) => {
        ctx.log('error', 'hello')
        return 'ok'
      },
    })
    const body = [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'chatty' } }]
    const response = await createServer({ tools: { chatty } }).fetch(post(body, OLDEST))
    expect(await response.json()).toMatchObject([{ id: 1, result: { content: [{ text: 'ok' }] } }])
  })

  it('without a version header: 2025-03-26 [legacy.batch] [legacy.version-header]', async () => {
    const response = await createServer().fetch(post([ping(1)]))
    expect(await response.json()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })

  it.each([
    ['notifications alone', [{ jsonrpc: '2.0', method: 'notifications/initialized' }]],
    ['responses alone', [{ jsonrpc: '2.0', id: 1, result: {} }]],
  ])('%s → 202 without a body [legacy.batch] [legacy.notification]', async (_kind, messages) => {
    const { status, message } = await sendBatch(messages)
    expect([status, message]).toEqual([202, undefined])
  })

  it.each(['2025-06-18', '2025-11-25', '2026-07-28'])(
    '%s → -32600 with status 400 [legacy.batch]',
    async (version) => {
      const { status, error } = await sendBatch([ping(1)], { headers: { 'mcp-protocol-version': version } })
      expect([status, error?.code]).toEqual([400, ErrorCode.invalidRequest])
    },
  )

  it.each([
    ['empty', []],
    ['with what is no message', [ping(1), 5]],
    ['with initialize', [{ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }]],
    ['of batches', [[ping(1)]]],
    ['of 101', Array.from({ length: 101 }, (_, index) => ping(index))],
  ])('%s → -32600 with status 400 [legacy.batch]', async (_kind, messages) => {
    const { status, error } = await sendBatch(messages)
    expect([status, error?.code]).toEqual([400, ErrorCode.invalidRequest])
  })
})

describe('notifications and responses', () => {
  it.each([
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { jsonrpc: '2.0', method: 'notifications/nobody/knows' },
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: 'x', error: { code: 1, message: 'no' } },
  ])('%j → 202 without a body [legacy.notification]', async (body) => {
    const response = await createServer().fetch(post(body))
    expect([response.status, await response.text()]).toEqual([202, ''])
  })
})

it('notifications/cancelled reaches no call of a stateless server: it goes on, and is answered [legacy.notification]', async () => {
  const released = deferred<string>()
  const begun = deferred()
  let signal: AbortSignal | undefined
  const wait = createTool({
    id: 'wait',
    execute: (_input, ctx) => {
      signal = ctx.signal
      begun.resolve()
      return released.promise
    },
  })
  const server = createServer({ tools: { wait } })
  const answer = legacy(server, 'tools/call', { name: 'wait' }, { id: 'call-7' })
  await begun.promise
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'call-7' } }
  expect((await server.fetch(post(cancelled))).status).toBe(202)
  expect(signal?.aborted).toBe(false)
  released.resolve('done')
  expect(textOf(await answer)).toBe('done')
})

describe('GET and DELETE', () => {
  it.each([
    ['GET', { accept: 'text/event-stream' }],
    ['GET', { accept: 'text/event-stream', 'mcp-session-id': 'any' }],
    ['DELETE', { 'mcp-session-id': 'any' }],
  ])('%s %j → 405 with Allow [legacy.get-delete] [http.method]', async (method, headers) => {
    const response = await createServer().fetch(new Request(ENDPOINT, { method, headers }))
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')?.split(', ')).toContain('POST')
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: ErrorCode.invalidRequest } })
  })
})

it('with a bus, too, a stateless server promises a legacy client no changes, and has no stream for them [legacy.get-delete]', async () => {
  const server = createServer({
    bus: createMemoryBus(),
    tools: { t: createTool({ id: 't', execute: () => '' }) },
    resources: [{ uri: 'a://1', read: () => '' }],
  })
  const { result } = await initialize(server)
  expect(result?.capabilities).toMatchObject({ tools: {}, resources: {} })
  expect(JSON.stringify(result?.capabilities)).not.toMatch(/listChanged|subscribe/)
  const stream = await server.fetch(new Request(ENDPOINT, { headers: { accept: 'text/event-stream' } }))
  expect(stream.status).toBe(405)
})

describe('MCP-Protocol-Version', () => {
  it.each(['2024-11-05', '2025-01-01', '1.0', ''])(
    '%j → -32600 with status 400 [legacy.version-header]',
    async (version) => {
      const { status, error } = await legacy(
        createServer(everything),
        'tools/list',
        {},
        {
          headers: { 'mcp-protocol-version': version },
        },
      )
      expect([status, error?.code]).toEqual([400, ErrorCode.invalidRequest])
    },
  )

  it('absent → 2025-03-26 [legacy.version-header]', async () => {
    const { result } = await legacy(
      createServer(everything),
      'tools/call',
      { name: 't' },
      {
        headers: { 'mcp-protocol-version': undefined },
      },
    )
    expect(result?.content).toEqual([{ type: 'text', text: '2025-03-26 undefined' }])
  })

  it('is that of the request, whatever the session says [legacy.version-header]', async () => {
    const { headers } = await initialize(createServer(everything))
    const sent = { 'mcp-session-id': headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-06-18' }
    const { result } = await legacy(createServer(everything), 'tools/call', { name: 't' }, { headers: sent })
    expect(result?.content).toEqual([{ type: 'text', text: `2025-06-18 ${CLIENT.name}` }])
  })
})

describe('methods', () => {
  it.each(['nothing', 'server/discover', 'subscriptions/listen', 'tasks/list', 'constructor', ''])(
    '%j → -32601 in a 200 answer [legacy.method]',
    async (method) => {
      const { status, error, message } = await legacy(createServer(everything), method)
      expect([status, error?.code, message?.id]).toEqual([200, ErrorCode.methodNotFound, 1])
    },
  )

  it('lists need no initialize before them: nothing is kept [modern.stateless]', async () => {
    expect(namesIn(await legacy(createServer(everything), 'tools/list'))).toEqual(['t'])
  })

  it('results have nothing of the modern era in them', async () => {
    const { result } = await legacy(createServer(everything), 'tools/list')
    expect(Object.keys(result ?? {})).toEqual(['tools'])
    const called = await legacy(createServer(everything), 'tools/call', { name: 't' })
    expect(Object.keys(called.result ?? {})).toEqual(['content'])
  })

  it.each(['resources/subscribe', 'resources/unsubscribe'])(
    '%s → acknowledged [legacy.subscribe]',
    async (method) => {
      expect((await legacy(createServer(everything), method, { uri: 'a://1' })).result).toEqual({})
      expect((await legacy(createServer(everything), method)).error?.code).toBe(ErrorCode.invalidParams)
    },
  )

  it('modern metadata headers are not needed, and must not lie: a filter in front may go by them', async () => {
    const ping = (headers: Record<string, string>) => legacy(createServer(), 'ping', {}, { headers })
    expect((await ping({})).status).toBe(200)
    expect((await ping({ 'mcp-method': 'ping' })).status).toBe(200)
    expect(await ping({ 'mcp-method': 'tools/list' })).toMatchObject({ status: 400, error: { code: -32020 } })
  })
})

describe('an answer in a batch (2025-03-26)', () => {
  it('meets the call that waits for it [legacy.batch] [legacy.rendezvous]', async () => {
    const summarise = createTool({
      id: 'summarise',
      execute: async (_input, ctx) => {
        const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hello' } }]
        return JSON.stringify((await ctx.createMessage({ messages, maxTokens: 10 })).content)
      },
    })
    const server = createServer({
      tools: { summarise },
      legacy: 'rendezvous',
      rendezvous: createMemoryRendezvous(),
    })
    const version = '2025-03-26'
    const opened = await initialize(server, { protocolVersion: version, capabilities: { sampling: {} } })
    const headers = {
      'mcp-protocol-version': version,
      'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    }
    const stream = new StreamReader(
      await server.fetch(legacyRequest('tools/call', { name: 'summarise' }, { headers })),
    )
    const { id } = (await stream.next()) as { id: string }
    const content = { type: 'text', text: 'Hi' }
    const answer = { jsonrpc: '2.0', id, result: { role: 'assistant', model: 'none', content } }
    expect((await server.fetch(post([answer], { headers }))).status).toBe(202)
    expect(JSON.stringify(await stream.next())).toContain('Hi')
  })
})
