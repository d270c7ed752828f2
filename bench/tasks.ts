/**
 * Tasks: what the start of one costs more than the plain call, on workerd with Durable Objects; and 10 000 at once on Node with Postgres,
 * how long they take and what they leave in the heap. Prints two tables. Run with `--expose-gc`. `--poison` has 10 000 of which 1 % are poison.
 */
import { createTool, MCPServer } from 'mayfly-mcp'
import { serve } from 'mayfly-mcp/node'
import { postgresTaskStore } from 'mayfly-mcp/postgres'
import { createTasks, pollingRunner } from 'mayfly-mcp/tasks'
import { Pool } from 'pg'
import { startPostgresServer } from '../test/runtimes/buses/_servers.ts'
import { TaskWire } from '../test/runtimes/tasks/_wire.ts'
import { startWorkerd } from '../test/runtimes/tasks/stores/_workerd.ts'
import { forEach, measurePoison } from './tasks-poison.ts'

const WARM_UP = 50
const ROUNDS = Number(process.env.ROUNDS ?? 500)
const TASKS = Number(process.env.TASKS ?? 10_000)
const MB = 1024 * 1024

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function measureStart(): Promise<void> {
  const { url, stop } = await startWorkerd('../../../../bench/tasks-worker.ts', ['Tasks'])
  const wire = new TaskWire(new URL('/mcp', url))
  const samples = { plain: [] as number[], task: [] as number[] }
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const name of ['plain', 'task'] as const) {
      let taskId = ''
      const ms = await timed(async () => {
        taskId = (await wire.call(name, {})).taskId
      })
      if (round >= WARM_UP) samples[name].push(ms)
      // Its run goes on after the answer, and must not count for the call after it.
      if (name === 'task') await wire.until(taskId, 'completed')
    }
  }
  await stop()
  const at = (name: 'plain' | 'task', share: number): number =>
    samples[name].sort((a, b) => a - b)[Math.floor(ROUNDS * share)]!
  console.log('| workerd, Durable Object | plain call, ms | start of a task, ms | more, ms |')
  console.log('|---|---|---|---|')
  for (const [what, share] of [
    ['median', 0.5],
    ['99 %', 0.99],
  ] as const) {
    const [plain, task] = [at('plain', share), at('task', share)]
    console.log(`| ${what} | ${plain.toFixed(1)} | ${task.toFixed(1)} | ${(task - plain).toFixed(1)} |`)
  }
}

function heapMb(): number {
  for (let time = 0; time < 3; time++) globalThis.gc!()
  return process.memoryUsage().heapUsed / MB
}

async function measureMany(): Promise<void> {
  const database = await startPostgresServer()
  const pool = new Pool({ connectionString: database.url, max: 20 }).on('error', () => {})
  const store = postgresTaskStore(pool, { table: 'mayfly_tasks', onError: () => {}, timeoutMs: 60_000 })
  await store.migrate()
  let done = 0
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      await ctx.step('begin', () => 1)
      await ctx.waitFor('go')
      await ctx.step('end', () => ++done)
      return 'done'
    },
  })
  const server = new MCPServer({
    id: 'bench',
    name: 'Bench',
    version: '1.0.0',
    log: false,
    tools: { job },
    tasks: createTasks({ store, runner: pollingRunner(), leaseMs: 600_000, maxOpenTasks: 2 * TASKS }),
  })
  const served = await serve(server, { port: 0 })
  const wire = new TaskWire(served.url)

  /** All of them wait at the same time. Resolves with the seconds until all were made, and until all have ended. */
  const run = async (count: number): Promise<[made: number, ended: number]> => {
    const ids: string[] = []
    const made = await timed(() =>
      forEach(Array.from({ length: count }), async () => ids.push((await wire.call('job', {})).taskId)),
    )
    const ended = await timed(async () => {
      await forEach(ids, (id) => server.tasks.send(id, 'go'))
      await forEach(ids, (id) => wire.until(id, 'completed', 600_000))
    })
    return [made / 1000, ended / 1000]
  }
  await run(200)
  done = 0
  const before = heapMb()
  const [made, ended] = await run(TASKS)
  const completed = done
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const after = heapMb()
  console.log()
  console.log('| Node, Postgres | all made, s | all ended, s | done | heap before, MB | after, MB |')
  console.log('|---|---|---|---|---|---|')
  console.log(
    `| ${TASKS} tasks at once | ${made.toFixed(1)} | ${ended.toFixed(1)} | ${completed} | ${before.toFixed(1)} | ${after.toFixed(1)} |`,
  )
  await served.close()
  await pool.end()
  await database.stop()
}

if (process.argv.includes('--poison')) await measurePoison(TASKS)
else {
  await measureStart()
  await measureMany()
}
