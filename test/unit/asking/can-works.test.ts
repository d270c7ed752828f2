/**
 * `ctx.can` is the truth: on every path, in both eras and for every combination of options, a feature that it calls available works, and
 * one that it does not fails at once, typed. A call that waited would time out here.
 */
import { afterAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createSessions, type Sessions } from '../../../adapters/node.ts'
import {
  createMemoryRendezvous,
  createTool,
  type Feature,
  type MCPServer,
  type MCPServerConfig,
  type McpContext,
} from '../../../src/index.ts'
import type { ClientSession } from '../../../src/request/platform.ts'
import {
  createServer,
  initializeRequest,
  legacyRequest,
  META,
  modernRequest,
  post,
  StreamReader,
  type WireMessage,
} from '../_client.ts'

const FEATURES = ['elicitation.form', 'elicitation.url', 'sampling', 'roots', 'progress', 'logging'] as const
type Tried = (typeof FEATURES)[number]

const input = z.object({ feature: z.enum(FEATURES), isLater: z.boolean() })

const form = z.object({ ok: z.boolean() })
const sampled = { messages: [], maxTokens: 1 }

const tools = {
  can: createTool({
    id: 'can',
    inputSchema: input,
    execute: async ({ feature, isLater }, ctx) => {
      if (isLater) await ctx.step('before', () => 1)
      return JSON.stringify(ctx.can(feature))
    },
  }),
  do: createTool({
    id: 'do',
    inputSchema: input,
    execute: async ({ feature, isLater }, ctx) => {
      if (isLater) await ctx.step('before', () => 1)
      if (feature === 'elicitation.form') await ctx.elicit('?', form)
      if (feature === 'elicitation.url') await ctx.elicit('?', 'https://mcp.example/sign-in')
      if (feature === 'sampling') await ctx.createMessage(sampled)
      if (feature === 'roots') await ctx.listRoots()
      if (feature === 'progress') ctx.reportProgress({ progress: 1 })
      if (feature === 'logging') ctx.log('error', 'a line')
      return 'done'
    },
  }),
}

interface Client {
  readonly capabilities: object
  readonly token: boolean
  readonly level: boolean
  readonly accept: string
}

/** Sends a call, and returns the messages up to the answer, or up to a question. */
type Send = (name: string, args: object, client: Client) => Promise<WireMessage[]>

const BOTH = 'application/json, text/event-stream'
const CLIENTS: readonly Client[] = [
  {},
  { elicitation: {}, sampling: {} },
  { elicitation: { url: {} }, roots: {} },
].flatMap((capabilities) => [
  { capabilities, token: true, level: true, accept: BOTH },
  { capabilities, token: false, level: false, accept: BOTH },
  { capabilities, token: true, level: true, accept: 'application/json' },
])

const secret = 'a-secret-of-the-tests-that-is-long-enough'
const claim = { claim: () => true }
const SERVERS: readonly Partial<MCPServerConfig>[] = (
  ['explain', 'arguments', 'rendezvous'] as const
).flatMap((policy) =>
  [{}, { secret }, { rendezvous: createMemoryRendezvous() }].flatMap((given) =>
    [{}, { singleUse: claim }].map((once) => ({ legacy: policy, ...given, ...once })),
  ),
)

const isQuestion = ({ method, id }: WireMessage): boolean => method !== undefined && id !== undefined

async function messagesOf(response: Response): Promise<WireMessage[]> {
  if (response.headers.get('content-type') !== 'text/event-stream') {
    const body = JSON.parse(await response.text()) as WireMessage | WireMessage[]
    return Array.isArray(body) ? body : [body]
  }
  const stream = new StreamReader(response)
  const messages: WireMessage[] = []
  for (let item = await stream.next(); item !== undefined; item = await stream.next()) {
    if ('comment' in item || item.jsonrpc === undefined) continue
    messages.push(item)
    if (isQuestion(item)) await stream.cancel()
    if (item.method === undefined || isQuestion(item)) break
  }
  return messages
}

const metaOf = ({ token }: Client) => (token ? { _meta: { progressToken: 'token' } } : {})

const modernly =
  (server: MCPServer): Send =>
  async (name, args, client) => {
    const meta = {
      [META.clientCapabilities]: client.capabilities,
      ...(client.level && { [META.logLevel]: 'debug' }),
    }
    const params = { name, arguments: args, ...metaOf(client) }
    const request = modernRequest('tools/call', params, { meta, headers: { accept: client.accept } })
    return messagesOf(await server.handle(request, {}))
  }

type Served = Pick<MCPServer | Sessions, 'fetch'>

async function openSession(server: Served, capabilities: object, protocolVersion: string): Promise<string> {
  const opened = await server.fetch(initializeRequest({ capabilities, protocolVersion }))
  await opened.text()
  return opened.headers.get('mcp-session-id')!
}

const legacily =
  (server: Served, version: string): Send =>
  async (name, args, client) => {
    const id = await openSession(server, client.capabilities, version)
    const headers = { 'mcp-session-id': id, 'mcp-protocol-version': version, accept: client.accept }
    const params = { name, arguments: args, ...metaOf(client) }
    return messagesOf(await server.fetch(legacyRequest('tools/call', params, { headers })))
  }

/** A batch of one call, without a session or in one, as on stdio. */
const inBatch =
  (server: MCPServer, isSession: boolean): Send =>
  async (name, args, client) => {
    const version = '2025-03-26'
    const declared = {
      protocolVersion: version,
      clientInfo: undefined,
      clientCapabilities: client.capabilities,
    }
    const session: ClientSession = {
      id: undefined,
      declared,
      logLevel: undefined,
      subscriptions: { change: async () => {} },
      rendezvous: createMemoryRendezvous(),
    }
    const id = isSession ? undefined : await openSession(server, client.capabilities, version)
    const headers = { 'mcp-session-id': id, 'mcp-protocol-version': version, accept: client.accept }
    const params = { name, arguments: args, ...metaOf(client) }
    const batch = [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params }]
    return messagesOf(await server.handle(post(batch, { headers }), isSession ? { session } : {}))
  }

const running: Sessions[] = []
afterAll(() => Promise.all(running.map((sessions) => sessions.close())))

function inSessions(server: MCPServer, enableJsonResponse: boolean): Sessions {
  const sessions = createSessions(server, { enableJsonResponse })
  running.push(sessions)
  return sessions
}

const PATHS: readonly [string, (server: MCPServer) => Send][] = [
  ['modern', modernly],
  ['2025-11-25', (server) => legacily(server, '2025-11-25')],
  ['2025-06-18', (server) => legacily(server, '2025-06-18')],
  ['a batch', (server) => inBatch(server, false)],
  ['a batch in a session', (server) => inBatch(server, true)],
  ['a session', (server) => legacily(inSessions(server, false), '2025-11-25')],
  ['a session that answers in JSON', (server) => legacily(inSessions(server, true), '2025-11-25')],
]

const firstText = (message: WireMessage | undefined) =>
  (message?.result?.content as { text: string }[] | undefined)?.[0]?.text

/** Whether the feature did what it is for. */
function works(feature: Tried, messages: readonly WireMessage[]): boolean {
  if (feature === 'progress') return messages.some(({ method }) => method === 'notifications/progress')
  if (feature === 'logging') return messages.some(({ method }) => method === 'notifications/message')
  const { result, error, ...rest } = messages.at(-1)!
  const meta = result?._meta as Record<string, unknown> | undefined
  if (result?.inputRequests !== undefined || isQuestion(rest)) return true
  return meta?.['mayfly/continue'] !== undefined || error?.code === -32042
}

/** A question that fails says what is missing; what was not asked for is left out of a result that is the same. */
function isTyped(feature: Tried, messages: readonly WireMessage[]): boolean {
  const { result, error } = messages.at(-1)!
  if (feature === 'progress' || feature === 'logging') return firstText(messages.at(-1)) === 'done'
  const meta = result?._meta as { [name: string]: { feature: Feature } } | undefined
  if (meta?.['mayfly/degraded']?.feature === feature || error?.code === -32021) return true
  return error?.code === -32603 && /MAYFLY_SECRET/.test(error.message)
}

const label = ({ legacy, ...more }: Partial<MCPServerConfig>) => [legacy, ...Object.keys(more)].join('+')

describe.each(PATHS)('%s', (path, connect) => {
  // Only a modern call has a state without a secret.
  const later = path === 'modern' ? [false, true] : [false]
  const servers = SERVERS.filter(({ singleUse }) => path === 'modern' || singleUse === undefined)
  it.each(servers.map((config) => [label(config), config] as const))('%s', async (_label, config) => {
    const send = connect(createServer({ tools, ...config }))
    const lies: unknown[] = []
    for (const client of CLIENTS) {
      // A session of the SDK's transport refuses it.
      if (/session/.test(path) && client.accept !== BOTH) continue
      for (const feature of FEATURES) {
        for (const isLater of later) {
          const args = { feature, isLater }
          const said = (await send('can', args, client)).at(-1)!
          const { available } = JSON.parse(firstText(said)!)
          const messages = await send('do', args, client)
          const isTrue = works(feature, messages) === available && (available || isTyped(feature, messages))
          if (!isTrue) lies.push({ ...client, ...args, available, last: messages.at(-1) })
        }
      }
    }
    expect(lies).toEqual([])
  })
})

it.each(['completion/complete', 'prompts/get'] as const)('%s → can is what happens', async (method) => {
  const said: unknown[] = []
  const ask = async (ctx: McpContext) => {
    said.push(ctx.can('elicitation.form'))
    return (await ctx.elicit('?', form)).action
  }
  const server = createServer({
    onError: () => {},
    prompts: {
      words: {
        description: 'Words.',
        argsSchema: z.object({ word: z.string() }),
        complete: { word: async (_typed, { context }) => [await ask(context)] },
        get: (_args, ctx) => ask(ctx),
      },
    },
  })
  const params =
    method === 'prompts/get'
      ? { name: 'words', arguments: { word: 'x' } }
      : { ref: { type: 'ref/prompt', name: 'words' }, argument: { name: 'word', value: '' } }
  const meta = { [META.clientCapabilities]: { elicitation: {} } }
  const [answer] = await messagesOf(await server.handle(modernRequest(method, params, { meta }), {}))
  const isAsked = answer!.result?.inputRequests !== undefined
  expect(said).toEqual([expect.objectContaining({ available: isAsked })])
  if (!isAsked) expect(answer!.error?.data).toMatchObject({ feature: 'elicitation.form' })
})
