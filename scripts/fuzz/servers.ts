/**
 * The servers that whole requests are sent to: everything on, everything guarded, and everything narrow.
 */
import * as z from 'zod'
import { jwt } from '../../src/auth.ts'
import {
  createMemoryBus,
  createMemoryRendezvous,
  createTool,
  jsonSchema,
  MCPServer,
  type MCPServerConfig,
  type RequestPlatform,
} from '../../src/index.ts'
import { AUDIENCE, ISSUER, JWKS, SECRET } from './genuine.ts'

export interface FuzzedServer {
  readonly server: MCPServer
  readonly platform: RequestPlatform
  /** Whether forwarded headers may change the server's own URL. */
  readonly trustProxy: boolean
  /** Its own URL, if no request can change it. */
  readonly publicUrl?: string
}

const echo = createTool({
  id: 'echo',
  description: 'Gives its arguments back',
  inputSchema: jsonSchema<Record<string, unknown>>({
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
    },
  }),
  execute: (input) => ({ content: [{ type: 'text', text: 'echo' }], structuredContent: { ...input } }),
})

const add = createTool({
  id: 'add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number().default(1), note: z.string().max(20).optional() }),
  outputSchema: z.object({ sum: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})

const ask = createTool({
  id: 'ask',
  description: 'Asks twice, around a step',
  inputSchema: z.object({ to: z.string() }),
  execute: async ({ to }, ctx) => {
    const drawn = await ctx.step('draw', () => 7)
    const amount = await ctx.elicit('How much?', z.object({ amount: z.number() }), { key: 'amount' })
    const sure = await ctx.elicit('Sure?', z.object({ sure: z.boolean() }), { key: 'sure' })
    return `${to} ${drawn} ${amount.action} ${sure.action}`
  },
})

const visit = createTool({
  id: 'visit',
  description: 'Sends its user to a page',
  execute: async (_input, ctx) => (await ctx.elicit('Sign in', 'https://login.example/')).action,
})

const sample = createTool({
  id: 'sample',
  description: 'Asks the model of the client, and for its roots',
  execute: async (_input, ctx) => {
    const messages = [{ role: 'user' as const, content: { type: 'text', text: 'Hi' } }]
    const [said, roots] = await Promise.all([ctx.createMessage({ messages, maxTokens: 5 }), ctx.listRoots()])
    return { said: said.model, roots: roots.length }
  },
})

const progress = createTool({
  id: 'progress',
  description: 'Says what it is told in its log and its progress',
  inputSchema: jsonSchema<{ text?: unknown }>({ type: 'object' }),
  execute: ({ text = 'x' }, ctx) => {
    ctx.log('warning', text)
    ctx.reportProgress({ progress: 1, total: 2, message: String(text) })
    return { text }
  },
})

const FAILURE = new Error('It did not work.')

const fail = createTool({
  id: 'fail',
  description: 'Fails',
  execute: () => {
    throw FAILURE
  },
})

const admin = createTool({
  id: 'admin',
  description: 'For admins',
  scopes: ['admin'],
  execute: () => 'ruled',
})

const resources = [
  { uri: 'note://fixed', name: 'note', mimeType: 'text/plain', read: () => 'a note' },
  {
    uriTemplate: 'users://{id}',
    complete: { id: (value: string) => ['1', '2'].filter((id) => id.startsWith(value)) },
    read: ({ variables }: { variables: Record<string, string> }) => JSON.stringify(variables),
  },
  {
    uriTemplate: 'files://{+path}',
    read: ({ uri, variables }: { uri: string; variables: Record<string, string> }) =>
      `${uri} ${variables.path}`,
  },
  {
    uriTemplate: 'search://q{?text,limit}{#part}',
    read: ({ variables }: { variables: Record<string, string> }) => JSON.stringify(variables),
  },
]

const prompts = {
  review: {
    argsSchema: z.object({ text: z.string(), tone: z.string().optional() }),
    complete: { tone: (value: string) => ['kind', 'strict'].filter((tone) => tone.startsWith(value)) },
    get: ({ text, tone }: { text: string; tone?: string | undefined }) => `Review ${text}, ${tone ?? 'kind'}`,
  },
}

const IDENTITY = { id: 'fuzz', name: 'Fuzz', version: '1.0.0', secret: SECRET }

/** Time limits are short, since the fuzzer waits for them. */
const QUICK = { streamAfterMs: 2, keepAliveMs: 1, maxListenMs: 2, maxCallMs: 200, bodyTimeoutMs: 200 }

/** `fault` gets the faults that the servers report as their own. */
export function createServers(fault: (error: unknown) => void): readonly FuzzedServer[] {
  const onError: MCPServerConfig['onError'] = (error, facts) => {
    // A refused state is reported, but is the client's fault; a failing tool is its own.
    if (facts.refused === undefined && error !== FAILURE) fault(error)
  }
  const common = { ...IDENTITY, onError, log: (entry: object) => void JSON.stringify(entry) }
  const open = new MCPServer({
    ...common,
    trustedTransport: true,
    tools: { echo, add, ask, visit, sample, progress, fail, admin },
    agents: { helper: { description: 'Helps', generate: async (message) => ({ text: message }) } },
    resources,
    prompts,
    pageSize: 2,
    bus: createMemoryBus(),
    legacy: 'arguments',
    http: QUICK,
    audit: { record: (entry) => void JSON.stringify(entry) },
  })
  const guarded = new MCPServer({
    ...common,
    tools: { echo, ask, admin, progress },
    resources,
    prompts,
    auth: jwt({
      issuer: ISSUER,
      audience: AUDIENCE,
      jwksUri: `${ISSUER}/jwks`,
      tokenTypes: ['JWT'],
      scopes: ['shop'],
      anonymous: { tools: ['echo'], resources: ['users://{id}'] },
      fetch: async () => Response.json(JWKS),
    }),
    http: { ...QUICK, trustProxy: true },
  })
  const narrow = new MCPServer({
    ...common,
    tools: { echo, ask, visit, sample, progress },
    resources: {
      listResources: () => [{ uri: 'note://fixed', name: 'note' }],
      getResourceContent: ({ uri }) => (uri === 'note://fixed' ? 'a note' : undefined),
      resourceTemplates: () => [{ uriTemplate: 'users://{id}', name: 'user' }],
    },
    prompts: {
      listPrompts: () => [{ name: 'review', arguments: [{ name: 'text', required: true }] }],
      getPromptMessages: () => [{ role: 'user', content: { type: 'text', text: 'Review' } }],
    },
    legacy: 'rendezvous',
    rendezvous: createMemoryRendezvous(),
    askTimeoutMs: 2,
    setup: (server) => {
      server.tool('progress').disable()
    },
    http: {
      ...QUICK,
      publicUrl: 'https://shop.example/base/mcp',
      allowedHosts: ['mcp.example', 'shop.example'],
      allowedOrigins: ['https://app.example'],
      maxJsonDepth: 8,
      maxJsonMembers: 60,
      maxStringCharacters: 300,
      maxBodyBytes: 3000,
    },
  })
  const waitUntil = (work: Promise<unknown>): void => void work.catch(fault)
  return [
    { server: open, platform: { waitUntil }, trustProxy: false },
    { server: guarded, platform: { waitUntil, clientAddress: '192.0.2.1' }, trustProxy: true },
    {
      server: narrow,
      platform: { waitUntil, prefix: '/functions/v1/shop', maxResponseBytes: 2000 },
      trustProxy: false,
      publicUrl: 'https://shop.example/base/mcp',
    },
  ]
}
