/** Code and stores of the user that never settle: on every entry the request ends, with an answer that says so. */
import { Hono } from 'hono'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { mcp } from '../../adapters/hono.ts'
import { createSessions } from '../../adapters/node.ts'
import { bearer } from '../../src/auth.ts'
import { fromNode } from '../../src/from-node.ts'
import {
  createMemoryBus,
  createPrompt,
  createResource,
  createTool,
  type LogEntry,
  type MCPServer,
  type MCPServerConfig,
} from '../../src/index.ts'
import { createSession } from '../../src/protocol/session.ts'
import { fromSdk } from '../../src/sdk.ts'
import { createSubscriptions } from '../../src/subscriptions.ts'
import { createMemoryTaskStore, createTasks } from '../../src/tasks.ts'
import { secretOf } from '../_secrets.ts'
import { createServer, initializeRequest, legacyRequest, META, modernRequest, post } from './_client.ts'
import { createV1, createV2 } from './sdk/_servers.ts'

const hang = (): Promise<never> => new Promise(() => {})

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
  vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const { setTimeout: setRealTimeout } = globalThis
const realTurn = (): Promise<void> => new Promise((resolve) => setRealTimeout(resolve, 2))

/** The longest wait of all is that of a call: ten minutes. */
const LONGEST_MS = 660_000

/** Advances the clock until the work is done. Rejects if it is not done in time. */
async function inTime<Value>(work: Value | Promise<Value>): Promise<Value> {
  let isDone = false
  const done = Promise.resolve(work).finally(() => {
    isDone = true
  })
  done.catch(() => {})
  for (let ms = 0; ms <= LONGEST_MS && !isDone; ms += 5000) {
    await vi.advanceTimersByTimeAsync(5000)
    // For what the runtime does outside of timers, such as cryptography.
    await realTurn()
  }
  for (let turn = 0; turn < 500 && !isDone; turn++) await realTurn()
  if (!isDone) throw new Error('It hangs.')
  return done
}

interface Sent {
  readonly method: string
  readonly params?: { readonly [name: string]: unknown }
}
type Handler = Pick<MCPServer, 'handle' | 'fetch'>

const bodyOf = ({ method, params = {} }: Sent, id = 1) => ({ jsonrpc: '2.0', id, method, params })
const textOf = async (response: Response | Promise<Response>) => (await response).text()
const DECLARED = {
  [META.clientCapabilities]: { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: {} },
}
const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
}
const headers = { authorization: 'Bearer ann' }
const LEGACY = { ...headers, 'mcp-protocol-version': '2025-03-26' }

const inSessionOf = ({ headers }: Response) => ({
  'mcp-session-id': headers.get('mcp-session-id')!,
  'mcp-protocol-version': '2025-03-26',
})

/** How a message reaches a server. Resolves with all that the client got. */
const ENTRIES = {
  modern: (server: Handler, { method, params }: Sent) =>
    textOf(server.fetch(modernRequest(method, params, { headers, meta: DECLARED }))),
  legacy: (server: Handler, { method, params }: Sent) =>
    textOf(server.fetch(legacyRequest(method, params, { headers: LEGACY }))),
  'a batch': (server: Handler, sent: Sent) =>
    textOf(server.fetch(post([bodyOf(sent), bodyOf({ method: 'ping' }, 2)], { headers: LEGACY }))),
  'a session': async (server: Handler, sent: Sent) => {
    const sessions = createSessions(server as MCPServer)
    const opened = await sessions.fetch(initializeRequest(initialize.params, headers))
    const text = await opened.text()
    const id = opened.headers.get('mcp-session-id')
    if (id === null) return text
    return textOf(sessions.fetch(post(bodyOf(sent), { headers: { ...LEGACY, 'mcp-session-id': id } })))
  },
  stdio: async (server: Handler, sent: Sent) => {
    const got: string[] = []
    const send = (message: object) => void got.push(JSON.stringify(message))
    const session = createSession((server as MCPServer).getSessionParts(), { send, platform: {} })
    await session.receiveText(JSON.stringify(bodyOf(initialize, 0)))
    await session.receiveText(JSON.stringify(bodyOf(sent)))
    session.close()
    return got.at(-1)!
  },
} satisfies { readonly [entry: string]: (server: Handler, sent: Sent) => Promise<string> }
type EntryName = keyof typeof ENTRIES
const OVER_HTTP: readonly EntryName[] = ['modern', 'legacy', 'a batch', 'a session']
const EVERY = Object.keys(ENTRIES) as EntryName[]

interface Case {
  readonly config: () => Partial<MCPServerConfig>
  readonly sent?: Sent
  readonly entries?: readonly EntryName[]
  /** What the client gets. Default: the error of a call that takes too long. */
  readonly answer?: RegExp
  /** What is reported. Default: nothing, as the log names the method and its target. */
  readonly reported?: RegExp
}

const call = (name: string, args: object = {}): Sent => ({
  method: 'tools/call',
  params: { name, arguments: args },
})
const hello = createTool({ id: 'hello', execute: () => 'hello' })
const tools = { hello }
const hanging = createTool({ id: 'hanging', execute: hang })
const SLOW = /maxCallMs/
const HELLO = /hello/
const TASK = { ...createMemoryTaskStore(), create: hang, read: hang, due: hang, replace: hang }
const taskTool = createTool({ id: 'task', task: 'required', execute: () => 'done' })
const sleepingTool = createTool({
  id: 'sleeps',
  task: 'auto',
  execute: (_input, ctx) => ctx.sleep('a minute', 60_000),
})

/** By what never settles. */
const CASES: { readonly [what: string]: Case } = {
  'a verifier': {
    config: () => ({ tools, auth: bearer(hang) }),
    sent: call('hello'),
    entries: OVER_HTTP,
    answer: /could not be checked/,
    reported: /token verifier did not answer/,
  },
  'a rate limiter': {
    config: () => ({ tools, http: { rateLimiter: { limit: hang } } }),
    sent: call('hello'),
    entries: OVER_HTTP,
    answer: HELLO,
    reported: /rate limiter did not answer/,
  },
  setup: { config: () => ({ tools, setup: hang }), sent: call('hello') },
  'a tool': { config: () => ({ tools: { hanging } }), sent: call('hanging') },
  'a step': {
    config: () => ({
      tools: { step: createTool({ id: 'step', execute: (_input, ctx) => ctx.step('one', hang) }) },
    }),
    sent: call('step'),
  },
  'an agent': {
    config: () => ({ agents: { sage: { name: 'Sage', description: 'Wise', generate: hang } as never } }),
    sent: call('ask_sage', { message: 'Why?' }),
  },
  'a schema': {
    config: () => ({
      tools: {
        slow: createTool({
          id: 'slow',
          inputSchema: z.object({ a: z.string().refine(hang) }),
          execute: () => '',
        }),
      },
    }),
    sent: call('slow', { a: 'b' }),
  },
  'the read of a resource': {
    config: () => ({ resources: [createResource({ uri: 'a://1', read: hang })] }),
    sent: { method: 'resources/read', params: { uri: 'a://1' } },
  },
  listResources: {
    config: () => ({ resources: { listResources: hang, getResourceContent: hang } as never }),
    sent: { method: 'resources/list' },
  },
  getResourceContent: {
    config: () => ({ resources: { listResources: async () => [], getResourceContent: hang } as never }),
    sent: { method: 'resources/read', params: { uri: 'a://1' } },
  },
  'a prompt': {
    config: () => ({ prompts: { p: createPrompt({ get: hang } as never) } }),
    sent: { method: 'prompts/get', params: { name: 'p' } },
  },
  listPrompts: {
    config: () => ({ prompts: { listPrompts: hang, getPromptMessages: hang } as never }),
    sent: { method: 'prompts/list' },
  },
  getPromptMessages: {
    config: () => ({
      prompts: { listPrompts: async () => [{ name: 'p' }], getPromptMessages: hang } as never,
    }),
    sent: { method: 'prompts/get', params: { name: 'p' } },
  },
  'a bus, as a tool publishes': {
    config: () => {
      const tell = createTool({
        id: 'tell',
        execute: () => server.resources.notifyListChanged().then(() => 'hello'),
      })
      const server = createServer({ bus: { ...createMemoryBus(), publish: hang } })
      return { tools: { tell } }
    },
    sent: call('tell'),
    answer: HELLO,
  },
  'a bus, as a client listens': {
    config: () => ({ tools, bus: { publish: () => {}, subscribe: hang } as never }),
    sent: { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } },
    entries: ['modern'],
    answer: /bus does not answer/,
    reported: /bus did not answer/,
  },
  canSubscribe: {
    config: () => ({
      bus: createMemoryBus(),
      resources: [createResource({ uri: 'a://1', read: () => '', canSubscribe: hang as never })],
    }),
    sent: { method: 'subscriptions/listen', params: { notifications: { resourceSubscriptions: ['a://1'] } } },
    entries: ['modern'],
    answer: /Internal error/,
    reported: /canSubscribe did not answer/,
  },
  'the canSubscribe of a session': {
    config: () => ({
      resources: [createResource({ uri: 'a://1', read: () => '', canSubscribe: hang as never })],
    }),
    sent: { method: 'resources/subscribe', params: { uri: 'a://1' } },
    entries: ['a session', 'stdio'],
    answer: /Internal error/,
    reported: /canSubscribe did not answer/,
  },
  'a store of tasks': {
    config: () => ({ tools: { task: taskTool }, tasks: createTasks({ store: TASK }) }),
    sent: call('task'),
    entries: ['modern'],
    answer: /store of the tasks did not answer/,
    reported: /store of the tasks did not answer/,
  },
  'a store of tasks, as a call sleeps': {
    config: () => ({ tools: { sleeps: sleepingTool }, tasks: createTasks({ store: TASK }) }),
    sent: call('sleeps'),
    entries: ['modern'],
    answer: /store of the tasks did not answer/,
    reported: /store of the tasks did not answer/,
  },
  'a store of tasks that are read': {
    config: () => ({ tools: { task: taskTool }, tasks: createTasks({ store: TASK }) }),
    sent: { method: 'tasks/get', params: { taskId: 'x'.repeat(32) } },
    entries: ['modern'],
    answer: /Internal error/,
    reported: /store of the tasks did not answer/,
  },
  'a runner of tasks': {
    config: () => ({
      tools: { task: taskTool },
      tasks: createTasks({ store: createMemoryTaskStore(), runner: { wake: hang, isPrompt: true } }),
    }),
    sent: call('task'),
    entries: ['modern'],
    answer: /taskId/,
    reported: /runner of the tasks did not answer/,
  },
  telemetry: {
    config: () => ({ tools, telemetry: { start: () => ({ run: hang as never, end: () => {} }) } }),
    sent: call('hello'),
    answer: HELLO,
    reported: /telemetry.* did not answer/,
  },
  'a log and an audit trail': {
    config: () => ({ tools, log: hang as never, audit: { record: hang as never, arguments: hang } }),
    sent: call('hello'),
    answer: HELLO,
  },
  onError: {
    config: () => ({
      tools: {
        throws: createTool({
          id: 'throws',
          execute: () => {
            throw new Error('broken')
          },
        }),
      },
      onError: hang as never,
    }),
    sent: call('throws'),
    answer: /broken/,
  },
}

describe.each(Object.entries(CASES))(
  '%s that never settles',
  (_what, { config, sent, entries = EVERY, answer = SLOW, reported }) => {
    it.each(entries)('%s: the request ends [waits.bounded]', async (entry) => {
      const errors: string[] = []
      const log: LogEntry[] = []
      const server = createServer({
        log: (line) => log.push(line),
        onError: (error) => errors.push(String(error)),
        ...config(),
      })

      expect(await inTime(ENTRIES[entry](server, sent!))).toMatch(answer)

      if (reported !== undefined) expect(errors.join('\n')).toMatch(reported)
      else if (answer === SLOW && entry !== 'stdio')
        expect(log.map(({ method }) => method)).toContain(entry === 'a batch' ? 'batch' : sent!.method)
      // The other entries send more than this message.
      if (reported !== undefined && entry === 'modern') expect(errors).toHaveLength(1)
    })
  },
)

describe('servers of other SDKs that never settle', () => {
  it.each([
    ['a factory, legacy', () => fromSdk(hang, { log: false }), 'legacy'],
    ['a factory, modern', () => fromSdk(hang, { log: false }), 'modern'],
    ['a factory, a batch', () => fromSdk(hang, { log: false }), 'a batch'],
    ['a handler of Node', () => fromNode(hang as never, { log: false }), 'legacy'],
  ] as const)('%s [waits.bounded]', async (_what, create, entry) => {
    expect(await inTime(ENTRIES[entry](create() as never, call('who')))).toMatch(SLOW)
  })

  it.each([
    ['v1', createV1, 'legacy'],
    ['v1', createV1, 'a batch'],
    ['v2', createV2, 'modern'],
  ] as const)('their verifier and limiter, SDK %s [waits.bounded]', async (_sdk, factory, entry) => {
    const errors: string[] = []
    const onError = (error: unknown) => errors.push(String(error))
    const closed = fromSdk(factory as never, { log: false, auth: bearer(hang), onError })
    expect(await inTime(ENTRIES[entry](closed as never, call('who')))).toMatch(/could not be checked/)
    const open = fromSdk(factory as never, { log: false, http: { rateLimiter: { limit: hang } }, onError })
    expect(await inTime(ENTRIES[entry](open as never, call('who')))).toMatch(/result/)
    expect(errors.join('\n')).toMatch(/token verifier[\s\S]*rate limiter/)
  })
})

describe('beside calls', () => {
  it('the app that authenticates callers [waits.bounded]', async () => {
    const onError = vi.fn()
    const server = createServer({ tools, onError })
    const response = await inTime(server.handle(modernRequest('tools/list'), { caller: hang }))
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    expect(String(onError.mock.calls[0]?.[0])).toMatch(/app that authenticates callers did not answer/)
  })

  it('the env of an app of Hono [waits.bounded]', async () => {
    const app = new Hono().post('/mcp', mcp(createServer({ tools }), { env: hang }))
    app.onError((error, c) => c.text(String(error), 503))
    const response = await inTime(Promise.resolve(app.request(modernRequest('tools/list'))))
    expect(await response.text()).toMatch(/option "env" of mcp\(\) did not answer/)
  })

  it('the page, with a limiter [waits.bounded]', async () => {
    const server = createServer({ tools, http: { rateLimiter: { limit: hang } } })
    const page = new Request('https://mcp.example/', { headers: { accept: 'text/html' } })
    expect((await inTime(server.fetch(page))).status).toBe(200)
  })

  it('the hooks and the event store of sessions [waits.bounded]', async () => {
    const errors: string[] = []
    const server = createServer({ tools, onError: (error) => errors.push(String(error)) })
    const eventStore = { storeEvent: hang, replayEventsAfter: hang }
    const sessions = createSessions(server, { onsessioninitialized: hang, onsessionclosed: hang, eventStore })
    const open = sessions.fetch(initializeRequest(initialize.params))
    const opened = await inTime(open)
    expect(await inTime(opened.text())).toContain('"result"')
    const inSession = inSessionOf(opened)
    expect(await inTime(textOf(sessions.fetch(post(bodyOf(call('hello')), { headers: inSession }))))).toMatch(
      HELLO,
    )
    const lost = { ...inSession, accept: 'text/event-stream', 'last-event-id': 'x' }
    expect(
      (await inTime(sessions.fetch(new Request('https://mcp.example/mcp', { headers: lost })))).status,
    ).toBeGreaterThan(399)
    const close = new Request('https://mcp.example/mcp', { method: 'DELETE', headers: inSession })
    expect((await inTime(sessions.fetch(close))).status).toBe(200)
    for (const what of ['onsessioninitialized', 'onsessionclosed', 'event store'])
      expect(errors.join('\n')).toContain(what)
  })

  it('a store of subscriptions [waits.bounded]', async () => {
    const onError = vi.fn()
    const store = { add: hang, remove: hang, list: hang, clear: hang }
    const server = createServer({
      bus: createMemoryBus(),
      secret: secretOf('s'),
      subscriptions: createSubscriptions(store),
      resources: [createResource({ uri: 'a://1', read: () => '' })],
      onError,
    })
    const opened = await inTime(server.fetch(initializeRequest(initialize.params)))
    const inSession = inSessionOf(opened)
    const subscribe = legacyRequest('resources/subscribe', { uri: 'a://1' }, { headers: inSession })
    expect(await inTime(textOf(server.fetch(subscribe)))).toMatch(/store of subscriptions does not answer/)
    for (const method of ['GET', 'DELETE']) {
      const request = new Request('https://mcp.example/mcp', {
        method,
        headers: { ...inSession, accept: 'text/event-stream' },
      })
      expect((await inTime(server.fetch(request))).status).toBe(503)
    }
    expect(String(onError.mock.calls[0]?.[0])).toMatch(/store of subscriptions did not answer/)
  })

  it('a rendezvous, as it is asked and as an answer comes [waits.bounded]', async () => {
    const errors: string[] = []
    const ask = createTool({
      id: 'ask',
      execute: async (_input, ctx) => (await ctx.elicit('Sure?', z.object({ yes: z.boolean() }))).action,
    })
    const token = `mayfly1.${btoa(JSON.stringify(['2025-11-25', null, { elicitation: {} }])).replace(/=+$/, '')}`
    const id = { headers: { 'mcp-session-id': token } }
    for (const wait of [hang, async () => ({ answer: hang() })]) {
      const server = createServer({
        tools: { ask },
        legacy: 'rendezvous',
        rendezvous: { wait, deliver: hang } as never,
        onError: (error) => errors.push(String(error)),
      })
      const asked = server.fetch(legacyRequest('tools/call', { name: 'ask', arguments: {} }, id))
      expect(await inTime(textOf(asked))).toMatch(/rendezvous did not answer|Internal error/)
      const answer = post({ jsonrpc: '2.0', id: 'mayfly-1', result: {} }, id)
      expect((await inTime(server.fetch(answer))).status).toBeGreaterThan(499)
    }
    expect(errors.join('\n')).toMatch(/rendezvous did not answer/)
  })
})
