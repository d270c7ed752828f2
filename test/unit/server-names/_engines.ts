/** Each exported bus, store, limiter and runner: how it is made over a client that only records what it is asked. */

import {
  alarmRunner,
  bindingRateLimiter,
  durableObjectBus,
  durableObjectSubscriptions,
  durableObjectTaskStore,
  queueRunner,
  workflowRunner,
} from '../../../adapters/cloudflare.ts'
import { dynamoTaskStore } from '../../../adapters/dynamodb.ts'
import { durableRunner, sqsRunner } from '../../../adapters/lambda.ts'
import { natsBus } from '../../../adapters/nats.ts'
import { postgresBus, postgresTaskStore } from '../../../adapters/postgres.ts'
import { redisBus, redisRateLimiter, redisSubscriptions, redisTaskStore } from '../../../adapters/redis.ts'
import type { Bus, MCPServerConfig, RateLimiter } from '../../../src/index.ts'
import { MCPServer } from '../../../src/index.ts'
import type { Subscriptions } from '../../../src/subscriptions.ts'
import { createMemoryTaskStore, createTasks, type TaskRunner, type TaskStore } from '../../../src/tasks.ts'

/** What the client was asked, as JSON. */
export type Asked = string[]

/** Every member is a function that is refused, which is enough: the name is part of what was asked. */
function recorder(asked: Asked): never {
  const answer = (...given: unknown[]): unknown => {
    asked.push(JSON.stringify(given, (_key, value) => (typeof value === 'function' ? undefined : value)))
    // The clock of the store comes first.
    if (/ AS now|'TIME'/.test(String(given[0]))) return Promise.resolve([{ now: Date.now() }])
    const refused = Promise.reject(new Error('This client only records.'))
    refused.catch(() => {})
    return refused
  }
  const members: { readonly [name: string]: unknown } = {
    isClosed: () => false,
    listenerCount: () => 1,
    on: () => {},
    status: async function* () {},
    // The object of a name is asked nothing more.
    idFromName: (name: string) => asked.push(JSON.stringify(name)),
    get: () => ({ fetch: async () => new Response(null, { status: 503 }) }),
  }
  return new Proxy(
    {},
    { get: (_target, name) => members[String(name)] ?? answer, has: (_target, name) => name !== 'listen' },
  ) as never
}

export interface Engine {
  /** The name that its code gives it. Undefined: the platform names its queue. */
  readonly given: string | undefined
  /** Uses it once in a server whose requests have these variables. */
  use(variables: object, given?: string): Promise<Asked>
}

const settle = (work: Promise<unknown>): Promise<unknown> => work.catch(() => {})

function serverOf(config: Partial<MCPServerConfig>): MCPServer {
  return new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', log: false, onError() {}, ...config })
}

const send = (server: MCPServer, variables: object, message: object, session?: string | null) =>
  server.fetch(
    new Request('https://shop.example/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session != null && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    }),
    variables,
  )

const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
const initialize = { method: 'initialize', params: CLIENT }

const engine = (
  given: string | undefined,
  use: (asked: Asked, variables: object, given: string | undefined) => Promise<unknown>,
): Engine => ({
  given,
  async use(variables, name) {
    const asked: Asked = []
    await use(asked, variables, name)
    return asked
  },
})

const prefixed = (prefix: string | undefined) => (prefix === undefined ? {} : { prefix })
const named = (name: string | undefined) => (name === undefined ? {} : { name })
const QUIET = { timeoutMs: 1000, onError() {} }

const bus = (make: (client: never, given: string | undefined) => Bus, given = 'old') =>
  engine(given, async (asked, variables, name) => {
    const server = serverOf({ bus: make(recorder(asked), name) })
    await send(server, variables, initialize)
    await server.resources.notifyUpdated({ uri: 'shop://news' })
  })

const limiter = (make: (client: never, given: string | undefined) => RateLimiter, given?: string) =>
  engine(given, async (asked, variables, name) => {
    const server = serverOf({ http: { rateLimiter: make(recorder(asked), name) } })
    await send(server, variables, initialize)
  })

const store = (make: (client: never, given: string | undefined) => TaskStore, given = 'old') =>
  engine(given, async (asked, variables, name) => {
    const server = serverOf({ tasks: createTasks({ store: make(recorder(asked), name) }) })
    await send(server, variables, initialize)
    await settle(server.tasks.send('a'.repeat(32), 'event'))
  })

const subscriptions = (make: (client: never, given: string | undefined) => Subscriptions, given = 'old') =>
  engine(given, async (asked, variables, name) => {
    const server = serverOf({
      secret: 'a-secret-of-the-tests-that-is-long-enough',
      bus: bus1(),
      subscriptions: make(recorder(asked), name),
      resources: [{ uri: 'shop://news', name: 'news', read: () => '' }],
    })
    const opened = await send(server, variables, initialize)
    const session = opened.headers.get('mcp-session-id')
    await send(server, variables, { method: 'resources/subscribe', params: { uri: 'shop://news' } }, session)
  })

function bus1(): Bus {
  return { publish() {}, subscribe: () => () => {} }
}

const runner = (make: (client: never) => TaskRunner) =>
  engine(undefined, async (asked, variables) => {
    const made = make(recorder(asked))
    const server = serverOf({ tasks: createTasks({ store: createMemoryTaskStore(), runner: made }) })
    await send(server, variables, initialize)
    await settle(Promise.resolve(made.wake('a'.repeat(32), Date.now() + 1000)))
  })

export const ENGINES: { readonly [name: string]: Engine } = {
  alarmRunner: runner((client) => alarmRunner(client)),
  bindingRateLimiter: limiter((client) => bindingRateLimiter(client)),
  durableObjectBus: bus((client, name) => durableObjectBus(client, { ...QUIET, ...named(name) })),
  durableObjectSubscriptions: subscriptions((client, name) =>
    durableObjectSubscriptions(client, { timeoutMs: 1000, ...named(name) }),
  ),
  durableObjectTaskStore: store((client, name) => durableObjectTaskStore(client, named(name))),
  durableRunner: runner((client) => durableRunner(client, { functionName: 'tasks:live' })),
  dynamoTaskStore: store((client, prefix) => dynamoTaskStore(client, { table: 'all', ...prefixed(prefix) })),
  natsBus: bus((client, prefix) => natsBus({ client, ...QUIET, ...prefixed(prefix) })),
  postgresBus: bus((client, prefix) => postgresBus({ client, ...QUIET, ...prefixed(prefix) })),
  postgresTaskStore: store((client, table) =>
    postgresTaskStore(client, { ...QUIET, ...(table !== undefined && { table }) }),
  ),
  queueRunner: runner((client) => queueRunner(client)),
  redisBus: bus((client, prefix) =>
    redisBus({ publisher: client, subscriber: client, ...QUIET, ...prefixed(prefix) }),
  ),
  redisRateLimiter: limiter(
    (client, prefix) => redisRateLimiter({ client, calls: 1, windowMs: 1000, ...QUIET, ...prefixed(prefix) }),
    'old',
  ),
  redisSubscriptions: subscriptions((client, prefix) =>
    redisSubscriptions({ client, ...QUIET, ...prefixed(prefix) }),
  ),
  redisTaskStore: store((client, prefix) => redisTaskStore(client, { ...QUIET, ...prefixed(prefix) })),
  sqsRunner: runner((client) => sqsRunner(client, { queueUrl: 'https://sqs.example/queue' })),
  workflowRunner: runner((client) => workflowRunner(client)),
}

/** What needs no name of the server. */
const MEMORY = 'it is in one process, whose code makes it'
const KEYS = 'each key says which server it is for'
const GRANTS = 'sign-in puts the server into each key'
const EVENTS = 'Events put the server into each key'
const ONCE = 'its keys are unguessable, and used once'
const CLASS = 'the class of an object, whose name the store gives'
export const UNNAMED: { readonly [name: string]: string } = {
  MayflyBus: CLASS,
  MayflyEvents: CLASS,
  MayflyGrants: CLASS,
  MayflyRendezvous: CLASS,
  MayflySubscriptions: CLASS,
  createMemoryBus: MEMORY,
  createMemoryEvents: MEMORY,
  createMemoryGrants: MEMORY,
  createMemoryKeyStore: MEMORY,
  createMemoryRateLimiter: MEMORY,
  createMemoryRendezvous: MEMORY,
  createMemorySubscriptions: MEMORY,
  createMemoryTaskStore: MEMORY,
  createMemoryVectorStore: MEMORY,
  createSubscriptions: 'it tells its store, which is tested by its own stores',
  durableObjectEvents: EVENTS,
  durableObjectGrants: GRANTS,
  durableObjectRendezvous: ONCE,
  dynamoEvents: EVENTS,
  dynamoGrants: GRANTS,
  dynamoKeyStore: KEYS,
  environmentKeyStore: KEYS,
  fileKeyStore: KEYS,
  kvKeyStore: KEYS,
  pollingRunner: 'it has no queue: it asks the store',
  postgresEvents: EVENTS,
  postgresGrants: GRANTS,
  postgresKeyStore: KEYS,
  redisEvents: EVENTS,
  redisGrants: GRANTS,
  redisKeyStore: KEYS,
  redisRendezvous: ONCE,
}
