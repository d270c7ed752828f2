/** Code of a user around a client, a gateway, a bus, a task or a test may throw anything: each call ends, and the process goes on. */
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createOAuthProvider, MCPClient, type MCPClientConfig, MCPClientError } from '../../src/client.ts'
import { isA, textOf } from '../../src/definition/error-text.ts'
import { type GatewayServer, gateway } from '../../src/gateway.ts'
import {
  type Bus,
  createMemoryBus,
  createResource,
  createTool,
  MCPServer,
  type MCPServerConfig,
} from '../../src/index.ts'
import { createMemoryTaskStore } from '../../src/tasks/memory-store.ts'
import { createMemoryTasks, createTasks, type TaskStore } from '../../src/tasks.ts'
import { connect as connectTest } from '../../src/testing.ts'
import { answerOf, modernRequest } from '../property/_client.ts'
import { escapedErrors, type Fail, failing, VALUES } from './_thrown.ts'

const escaped = escapedErrors()
const SECRET = 'a secret of this test that is long enough'
const base = { id: 'far', name: 'Far', version: '1.0.0', log: false, onError: () => {} } as const
const NEWS = 'news://today'

const ask = createTool({
  id: 'ask',
  execute: async (_input, ctx) => {
    const answer = await ctx.elicit('Name?', z.object({ name: z.string() }))
    return answer.action
  },
})
const work = createTool({
  id: 'work',
  execute: (_input, ctx) => {
    ctx.reportProgress({ progress: 1 })
    ctx.log('error', 'said')
    return 'done'
  },
})
const slow = createTool({ id: 'slow', task: 'required', execute: () => 'done' })

const createFar = (config: Partial<MCPServerConfig> = {}): MCPServer =>
  new MCPServer({
    ...base,
    bus: createMemoryBus(),
    secret: SECRET,
    tasks: createMemoryTasks(),
    resources: [createResource({ uri: NEWS, read: () => '' })],
    tools: { ask, work, slow },
    ...config,
  })

const sendTo = (server: MCPServer) => async (url: string | URL, init?: RequestInit) =>
  server.fetch(new Request(url, init))

type ServerOptions = MCPClientConfig<'far'>['servers']['far']

async function withClient(
  options: Partial<ServerOptions>,
  use: (client: MCPClient<'far'>, far: MCPServer) => unknown,
  onError: (error: unknown) => void = () => {},
): Promise<unknown> {
  const far = createFar()
  const http = { url: 'https://far.example/mcp', fetch: sendTo(far) }
  const server = { ...('transport' in options ? {} : http), timeoutMs: 2000, ...options }
  const client = new MCPClient({
    id: crypto.randomUUID(),
    servers: { far: server as ServerOptions },
    onError,
  })
  try {
    return await use(client, far)
  } finally {
    await client.disconnect()
    await far.close()
  }
}

/** Where a client calls code of its user. What comes back is an answer, or an error of the client. */
const CLIENT: { readonly [place: string]: (fail: Fail) => Promise<unknown> } = {
  'the handler of questions': (fail) =>
    withClient({}, (client) => {
      client.elicitation.onRequest('far', fail)
      return client.callTool('far', 'ask')
    }),
  'the handler of questions, and onError': (fail) =>
    withClient(
      {},
      (client) => {
        client.elicitation.onRequest('far', fail)
        return client.callTool('far', 'ask')
      },
      fail,
    ),
  'a listener of progress': (fail) =>
    withClient({}, (client) => {
      client.progress.onUpdate('far', fail)
      return client.callTool('far', 'work')
    }),
  'onProgress of a call': (fail) =>
    withClient({}, (client) => client.callTool('far', 'work', {}, { onProgress: fail })),
  'onTask of a call': (fail) =>
    withClient({}, (client) => client.callTool('far', 'slow', {}, { onTask: fail })),
  log: (fail) => withClient({ log: fail }, (client) => client.callTool('far', 'work')),
  'a listener of changes': (fail) =>
    withClient({}, async (client, far) => {
      client.resources.onUpdated('far', fail)
      await client.resources.subscribe('far', NEWS)
      await client.tools.onListChanged('far', fail)
      await far.resources.notifyUpdated({ uri: NEWS })
      await far.tools.notifyListChanged()
      return client.callTool('far', 'work')
    }),
  fetch: (fail) => withClient({ fetch: fail }, (client) => client.callTool('far', 'work')),
  'fetch, after a connection': (fail) => {
    let isOpen = true
    const far = createFar()
    const send = (url: string | URL, init?: RequestInit) => (isOpen ? sendTo(far)(url, init) : fail())
    return withClient({ fetch: send }, async (client) => {
      await client.callTool('far', 'work')
      isOpen = false
      return client.callTool('far', 'work')
    })
  },
  'onError, with a server that is down': (fail) =>
    withClient(
      { fetch: async () => new Response('', { status: 503 }) },
      (client) => client.listTools(),
      fail,
    ),
  token: (fail) => withClient({ token: fail }, (client) => client.callTool('far', 'work')),
  'an own authProvider': (fail) =>
    withClient({ authProvider: { token: fail } as never }, (client) => client.callTool('far', 'work')),
  'an own authProvider after 401': (fail) =>
    withClient(
      {
        authProvider: { token: async () => 't', onUnauthorized: fail } as never,
        fetch: async () => new Response('', { status: 401 }),
      },
      (client) => client.callTool('far', 'work'),
    ),
  'the storage of createOAuthProvider': (fail) =>
    withClient(
      {
        authProvider: createOAuthProvider({
          storage: { get: fail, set: fail, delete: fail },
          redirectUrl: 'https://agent.example/callback',
          onRedirect: () => {},
        }),
        fetch: async () => new Response('', { status: 401 }),
      },
      (client) => client.callTool('far', 'work'),
    ),
  'the storage, for a redirect': (fail) =>
    withClient(
      {
        authProvider: createOAuthProvider({
          storage: { get: fail, set: fail, delete: fail },
          redirectUrl: 'https://agent.example/callback',
          onRedirect: fail,
        }),
      },
      (client) => client.finishAuth('far', new URLSearchParams({ code: 'c', state: 's' })),
    ),
  transport: (fail) => withClient({ transport: fail } as never, (client) => client.callTool('far', 'work')),
  'an abort with it as the reason': (fail) =>
    withClient({}, async (client) => {
      const over = new AbortController()
      const call = client.callTool('far', 'ask', {}, { signal: over.signal })
      await Promise.resolve()
        .then(() => fail())
        .catch((reason: unknown) => over.abort(reason))
      return call
    }),
}

/** Where a gateway does. */
const GATEWAY: { readonly [place: string]: (fail: Fail) => Partial<GatewayServer> } = {
  token: (fail) => ({ token: fail }),
  headers: (fail) => ({ headers: fail }),
  scopes: (fail) => ({ scopes: fail }),
  include: (fail) => ({ include: fail }),
  fetch: (fail) => ({ fetch: fail }),
  transport: (fail) => ({ transport: fail }) as never,
  'an authProvider': (fail) => ({ authProvider: { token: fail } }) as never,
  'the fetch of a call': (fail) => {
    const far = createFar()
    return {
      fetch: (url: string | URL, init?: RequestInit) =>
        String(init?.body).includes('"tools/call"') ? fail() : sendTo(far)(url, init),
    }
  },
}

/** They return something else than a promise: one that rejects is left to nobody. */
const SYNC = new Set(['include'])

async function throughGateway(server: Partial<GatewayServer>): Promise<unknown> {
  const far = createFar()
  const given = { url: 'https://far.example/mcp', fetch: sendTo(far), ...server } as GatewayServer
  if ('transport' in given) delete (given as { url?: unknown; fetch?: unknown }).url
  if ('transport' in given) delete (given as { fetch?: unknown }).fetch
  const front = new MCPServer({
    ...base,
    auth: 'host',
    secret: SECRET,
    bus: createMemoryBus(),
    gateway: gateway({ servers: { far: given }, listTimeoutMs: 2000 }),
  })
  const answers: unknown[] = []
  for (const [method, params] of [
    ['tools/list', {}],
    ['tools/call', { name: 'far_work' }],
    ['resources/read', { uri: NEWS }],
  ] as const)
    answers.push(await answerOf(await front.fetch(modernRequest(method, { params }))))
  await front.close()
  return answers
}

/** Where a bus, a store and a runner of tasks are called, and `mayfly-mcp/testing`. */
const BESIDE: { readonly [place: string]: (fail: Fail) => Promise<unknown> } = {
  'publish of a bus': (fail) => withBus({ publish: fail, subscribe: () => () => {} }),
  'subscribe of a bus': (fail) => withBus({ publish: () => {}, subscribe: fail }),
  'the end of a subscription': (fail) => withBus({ publish: () => {}, subscribe: () => fail }),
  'a listener of a memory bus': async (fail) => {
    const bus = createMemoryBus()
    await bus.subscribe(fail)
    await bus.publish({ type: 'toolsListChanged' })
  },
  'create of a task store': (fail) => withStore({ create: fail }),
  'read of a task store': (fail) => withStore({ read: fail }),
  'replace of a task store': (fail) => withStore({ replace: fail }),
  'due of a task store': (fail) => withStore({ due: fail }),
  'the last write of a run': (fail) => withRun(slow, { replace: fail }),
  'the tool of a task': (fail) => withRun(createTool({ id: 'slow', task: 'required', execute: fail })),
  'a runner of tasks': (fail) => withStore({ runner: { wake: fail, forget: fail as never } }),
  'the end of a runner of tasks': (fail) => withStore({ runner: { wake: () => {}, close: fail } }),
  'answers of a test': async (fail) => {
    const client = await connectTest(createFar(), { answers: fail })
    return client.callTool({ name: 'ask', arguments: {} }).finally(() => client.close())
  },
  'the server of a test': (fail) => connectTest({ fetch: fail }, {}),
  'waitUntil work of a test': async (fail) => {
    const late = createTool({
      id: 'late',
      execute: (_input, ctx) => {
        ctx.waitUntil((async () => fail())())
        return 'done'
      },
    })
    const client = await connectTest(createFar({ tools: { late } }))
    return client.callTool({ name: 'late', arguments: {} }).finally(() => client.close())
  },
}

async function withBus(bus: Bus): Promise<unknown> {
  const server = createFar({ bus })
  await server.resources.notifyUpdated({ uri: NEWS })
  const notifications = { toolsListChanged: true, resourceSubscriptions: [NEWS] }
  const response = await server.fetch(modernRequest('subscriptions/listen', { params: { notifications } }))
  await response.body?.cancel()
  await server.close()
  return response.status
}

const meta = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
}

/** A task until its run is over, which tries to write for two seconds. */
async function withRun(tool: typeof slow, part: Partial<TaskStore> = {}): Promise<unknown> {
  const store = { ...createMemoryTaskStore(), ...part }
  const tasks = createTasks({ store, leaseMs: 1000, maxRunMs: 2000 })
  const server = createFar({ tasks, tools: { slow: tool } })
  const work: Promise<unknown>[] = []
  const waitUntil = (promise: Promise<unknown>) => void work.push(promise)
  await server.handle(modernRequest('tools/call', { params: { name: 'slow' }, meta }), { waitUntil })
  await Promise.all(work)
  return server.close()
}

async function withStore(part: Partial<TaskStore>): Promise<unknown> {
  const store = { ...createMemoryTaskStore(), ...part }
  const server = createFar({ tasks: createTasks({ store }) })
  const started = await answerOf(
    await server.fetch(modernRequest('tools/call', { params: { name: 'slow' }, meta })),
  )
  const taskId = String(started.result?.taskId ?? 'unknown')
  for (const method of ['tasks/get', 'tasks/cancel'])
    await answerOf(await server.fetch(modernRequest(method, { params: { taskId }, meta })))
  await server.tasks.runDue().catch((error: unknown) => textOf(error))
  await server.tasks.run(taskId)
  await server.close()
  return started
}

const all = Object.entries(VALUES).flatMap(([what, make]) =>
  (['throws', 'rejects'] as const).map((how) => ({ what: `${how} ${what}`, fail: failing(make, how), how })),
)

async function settled(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return { value: await work() }
  } catch (error) {
    return { error }
  } finally {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('MCPClient', () => {
  it.each(Object.entries(CLIENT))(
    '%s may throw anything, or reject with it',
    async (_place, run) => {
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const attempt = async ({ what, fail }: (typeof all)[number]): Promise<void> => {
        const outcome = (await settled(() => run(fail))) as { error?: unknown }
        expect(escaped.splice(0), what).toEqual([])
        if (!('error' in outcome)) return
        expect(isA(outcome.error, MCPClientError), `${what}: ${textOf(outcome.error)}`).toBe(true)
        expect(textOf(outcome.error).length, what).toBeLessThan(7000)
      }
      // At once, since a client waits between two polls of a task.
      await Promise.all(all.map(attempt))
    },
    60_000,
  )
})

describe('a gateway', () => {
  it.each(Object.entries(GATEWAY))(
    '%s may throw anything, or reject with it',
    async (place, options) => {
      for (const name of ['error', 'warn'] as const) vi.spyOn(console, name).mockImplementation(() => {})
      for (const { what, fail, how } of all) {
        if (how === 'rejects' && SYNC.has(place)) continue
        const outcome = await settled(() => throughGateway(options(fail)))
        expect(escaped.splice(0), what).toEqual([])
        expect(outcome, what).toMatchObject({ value: [{}, {}, {}] })
        expect(JSON.stringify(outcome).length, what).toBeLessThan(20_000)
      }
    },
    60_000,
  )
})

describe('a bus, tasks and mayfly-mcp/testing', () => {
  it.each(Object.entries(BESIDE))(
    '%s may throw anything, or reject with it',
    async (_place, run) => {
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const attempt = async ({ what, fail }: (typeof all)[number]): Promise<void> => {
        await settled(() => run(fail))
        expect(escaped.splice(0), what).toEqual([])
      }
      // At once, since a task that a store did not create is looked for during two seconds.
      await Promise.all(all.map(attempt))
    },
    60_000,
  )
})
