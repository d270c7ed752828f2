/** Callbacks written for the official SDKs, served by Mayfly to the official clients, and by the SDK itself for comparison. */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { createMcpHandler, McpServer as ServerV2 } from '@modelcontextprotocol/server'
import { describe, expect, it, vi } from 'vitest'
import { staticTokens } from '../../../src/auth.ts'
import {
  createMemoryBus,
  createMemoryRendezvous,
  DEGRADED_META,
  type MCPServerConfig,
} from '../../../src/index.ts'
import { MCPServer, type SdkToolContext } from '../../../src/sdk-context.ts'
import { ENDPOINT, modern } from '../_client.ts'
import * as v1 from './_v1.ts'
import * as v2 from './_v2.ts'

type Fetch = (request: Request) => Promise<Response>

const createServer = (config: Partial<MCPServerConfig<SdkToolContext>> = {}): MCPServer =>
  new MCPServer({ id: 'test', name: 'Test', version: '1.0.0', log: false, ...config })

const SECRET = 'a-secret-of-the-tests-long-enough-to-be-one'
const HEADERS = { 'x-tenant': 'acme' }
const CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: {} }
const NAME = { name: 'callbacks', version: '1.0.0' }

/** The user and the model behind every client, by what they are asked. */
const ANSWERS: { readonly [message: string]: object } = {
  'Refund 42?': { confirm: true },
  'Why?': { reason: 'broken' },
  'Your name?': { name: 'Ann' },
}
const answer = (message: string) => ({
  action: 'accept' as const,
  content: ANSWERS[message] as Record<string, string | boolean>,
})
const sample = { model: 'echo', role: 'assistant' as const, content: { type: 'text' as const, text: 'hi' } }
const roots = [{ uri: 'file:///orders', name: 'orders' }]

interface Connected {
  call(name: string, args?: Record<string, unknown>): Promise<Called>
  close(): Promise<void>
}

interface Called {
  readonly value: unknown
  readonly progress: readonly number[]
  readonly logged: readonly unknown[]
  readonly result: { isError?: boolean | undefined; _meta?: Record<string, unknown> | undefined }
}

async function connectV1(transport: Transport): Promise<Connected> {
  const client = new ClientV1(NAME, { capabilities: CAPABILITIES })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params.message))
  client.setRequestHandler(CreateMessageRequestSchema, () => sample)
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }))
  const logged: unknown[] = []
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params))
  await client.connect(transport)
  return {
    close: () => client.close(),
    call: async (name, args = {}) => {
      const progress: number[] = []
      const result = await client.callTool(
        { name, arguments: args, _meta: { 'example/shop': 7 } },
        undefined,
        {
          onprogress: (seen) => progress.push(seen.progress),
        },
      )
      return called(result, progress, logged)
    },
  }
}

async function connectV2(fetch: Fetch, headers: object = {}): Promise<Connected> {
  const client = new ClientV2(NAME, { capabilities: CAPABILITIES, versionNegotiation: { mode: 'auto' } })
  client.setRequestHandler('elicitation/create', ({ params }) => answer(params.message))
  client.setRequestHandler('sampling/createMessage', () => sample)
  client.setRequestHandler('roots/list', () => ({ roots }))
  const logged: unknown[] = []
  client.setNotificationHandler('notifications/message', ({ params }) => void logged.push(params))
  await client.connect(new HttpV2(new URL(ENDPOINT), httpOptions(fetch, headers)))
  return {
    close: () => client.close(),
    call: async (name, args = {}) => {
      const progress: number[] = []
      const _meta = { 'example/shop': 7, 'io.modelcontextprotocol/logLevel': 'info' }
      const result = await client.callTool(
        { name, arguments: args, _meta },
        { onprogress: (seen) => progress.push(seen.progress) },
      )
      return called(result, progress, logged)
    },
  }
}

function httpOptions(fetch: Fetch, headers: object) {
  return {
    fetch: (url: string | URL, init?: RequestInit) => fetch(new Request(url, init)),
    requestInit: { headers: { ...HEADERS, ...headers } },
  }
}

function called(result: object, progress: readonly number[], logged: readonly unknown[]): Called {
  const { content } = result as { content: { text: string }[] }
  const [{ text } = { text: 'null' }] = content
  return { value: text.startsWith('{') ? JSON.parse(text) : text, progress, logged, result }
}

const overHttp = (server: MCPServer, headers: object = {}): Promise<Connected> =>
  // A cast at the SDK's own boundary: its transport class is not its Transport under exactOptionalPropertyTypes.
  connectV1(new HttpV1(new URL(ENDPOINT), httpOptions(server.fetch, headers)) as Transport)

/** What both have. Typed callbacks go in as they are: this is what the compiler checks here. */
function registerV1(server: MCPServer): MCPServer {
  server.registerTool('described', { description: 'Says who asks' }, v1.described)
  server.registerTool('reported', { description: 'Reports', inputSchema: v1.PARTS }, v1.reported)
  server.registerTool('asked', { description: 'Asks', inputSchema: v1.ORDER }, v1.asked)
  server.registerTool('sampled', { description: 'Samples' }, v1.sampled)
  server.registerTool('rooted', { description: 'Lists roots' }, v1.rooted)
  server.registerTool('pinged', { description: 'Pings' }, v1.pinged)
  return server
}

function sdkServerV1(): ServerV1 {
  const server = new ServerV1(NAME, { capabilities: { logging: {} } })
  server.registerTool('described', { description: 'Says who asks' }, v1.described)
  server.registerTool('reported', { description: 'Reports', inputSchema: v1.PARTS }, v1.reported)
  server.registerTool('asked', { description: 'Asks', inputSchema: v1.ORDER }, v1.asked)
  server.registerTool('sampled', { description: 'Samples' }, v1.sampled)
  server.registerTool('rooted', { description: 'Lists roots' }, v1.rooted)
  return server
}

function registerV2(server: MCPServer): MCPServer {
  server.registerTool('described', { description: 'Says who asks' }, v2.described)
  server.registerTool('reported', { description: 'Reports', inputSchema: v2.PARTS }, v2.reported)
  server.registerTool('asked', { description: 'Asks', inputSchema: v2.ORDER }, v2.asked)
  server.registerTool('confirmed', { description: 'Asks once', inputSchema: v2.ORDER }, v2.confirmed)
  server.registerTool('pushed', { description: 'Asks, legacy style' }, v2.pushed)
  return server
}

function sdkServerV2(): ServerV2 {
  const server = new ServerV2(NAME, { capabilities: { logging: {} } })
  server.registerTool('described', { description: 'Says who asks' }, v2.described)
  server.registerTool('reported', { description: 'Reports', inputSchema: v2.PARTS }, v2.reported)
  server.registerTool('asked', { description: 'Asks', inputSchema: v2.ORDER }, v2.asked)
  return server
}

describe('callbacks of SDK v1', () => {
  const asking = { secret: SECRET, legacy: 'rendezvous', rendezvous: createMemoryRendezvous() } as const
  const clients = {
    'SDK v1 client': () => overHttp(registerV1(createServer(asking))),
    'SDK v2 client': () => connectV2(registerV1(createServer(asking)).fetch),
  }

  describe.each(Object.entries(clients))('%s', (_name, connect) => {
    it('know the request [context.extra]', async () => {
      const client = await connect()
      expect((await client.call('described')).value).toEqual({
        requestId: expect.anything(),
        isAborted: false,
        tenant: 'acme',
        shop: 7,
      })
      await client.close()
    })

    it.each([
      ['reported', { parts: 1 }],
      ['asked', { order: '42' }],
      ['sampled', {}],
      ['rooted', {}],
    ])('%s: the same as served by the SDK itself [context.extra]', async (name, args) => {
      const [ours, theirs] = InMemoryTransport.createLinkedPair()
      await sdkServerV1().connect(theirs)
      const [client, reference] = [await connect(), await connectV1(ours)]
      const { value, progress, logged } = await client.call(name, args)
      const expected = await reference.call(name, args)
      expect({ value, logged }).toEqual({ value: expected.value, logged: expected.logged })
      // The v2 client counts the rounds of a question as progress.
      if (name === 'reported') expect(progress).toEqual(expected.progress)
      expect(value).toBeTypeOf('object')
      await client.close()
      await reference.close()
    })
  })

  it('know the verified caller, by every name [context.extra]', async () => {
    const auth = staticTokens([{ token: 'a-good-token-of-the-tests', clientId: 'desk' }])
    const client = await overHttp(registerV1(createServer({ auth })), {
      authorization: 'Bearer a-good-token-of-the-tests',
    })
    expect((await client.call('described')).value).toMatchObject({ client: 'desk' })
    await client.close()
  })

  it('a request that cannot be sent is refused, with what to do instead [context.extra]', async () => {
    const client = await connectV2(registerV1(createServer()).fetch)
    await expect(client.call('pinged')).rejects.toMatchObject({
      code: -32603,
      data: { feature: 'sessions', reason: expect.stringContaining('"ping"'), remedy: expect.any(String) },
    })
    await client.close()
  })

  it('a question to a legacy client ends as the policy says [context.extra]', async () => {
    const client = await overHttp(registerV1(createServer()))
    const { result } = await client.call('asked', { order: '42' })
    expect(result).toMatchObject({
      isError: true,
      _meta: { [DEGRADED_META]: { feature: 'elicitation.form' } },
    })
    await client.close()
  })

  it('news of changes goes to the bus, not to the caller [context.extra]', async () => {
    const bus = createMemoryBus()
    const published = vi.fn()
    await bus.subscribe(published)
    const server = createServer({ bus })
    server.registerTool('change', {}, async ({ sendNotification }) => {
      await sendNotification({ method: 'notifications/tools/list_changed' })
      await sendNotification({ method: 'notifications/resources/updated', params: { uri: 'shop://1' } })
    })
    const client = await connectV2(server.fetch)
    await client.call('change')
    expect(published.mock.calls).toEqual([
      [{ type: 'toolsListChanged' }],
      [{ type: 'resourceUpdated', uri: 'shop://1' }],
    ])
    await client.close()
  })
})

describe('callbacks of SDK v2', () => {
  const asking = { secret: SECRET, legacy: 'rendezvous', rendezvous: createMemoryRendezvous() } as const

  it.each([
    ['described', {}],
    ['reported', { parts: 1 }],
    ['asked', { order: '42' }],
  ])('%s: the same as served by the SDK itself [context.extra]', async (name, args) => {
    const handler = createMcpHandler(() => sdkServerV2())
    const client = await connectV2(registerV2(createServer(asking)).fetch)
    const reference = await connectV2((request) => handler.fetch(request))
    const { value, progress, logged } = await client.call(name, args)
    const expected = await reference.call(name, args)
    expect({ value, progress, logged }).toEqual({ ...expected, result: undefined })
    expect(value).toBeTypeOf('object')
    await client.close()
    await reference.close()
  })

  it('questions that are returned reach legacy clients as well [context.extra]', async () => {
    const client = await overHttp(registerV2(createServer(asking)))
    expect((await client.call('asked', { order: '42' })).value).toEqual({
      confirmed: { confirm: true },
      where: { roots },
      why: { reason: 'broken' },
    })
    await client.close()
  })

  it.each([
    ['modern', () => connectV2(registerV2(createServer(asking)).fetch)],
    ['legacy', () => overHttp(registerV2(createServer(asking)))],
  ])('questions that are sent reach clients, %s [context.extra]', async (_era, connect) => {
    const client = await connect()
    expect((await client.call('pushed')).value).toEqual({
      action: 'accept',
      content: { name: 'Ann' },
      model: 'echo',
      roots,
    })
    await client.close()
  })

  it('what ran before a question does not run again, and nobody can change its state [context.extra]', async () => {
    const server = createServer(asking)
    const ran: string[] = []
    server.registerTool('phases', {}, (ctx) => {
      const phase = ctx.mcpReq.requestState<string>() ?? 'first'
      ran.push(phase)
      const next = { first: 'second', second: 'third' }[phase]
      if (next === undefined) return { ran }
      const inputRequests = { where: { method: 'roots/list' } }
      return { resultType: 'input_required', inputRequests, requestState: next }
    })
    expect((await (await connectV2(server.fetch)).call('phases')).value).toEqual({
      ran: ['first', 'second', 'third'],
    })
    const forged = await modern(server, 'tools/call', {
      name: 'phases',
      requestState: 'third',
      inputResponses: { where: { roots } },
    })
    expect(forged.error).toMatchObject({ code: -32602 })
    expect(ran).toHaveLength(3)
  })

  it('a question with nothing to remember needs no secret; one with a state says so [context.extra]', async () => {
    const server = createServer()
    const ask = (requestState?: string) => (ctx: SdkToolContext) =>
      ctx.mcpReq.inputResponses ?? {
        resultType: 'input_required',
        inputRequests: { where: { method: 'roots/list' } },
        ...(requestState !== undefined && { requestState }),
      }
    server.registerTool('stateless', {}, ask())
    server.registerTool('stateful', {}, ask('state'))
    const client = await connectV2(server.fetch)
    expect((await client.call('stateless')).value).toEqual({ where: { roots } })
    await expect(client.call('stateful')).rejects.toThrow(/MAYFLY_SECRET/)
    await client.close()
  })

  it('under the policy "arguments" the model brings the answers, and the state stays [context.extra]', async () => {
    const client = await overHttp(registerV2(createServer({ secret: SECRET, legacy: 'arguments' })))
    const { result } = await client.call('confirmed', { order: '42' })
    const { token } = result._meta!['mayfly/continue'] as { token: string }
    const answers = { confirm: { action: 'accept', content: { confirm: true } } }
    const { value } = await client.call('confirmed', { order: '42', _continue: { token, answers } })
    expect(value).toEqual({ order: '42', state: 'asked', confirmed: { confirm: true } })
    await client.close()
  })

  it('a round without a question is a fault of the tool [context.extra]', async () => {
    const server = createServer()
    server.registerTool('silent', {}, () => ({ resultType: 'input_required' }))
    expect((await (await overHttp(server)).call('silent')).value).toMatch(/needs an input request/)
  })
})
