/** Code of a user may throw anything, at any place: each request still gets one answer, and the process goes on. */
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpServer as McpServerV2 } from '@modelcontextprotocol/server'
import { describe, expect, it, vi } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { fromNode } from '../../src/from-node.ts'
import {
  createMemoryBus,
  createPrompt,
  createResource,
  createTool,
  type MCPServer,
  type MCPServerConfig,
  type RequestPlatform,
} from '../../src/index.ts'
import { createSession } from '../../src/protocol/session.ts'
import { fromSdk } from '../../src/sdk.ts'
import { createMemoryTasks } from '../../src/tasks.ts'
import { secretOf } from '../_secrets.ts'
import { createServer, legacyRequest, modernRequest, post, readAnswer } from './_client.ts'
import { escapedErrors, type Fail, failing, printsLikeNode, VALUES } from './_thrown.ts'

type Call = readonly [method: string, params?: { readonly [name: string]: unknown }]

const say = createTool({ id: 'say', execute: () => 'said' })
const call = (name: string): Call => ['tools/call', { name, arguments: {} }]
const span = { run: <Result>(work: () => Result) => work(), end: () => {} }
const schemaOf = (validate: () => never) => ({ '~standard': { version: 1, vendor: 'x', validate } }) as const
const allowing = {
  '~standard': { version: 1, vendor: 'x', validate: (value: unknown) => ({ value }) },
} as const
const withJson = (schema: object) => ({
  '~standard': {
    ...(schema as { '~standard': object })['~standard'],
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
})
const tool = (config: object): Partial<MCPServerConfig> => ({
  tools: { one: createTool({ id: 'one', execute: () => ({ ok: true }), ...config }) },
})

/** Every place where a server calls code of its user, and a call that leads there. */
const PLACES: { readonly [place: string]: (fail: Fail) => readonly [Partial<MCPServerConfig>, Call] } = {
  'a tool': (fail) => [tool({ execute: fail }), call('one')],
  'a step': (fail) => [
    tool({
      execute: (_input: unknown, ctx: { step(name: string, act: Fail): unknown }) => ctx.step('one', fail),
    }),
    call('one'),
  ],
  'onInput of a tool': (fail) => [tool({ onInputAvailable: fail }), call('one')],
  'onOutput of a tool': (fail) => [tool({ onOutput: fail }), call('one')],
  'an inputSchema': (fail) => [tool({ inputSchema: withJson(schemaOf(fail)) }), call('one')],
  'an outputSchema': (fail) => [tool({ outputSchema: withJson(schemaOf(fail)) }), call('one')],
  'the JSON Schema of an inputSchema': (fail) => [
    tool({
      inputSchema: { '~standard': { ...allowing['~standard'], jsonSchema: { input: fail, output: fail } } },
    }),
    ['tools/list'],
  ],
  'toJSON of a result': (fail) => [tool({ execute: () => ({ toJSON: fail }) }), call('one')],
  'a getter of a result': (fail) => [
    tool({ execute: () => Object.defineProperty({}, 'a', { get: fail, enumerable: true }) }),
    call('one'),
  ],
  'an agent': (fail) => [
    { agents: { a: { description: 'A', generate: fail } } },
    ['tools/call', { name: 'ask_a', arguments: { message: 'x' } }],
  ],
  'a workflow': (fail) => [
    { workflows: { w: { description: 'W', createRun: () => ({ start: fail }) } } },
    call('run_w'),
  ],
  'a workflow that cannot be made': (fail) => [
    { workflows: { w: { description: 'W', createRun: fail } } },
    call('run_w'),
  ],
  'a prompt': (fail) => [{ prompts: { p: createPrompt({ get: fail }) } }, ['prompts/get', { name: 'p' }]],
  'listPrompts, for a list': (fail) => [
    { prompts: { listPrompts: fail, getPromptMessages: () => [] } },
    ['prompts/list'],
  ],
  'listPrompts, for a prompt': (fail) => [
    { prompts: { listPrompts: fail, getPromptMessages: () => [] } },
    ['prompts/get', { name: 'p' }],
  ],
  getPromptMessages: (fail) => [
    { prompts: { listPrompts: () => [{ name: 'p' }], getPromptMessages: fail } },
    ['prompts/get', { name: 'p' }],
  ],
  'a resource': (fail) => [
    { resources: [createResource({ uri: 'a://1', read: fail })] },
    ['resources/read', { uri: 'a://1' }],
  ],
  'a template': (fail) => [
    { resources: [createResource({ uriTemplate: 'a://{id}', read: fail })] },
    ['resources/read', { uri: 'a://1' }],
  ],
  listResources: (fail) => [
    { resources: { listResources: fail, getResourceContent: () => '' } },
    ['resources/list'],
  ],
  resourceTemplates: (fail) => [
    { resources: { listResources: () => [], resourceTemplates: fail, getResourceContent: () => '' } },
    ['resources/templates/list'],
  ],
  getResourceContent: (fail) => [
    { resources: { listResources: () => [], getResourceContent: fail } },
    ['resources/read', { uri: 'a://1' }],
  ],
  canSubscribe: (fail) => [
    {
      bus: createMemoryBus(),
      resources: [createResource({ uri: 'a://1', canSubscribe: fail, read: () => '' })],
    },
    ['resources/subscribe', { uri: 'a://1' }],
  ],
  complete: (fail) => [
    { resources: [createResource({ uriTemplate: 'a://{id}', complete: { id: fail }, read: () => '' })] },
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'a://{id}' }, argument: { name: 'id', value: '' } },
    ],
  ],
  setup: (fail) => [{ setup: fail, tools: { say } }, call('say')],
  'setup, for a list': (fail) => [{ setup: fail, tools: { say } }, ['tools/list']],
  'a verifier': (fail) => [{ auth: bearer(fail), tools: { say } }, call('say')],
  'a rate limiter': (fail) => [{ http: { rateLimiter: { limit: fail } }, tools: { say } }, call('say')],
  'a rate limiter that cannot be made': (fail) => [
    { http: { rateLimiter: fail }, tools: { say } },
    call('say'),
  ],
  telemetry: (fail) => [{ telemetry: { start: fail }, tools: { say } }, call('say')],
  'a span': (fail) => [{ telemetry: { start: () => ({ ...span, end: fail }) }, tools: { say } }, call('say')],
  log: (fail) => [{ log: fail, tools: { say } }, call('say')],
  'audit.record': (fail) => [{ audit: { record: fail }, tools: { say } }, call('say')],
  'audit.arguments': (fail) => [
    { audit: { record: () => {}, arguments: fail }, tools: { say } },
    call('say'),
  ],
  onError: (fail) => [
    { onError: fail, tools: { one: createTool({ id: 'one', execute: fail }) } },
    call('one'),
  ],
  'a rendezvous that cannot be made': (fail) => [
    { rendezvous: fail, legacy: 'rendezvous', tools: { say }, secret: secretOf('s') },
    call('say'),
  ],
  'the bus': (fail) => [
    {
      bus: { publish: fail, subscribe: fail },
      resources: [createResource({ uri: 'a://1', read: () => '' })],
    },
    ['resources/subscribe', { uri: 'a://1' }],
  ],
  'a task': (fail) => [
    {
      tasks: createMemoryTasks(),
      ...tool({ task: { waitMs: 500 }, execute: fail }),
    },
    call('one'),
  ],
}

/** They return something else than a promise: one that rejects is left to nobody. */
const SYNC = new Set([
  'the JSON Schema of an inputSchema',
  'toJSON of a result',
  'a getter of a result',
  'a rate limiter that cannot be made',
])

const INFO = { name: 'sdk', version: '1.0.0' }

function sdkV1(fail: Fail): McpServerV1 {
  const server = new McpServerV1(INFO)
  server.registerTool('one', {}, fail)
  return server
}

function sdkV2(fail: Fail): McpServerV2 {
  const server = new McpServerV2(INFO)
  server.registerTool('one', {}, fail)
  return server
}

type Server = Pick<MCPServer, 'handle'>
interface Sent {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

const headers = { authorization: 'Bearer an-access-token-of-the-test-4nT9qLw2rB7v' }
const platform: RequestPlatform = { waitUntil: (work) => void Promise.resolve(work).catch(() => {}) }

async function inSession(server: Server, [method, params = {}]: Call): Promise<unknown> {
  const said: Sent[] = []
  const session = createSession((server as MCPServer).getSessionParts(), {
    id: () => undefined,
    platform: { env: {} },
    send: async (message) => void said.push(message as Sent),
  })
  await session.receive({ jsonrpc: '2.0', id: 7, method, params }, undefined)
  await vi.waitFor(() => expect(said.find(({ id }) => id === 7)).toBeDefined())
  return said.find(({ id }) => id === 7)
}

const ENTRIES: { readonly [entry: string]: (server: Server, call: Call) => Promise<unknown> } = {
  modern: async (server, [method, params]) =>
    (await readAnswer(await server.handle(modernRequest(method, params, { id: 7, headers }), platform)))
      .message,
  legacy: async (server, [method, params]) =>
    (await readAnswer(await server.handle(legacyRequest(method, params, { id: 7, headers }), platform)))
      .message,
  batch: async (server, [method, params = {}]) => {
    const messages = [7, 8].map((id) => ({ jsonrpc: '2.0', id, method, params }))
    const sent = { ...headers, 'mcp-protocol-version': '2025-03-26' }
    const text = await (await server.handle(post(messages, { headers: sent }), platform)).text()
    const answer: unknown = JSON.parse(text)
    return Array.isArray(answer) ? answer.find(({ id }) => id === 7) : answer
  },
  'a session, stdio': inSession,
}

const escaped = escapedErrors()

describe.each(Object.entries(ENTRIES))('%s', (_entry, send) => {
  it.each(Object.entries(PLACES))('%s may throw anything, or reject with it', async (place, where) => {
    printsLikeNode()
    for (const [what, make] of Object.entries(VALUES)) {
      for (const how of SYNC.has(place) ? (['throws'] as const) : (['throws', 'rejects'] as const)) {
        const fail = failing(make, how)
        const [config, ask] = where(fail)
        const answer = await send(createServer(config), ask)
        await new Promise((resolve) => setImmediate(resolve))
        expect(escaped.splice(0), `${how} ${what}`).toEqual([])
        expect(answer, `${how} ${what}`).toMatchObject({ jsonrpc: '2.0' })
      }
    }
  })
})

describe.each([
  ['fromSdk, SDK v1', (fail: Fail) => fromSdk(() => sdkV1(fail))],
  ['fromSdk, SDK v2', (fail: Fail) => fromSdk(() => sdkV2(fail))],
  ['fromSdk, a factory', (fail: Fail) => fromSdk(fail)],
  ['fromNode', (fail: Fail) => fromNode(fail)],
] as const)('%s', (_entry, create) => {
  it.each(['modern', 'legacy', 'batch'])('%s: it may throw anything, or reject with it', async (era) => {
    printsLikeNode()
    for (const [what, make] of Object.entries(VALUES)) {
      const fail: Fail = () => {
        throw make()
      }
      const answer = await ENTRIES[era]!(create(fail), call('one'))
      await new Promise((resolve) => setImmediate(resolve))
      expect(escaped.splice(0), what).toEqual([])
      expect(answer, what).toMatchObject({ jsonrpc: '2.0' })
    }
  })
})
