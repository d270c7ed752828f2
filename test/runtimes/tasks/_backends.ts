/** Real stores of tasks, with connections for several processes. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { expect } from 'vitest'
import { type DynamoClient, dynamoTaskStore, dynamoTaskTable } from '../../../adapters/dynamodb.ts'
import { postgresTaskStore } from '../../../adapters/postgres.ts'
import { redisTaskStore } from '../../../adapters/redis.ts'
import type { TaskStore } from '../../../src/tasks.ts'
import { eventually } from '../../_eventually.ts'
import { testPort } from '../../_port.ts'
import { startPostgresServer, startRedisServer } from '../buses/_servers.ts'
import { end } from '../node/_processes.ts'
import { startWorkerd } from './stores/_workerd.ts'

export interface StoreServer {
  /** One for each process. */
  readonly stores: readonly TaskStore[]
  stop(): Promise<void>
}

const TIMEOUT_MS = 20_000

export async function startRedisStores(count: number): Promise<StoreServer> {
  const server = await startRedisServer()
  const clients = Array.from({ length: count }, () => new Redis(server.url))
  return {
    stores: clients.map((client) => redisTaskStore(client, { prefix: 'mayfly', timeoutMs: TIMEOUT_MS })),
    async stop() {
      for (const client of clients) client.disconnect()
      await server.stop()
    },
  }
}

export async function startPostgresStores(count: number): Promise<StoreServer> {
  const server = await startPostgresServer()
  const pools = Array.from({ length: count }, () =>
    new Pool({ connectionString: server.url, max: 5, idleTimeoutMillis: 0 }).on('error', () => {}),
  )
  const stores = pools.map((pool) =>
    postgresTaskStore(pool, { table: 'mayfly_tasks', onError: () => {}, timeoutMs: TIMEOUT_MS }),
  )
  await stores[0]!.migrate()
  return {
    stores,
    async stop() {
      await Promise.all(pools.map((pool) => pool.end()))
      await server.stop()
    },
  }
}

interface Dynamo extends DynamoClient {
  createTable(input: object): Promise<unknown>
  describeTable(input: { TableName: string }): Promise<{ Table: { TableStatus: string } }>
}

/** A DynamoDB with the table `tasks`. */
export async function startDynamo(): Promise<{ connect(): DynamoClient; stop(): Promise<void> }> {
  const require = createRequire(new URL('stores/dynalite/package.json', import.meta.url))
  const { DynamoDB } = require('@aws-sdk/client-dynamodb') as { DynamoDB: new (options: object) => Dynamo }
  const port = await testPort()
  const command = fileURLToPath(new URL('stores/dynalite/node_modules/dynalite/cli.js', import.meta.url))
  // A process of its own, for the other core.
  const options = ['--host', '127.0.0.1', '--port', String(port), '--createTableMs', '0']
  const child = spawn(process.execPath, [command, ...options], { stdio: 'ignore' })
  const endpoint = `http://127.0.0.1:${port}`
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const connect = (): Dynamo => new DynamoDB({ endpoint, region: 'local', credentials })
  const first = connect()
  await eventually(() => first.createTable(dynamoTaskTable('tasks')))
  await eventually(async () =>
    expect((await first.describeTable({ TableName: 'tasks' })).Table.TableStatus).toBe('ACTIVE'),
  )
  return { connect, stop: () => end(child) }
}

export async function startDynamoStores(count: number): Promise<StoreServer> {
  const { connect, stop } = await startDynamo()
  const named = { table: 'tasks', prefix: 'mayfly', timeoutMs: TIMEOUT_MS }
  return { stores: Array.from({ length: count }, () => dynamoTaskStore(connect(), named)), stop }
}

/** Durable Objects in a real workerd, whose alarms run nothing. */
export async function startObjectStores(count: number): Promise<StoreServer> {
  const { store, stop } = await startWorkerd()
  return { stores: Array.from({ length: count }, () => store('Suite', 'faults', TIMEOUT_MS)), stop }
}
