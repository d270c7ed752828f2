/**
 * 10 000 waiting tasks on Node with Postgres, of which 1 % are poison: a third ends its process, a third throws, and a third calls a tool that
 * no process has. Two processes run them, and begin again when they died. Prints how long the others take, with the poison and without.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createTool, MCPServer } from 'mayfly-mcp'
import { serve } from 'mayfly-mcp/node'
import { postgresTaskStore } from 'mayfly-mcp/postgres'
import { createTasks } from 'mayfly-mcp/tasks'
import { Pool } from 'pg'
import * as z from 'zod'
import { startPostgresServer } from '../test/runtimes/buses/_servers.ts'
import { TaskWire } from '../test/runtimes/tasks/_wire.ts'

export const SERVER = { id: 'bench', name: 'Bench', version: '1.0.0', log: false } as const
export const LEASE_MS = 5000

const PROCESSES = 2
/** Every so many tasks, one is poison. */
const POISON_EVERY = 100
const KINDS = ['kill', 'throw', 'unknown'] as const
/** Requests at once. */
const CLIENTS = 32
const LOOK_MS = 250
const PROCESS = fileURLToPath(new URL('tasks-poison-process.ts', import.meta.url))

export function createJob() {
  return createTool({
    id: 'job',
    inputSchema: z.object({ kind: z.string() }),
    task: 'required',
    execute: async ({ kind }, ctx) => {
      await ctx.step('begin', () => 1)
      await ctx.waitFor('go')
      await ctx.step('end', () => {
        if (kind === 'kill') process.kill(process.pid, 'SIGKILL')
        if (kind === 'throw') throw new Error('as told')
      })
      return 'done'
    },
  })
}

/** Does it for each item, a few at a time. */
export async function forEach<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = items[Symbol.iterator]()
  const client = async (): Promise<void> => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
}

interface Poisoned {
  readonly innocent: number
  readonly poison: number
  /** Until all innocent tasks have ended after their event, and half of them. */
  readonly seconds: number
  readonly halfSeconds: number
  readonly deaths: number
}

async function run(count: number, hasPoison: boolean): Promise<Poisoned> {
  const database = await startPostgresServer()
  const pool = new Pool({ connectionString: database.url, max: 20 }).on('error', () => {})
  const store = postgresTaskStore(pool, { table: 'mayfly_tasks', onError: () => {}, timeoutMs: 60_000 })
  await store.migrate()
  // It answers clients, and runs nothing.
  const server = new MCPServer({
    ...SERVER,
    tools: {
      job: createJob(),
      unknown: createTool({ id: 'unknown', task: 'required', execute: () => 'done' }),
    },
    tasks: createTasks({ store, runner: { isPrompt: true, wake() {} }, maxOpenTasks: 2 * count }),
  })
  const served = await serve(server, { port: 0 })
  const wire = new TaskWire(served.url)

  let deaths = 0
  let isOver = false
  const children = new Set<ChildProcess>()
  const begin = (): void => {
    const child = spawn(process.execPath, [PROCESS, database.url], { stdio: 'ignore' })
    children.add(child)
    child.once('exit', () => {
      children.delete(child)
      if (isOver) return
      deaths++
      begin()
    })
  }
  for (let made = 0; made < PROCESSES; made++) begin()

  const poison: string[] = []
  const innocent: string[] = []
  await forEach(Array(count).keys(), async (index) => {
    const isPoison = hasPoison && index % POISON_EVERY === 0
    const kind = isPoison ? KINDS[(index / POISON_EVERY) % KINDS.length]! : 'none'
    const { taskId } = await (kind === 'unknown' ? wire.call(kind, {}) : wire.call('job', { kind }))
    ;(isPoison ? poison : innocent).push(taskId)
  })
  const left = async (isDue: string): Promise<number> => {
    const query = `SELECT count(*) AS n FROM mayfly_tasks WHERE is_open AND ${isDue} AND NOT id = ANY($1)`
    const { rows } = await pool.query(query, [poison])
    return Number((rows[0] as { n: string }).n)
  }
  const until = async (isDue: string, most: number): Promise<void> => {
    while ((await left(isDue)) > most) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  await until('due_at IS NOT NULL', 0)
  const startedAt = performance.now()
  const secondsNow = (): number => (performance.now() - startedAt) / 1000
  const deathsBefore = deaths
  const sent = forEach([...innocent, ...poison].sort(), (id) => server.tasks.send(id, 'go'))
  await until('true', innocent.length / 2)
  const halfSeconds = secondsNow()
  await until('true', 0)
  const seconds = secondsNow()
  await sent
  isOver = true
  for (const child of children) child.kill('SIGKILL')
  await served.close()
  await pool.end()
  await database.stop()
  return {
    innocent: innocent.length,
    poison: poison.length,
    seconds,
    halfSeconds,
    deaths: deaths - deathsBefore,
  }
}

export async function measurePoison(count: number): Promise<void> {
  console.log(
    '| waiting tasks, two Node processes, Postgres | half ended, s | all ended, s | processes that died |',
  )
  console.log('|---|---|---|---|')
  for (const hasPoison of [false, true]) {
    const { innocent, poison, seconds, halfSeconds, deaths } = await run(count, hasPoison)
    const name = hasPoison ? `${innocent} beside ${poison} that are poison` : `${innocent}`
    console.log(`| ${name} | ${halfSeconds.toFixed(1)} | ${seconds.toFixed(1)} | ${deaths} |`)
  }
}
