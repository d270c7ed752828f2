/** The options of platforms, stores and buses. */
import { MCPServer } from 'mayfly-mcp'
import * as bun from 'mayfly-mcp/bun'
import {
  durableObjectBus,
  durableObjectEvents,
  durableObjectGrants,
  durableObjectRendezvous,
  durableObjectSubscriptions,
  durableObjectTaskStore,
  kvKeyStore,
} from 'mayfly-mcp/cloudflare'
import { deno } from 'mayfly-mcp/deno'
import { dynamoEvents, dynamoGrants, dynamoKeyStore, dynamoTaskStore } from 'mayfly-mcp/dynamodb'
import { mcp } from 'mayfly-mcp/hono'
import { durableRunner, lambda, sqsRunner, streamingLambda } from 'mayfly-mcp/lambda'
import { natsBus } from 'mayfly-mcp/nats'
import { netlify, netlifyEdge } from 'mayfly-mcp/netlify'
import { createSessions, nodeListener, serve, startHTTP, startStdio } from 'mayfly-mcp/node'
import { nodeEventSender } from 'mayfly-mcp/node-events'
import {
  postgresBus,
  postgresEvents,
  postgresGrants,
  postgresKeyStore,
  postgresTaskStore,
} from 'mayfly-mcp/postgres'
import {
  redisBus,
  redisEvents,
  redisGrants,
  redisKeyStore,
  redisRateLimiter,
  redisRendezvous,
  redisSubscriptions,
  redisTaskStore,
} from 'mayfly-mcp/redis'
import { supabase } from 'mayfly-mcp/supabase'
import { routeHandlers, vercel } from 'mayfly-mcp/vercel'
import type { Taker, Takers } from './_walk.ts'

const ENV = { env: 'the platform’s bindings' }
const BINDING = 'takes a binding of the platform'
const OBJECT = 'a Durable Object: the platform creates it'
const server = new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', log: false })
const namespace = { idFromName() {}, get() {} } as never
const on = (call: (given: typeof server, options: never) => unknown, options: object): Taker => ({
  call: (given) => call(server, given),
  options: { env: {}, ...options },
  open: ENV,
})
const needsItsRuntime = (taker: Taker): Taker => ({ ...taker, onlyRefusals: true })
const OUTAGE = { timeoutMs: 1000, onError() {} }
/** A driver that nothing is asked of. */
class Driver {
  on(): void {}
  isClosed(): boolean {
    return true
  }
  status(): AsyncIterable<never> {
    return (async function* () {})()
  }
  subscribe(): void {}
  publish(): void {}
}
const client = new Driver() as never
const clients = { publisher: client, subscriber: client, prefix: 'a', ...OUTAGE }
const over = (call: (client: never, options: never) => unknown, options: object): Taker => ({
  call: (given) => call(client, given),
  options,
})

export const ADAPTERS: {
  readonly [entry: string]: Takers
} = {
  'mayfly-mcp/bun': {
    bun: on(bun.bun, {}),
    serve: needsItsRuntime(on(bun.serve, { port: 0, hostname: '127.0.0.1' })),
  },
  'mayfly-mcp/cloudflare': {
    MayflyAlarmObject: OBJECT,
    MayflyBus: OBJECT,
    MayflyEvents: OBJECT,
    MayflyGrants: OBJECT,
    MayflyRendezvous: OBJECT,
    MayflySubscriptions: OBJECT,
    MayflyTaskObject: OBJECT,
    alarmObject: 'takes a function',
    alarmRunner: BINDING,
    bindingRateLimiter: BINDING,
    cloudflare: 'takes a server',
    durableObjectBus: {
      call: (options) => durableObjectBus(namespace, options),
      options: { name: 'a', pingMs: 1000, ...OUTAGE },
    },
    durableObjectEvents: {
      call: (options) => durableObjectEvents(namespace, options),
      options: { name: 'a', timeoutMs: 1000 },
    },
    durableObjectGrants: {
      call: (options) => durableObjectGrants(namespace, options),
      options: { name: 'a', timeoutMs: 1000 },
    },
    durableObjectRendezvous: {
      call: (options) => durableObjectRendezvous(namespace, options),
      options: OUTAGE,
    },
    durableObjectSubscriptions: {
      call: (options) => durableObjectSubscriptions(namespace, options),
      options: { name: 'a', ttlMs: 1000, maxCharacters: 1000, timeoutMs: 1000 },
    },
    durableObjectTaskStore: {
      call: (options) => durableObjectTaskStore(namespace, options),
      options: { name: 'a', timeoutMs: 1000 },
    },
    kvKeyStore: {
      call: (options) => kvKeyStore({ get() {}, list() {} } as never, options),
      options: { prefix: 'a', timeoutMs: 1000 },
    },
    queueRunner: BINDING,
    taskObject: 'takes a function',
    workflowRunner: BINDING,
  },
  'mayfly-mcp/deno': { deno: on(deno, { hostname: '127.0.0.1' }) },
  'mayfly-mcp/dynamodb': {
    dynamoEventTable: 'takes the name of a table',
    dynamoEvents: over(dynamoEvents, { table: 'a', prefix: 'b', timeoutMs: 1000 }),
    dynamoGrantTable: 'takes the name of a table',
    dynamoGrants: over(dynamoGrants, { table: 'a', prefix: 'b', timeoutMs: 1000 }),
    dynamoKeyStore: over(dynamoKeyStore, { table: 'a', prefix: 'b', timeoutMs: 1000 }),
    dynamoKeyTable: 'takes the name of a table',
    dynamoTaskStore: over(dynamoTaskStore, { table: 'a', prefix: 'b', timeoutMs: 1000 }),
    dynamoTaskTable: 'takes the name of a table',
  },
  'mayfly-mcp/hono': {
    METADATA_ROUTE: 'a string',
    honoContext: 'takes a context',
    mcp: {
      call: (options) => mcp(server, options),
      options: { auth() {}, env() {}, basePath: '/api', cors: 'app', errors: 'app' },
    },
    metadataRoute: 'takes a path',
  },
  'mayfly-mcp/lambda': {
    durableRunner: { ...over(durableRunner, { functionName: 'a', env: {} }), open: ENV },
    lambda: on(lambda, {}),
    sqsRunner: { ...over(sqsRunner, { queueUrl: 'https://sqs.example/a', env: {} }), open: ENV },
    streamingLambda: needsItsRuntime(on(streamingLambda, {})),
  },
  'mayfly-mcp/nats': { natsBus: { call: natsBus, options: { client, prefix: 'a', ...OUTAGE } } },
  'mayfly-mcp/netlify': {
    netlify: on(netlify, { maxDurationMs: 1000 }),
    netlifyEdge: on(netlifyEdge, { maxDurationMs: 1000 }),
  },
  'mayfly-mcp/node-events': {
    nodeEventSender: { call: nodeEventSender, options: { allowLoopback: true, resolve: async () => [] } },
  },
  'mayfly-mcp/node': {
    closeSessions: 'takes a server',
    createSessions: {
      call: (options) => createSessions(server, options).close(),
      options: { maxSessions: 1, idleMs: 1000, enableJsonResponse: true, onsessioninitialized() {} },
    },
    fileKeyStore: 'takes the path of a file',
    nodeListener: on(nodeListener, { hostname: '127.0.0.1' }),
    serve: {
      ...on(async (given, options) => (await serve(given, options)).close(), { port: 0 }),
    },
    startHTTP: [
      needsItsRuntime({
        call: startHTTP,
        options: { server, url: new URL('http://a/mcp'), httpPath: '/mcp' },
      }),
      needsItsRuntime({
        call: (options) => startHTTP({ server, req: {}, res: {}, httpPath: '/mcp', options } as never),
        options: { serverless: true, maxSessions: 1 },
      }),
    ],
    startStdio: needsItsRuntime(on(startStdio, {})),
  },
  'mayfly-mcp/postgres': {
    postgresBus: { call: postgresBus, options: { client, prefix: 'a', ...OUTAGE } },
    postgresEventSchema: 'takes the name of a table',
    postgresEvents: over(postgresEvents, { table: 'a', createTable: true, ...OUTAGE }),
    postgresGrantSchema: 'takes the name of a table',
    postgresGrants: over(postgresGrants, { table: 'a', createTable: true, ...OUTAGE }),
    postgresTaskSchema: 'takes the name of a table',
    postgresKeySchema: 'takes the name of a table',
    postgresKeyStore: over(postgresKeyStore, { table: 'a', ...OUTAGE }),
    postgresTaskStore: over(postgresTaskStore, { table: 'a', ...OUTAGE }),
  },
  'mayfly-mcp/redis': {
    redisBus: { call: redisBus, options: clients },
    redisRateLimiter: { call: redisRateLimiter, options: { client, calls: 1, windowMs: 1000, ...OUTAGE } },
    redisRendezvous: { call: redisRendezvous, options: clients },
    redisSubscriptions: {
      call: redisSubscriptions,
      options: { client, prefix: 'a', ttlMs: 1000, maxCharacters: 1000, ...OUTAGE },
    },
    redisEvents: over(redisEvents, { prefix: 'a', ...OUTAGE }),
    redisGrants: over(redisGrants, { prefix: 'a', ...OUTAGE }),
    redisKeyStore: over(redisKeyStore, { prefix: 'a', ...OUTAGE }),
    redisTaskStore: over(redisTaskStore, { prefix: 'a', ...OUTAGE }),
  },
  'mayfly-mcp/supabase': { supabase: needsItsRuntime(on(supabase, { maxDurationMs: 1000 })) },
  'mayfly-mcp/vercel': {
    routeHandlers: on(routeHandlers, { maxDurationMs: 1000, firstByteMs: 1000 }),
    vercel: on(vercel, { maxDurationMs: 1000, firstByteMs: 1000 }),
  },
}
