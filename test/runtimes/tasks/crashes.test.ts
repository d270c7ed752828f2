/** The property of test/property/task-crashes over real stores: many tasks at once, each with processes that die at any of its writes. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { expect, it } from 'vitest'
import { type DynamoClient, dynamoTaskStore, dynamoTaskTable } from '../../../adapters/dynamodb.ts'
import { postgresTaskStore } from '../../../adapters/postgres.ts'
import { redisTaskStore } from '../../../adapters/redis.ts'
import type { TaskStore } from '../../../src/tasks.ts'
import { eventually } from '../../_eventually.ts'
import { testPort } from '../../_port.ts'
import { crashThrough, plans } from '../../property/_task-crashes.ts'
import { startPostgresServer, startRedisServer } from '../buses/_servers.ts'
import { end } from '../node/_processes.ts'

/** `npm run test:crashes` has 1000. */
const RUNS = Number(process.env.MAYFLY_CRASHES ?? 200)
const SEED = Number(process.env.FAST_CHECK_SEED ?? 20260728)
/** Processes, each with connections of its own. */
const CONNECTIONS = 4

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

interface Backend {
  readonly stores: readonly TaskStore[]
  stop(): Promise<void>
}

async function startRedis(): Promise<Backend> {
  const server = await startRedisServer()
  const clients = Array.from({ length: CONNECTIONS }, () => new Redis(server.url))
  return {
    stores: clients.map((client) => redisTaskStore(client, { timeoutMs: 20_000 })),
    async stop() {
      for (const client of clients) client.disconnect()
      await server.stop()
    },
  }
}

async function startPostgres(): Promise<Backend> {
  const server = await startPostgresServer()
  const pools = Array.from({ length: CONNECTIONS }, () =>
    new Pool({ connectionString: server.url, max: 5 }).on('error', () => {}),
  )
  const stores = pools.map((pool) => postgresTaskStore(pool, { onError: () => {}, timeoutMs: 20_000 }))
  await stores[0]!.migrate()
  return {
    stores,
    async stop() {
      await Promise.all(pools.map((pool) => pool.end()))
      await server.stop()
    },
  }
}

async function startDynamo(): Promise<Backend> {
  const require = createRequire(new URL('stores/dynalite/package.json', import.meta.url))
  const { DynamoDB } = require('@aws-sdk/client-dynamodb') as {
    DynamoDB: new (
      options: object,
    ) => DynamoClient & {
      createTable(input: object): Promise<unknown>
      describeTable(input: { TableName: string }): Promise<{ Table: { TableStatus: string } }>
    }
  }
  const port = await testPort()
  const command = fileURLToPath(new URL('stores/dynalite/node_modules/dynalite/cli.js', import.meta.url))
  // A process of its own, for the other core.
  const options = ['--host', '127.0.0.1', '--port', String(port), '--createTableMs', '0']
  const child = spawn(process.execPath, [command, ...options], { stdio: 'ignore' })
  const endpoint = `http://127.0.0.1:${port}`
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const clients = Array.from(
    { length: CONNECTIONS },
    () => new DynamoDB({ endpoint, region: 'local', credentials }),
  )
  const [first] = clients
  await eventually(() => first!.createTable(dynamoTaskTable('tasks')))
  await eventually(async () =>
    expect((await first!.describeTable({ TableName: 'tasks' })).Table.TableStatus).toBe('ACTIVE'),
  )
  return {
    stores: clients.map((client) => dynamoTaskStore(client, { table: 'tasks', timeoutMs: 20_000 })),
    stop: () => end(child),
  }
}

it.each([
  ['redis', startRedis, 150, 100],
  ['postgres', startPostgres, 100, 100],
  ['dynamodb', startDynamo, 100, 300],
])(
  `%s: processes die at any write of a ten-step task, ${RUNS} times → each ends, as if nothing had happened [tasks.crashes]`,
  { timeout: 600_000 },
  async (_name, start, atOnce, lookMs) => {
    const { stores, stop } = await start()
    const left = fc.sample(plans, { seed: SEED, numRuns: RUNS })
    let deaths = 0
    const work = async (): Promise<void> => {
      for (let plan = left.pop(); plan !== undefined; plan = left.pop()) {
        const first = left.length
        const scene = {
          connect: (process: number) => stores[(first + process) % stores.length]!,
          wait,
          leaseMs: 1500,
          lookMs,
        }
        const died = await crashThrough(plan, scene)
        deaths += died
      }
    }
    try {
      await Promise.all(Array.from({ length: atOnce }, work))
      expect(deaths).toBeGreaterThan(RUNS / 2)
    } finally {
      await stop()
    }
  },
)
