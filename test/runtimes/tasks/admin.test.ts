/** `mayfly tasks` and the task endpoint, on real stores that a real process serves: listed, shown, retried and cancelled. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { TaskDetails, TaskPage } from '../../../src/tasks-admin.ts'
import { secretOf } from '../../_secrets.ts'
import { MayflyProcess, type Output, Project } from '../../cli/_dev-process.ts'
import { STEERING } from '../../cli/_terminal.ts'
import { type BusServer, startPostgresServer, startRedisServer } from '../buses/_servers.ts'
import { TaskWire } from './_wire.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SECRET = 'a-secret-for-operators-of-40-characters!'
const CRON = 'a-secret-for-the-cron-of-40-characters!!'

const STORES = {
  redis: `import { redisTaskStore } from 'mayfly-mcp/redis'
import { createClient } from 'redis'
const store = redisTaskStore(await createClient({ url: process.env.STORE_URL }).connect())`,
  postgres: `import { postgresTaskStore } from 'mayfly-mcp/postgres'
import postgres from 'postgres'
const store = postgresTaskStore(postgres(process.env.STORE_URL, { onnotice: () => {}, fetch_types: false }))
await store.migrate({ server: 'shop' })`,
}

const SERVER = `
import { appendFileSync, existsSync } from 'node:fs'
import { createTool, MCPServer } from 'mayfly-mcp'
import { createTaskEndpoint, createTasks, pollingRunner } from 'mayfly-mcp/tasks'
import { createTaskAdmin } from 'mayfly-mcp/tasks-admin'
const did = (what) => appendFileSync('steps', process.pid + ' ' + what + '\\n')
const charge = createTool({
  id: 'charge',
  task: { mode: 'required', pollIntervalMs: 100 },
  execute: async (_input, ctx) => {
    await ctx.step('load', () => did('load'))
    await ctx.step('charge', () => {
      did('charge')
      if (!existsSync('open')) throw new Error('closed \\u001b[2J\\u202e')
    })
    return 'paid'
  },
})
const wait = createTool({
  id: 'wait',
  task: { mode: 'required', pollIntervalMs: 100 },
  execute: async (_input, ctx) => {
    did('wait')
    ctx.reportProgress({ progress: 1, message: 'a line\\nand \\u001b]0;title\\u0007' })
    await ctx.waitFor('go \\u001b[31m')
    return 'went'
  },
})
const server = new MCPServer({
  id: 'shop', name: 'Shop', version: '1.0.0', log: false, tools: { charge, wait },
  tasks: createTasks({ store, runner: pollingRunner({ everyMs: 50 }) }),
})
const admin = createTaskAdmin({ secret: process.env.MAYFLY_TASKS_SECRET })
export default createTaskEndpoint({ server, secret: process.env.CRON_SECRET, admin }).mount('/tasks')
`

const MAIN = `
import { serve } from 'mayfly-mcp/node'
import server from './server.ts'
const { url } = await serve(server, { port: 0 })
console.log(url)
`

async function begin(folder: string, storeUrl: string): Promise<{ child: ChildProcess; url: URL }> {
  const child = spawn(process.execPath, ['main.ts'], {
    cwd: folder,
    env: { ...process.env, STORE_URL: storeUrl, MAYFLY_TASKS_SECRET: SECRET, CRON_SECRET: CRON },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string]
  return { child, url: new URL(line) }
}

it.each([
  ['redis', startRedisServer],
  ['postgres', startPostgresServer],
] as const)(
  '%s: by the endpoint and by the store, also while nothing runs',
  { timeout: 240_000 },
  async (kind, start) => {
    await using project = new Project()
    const { folder } = project
    const modules = join(folder, 'node_modules')
    mkdirSync(modules)
    symlinkSync(ROOT, join(modules, 'mayfly-mcp'))
    for (const name of ['redis', 'postgres'])
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
    project.write('package.json', '{ "type": "module" }')
    project.write('server.ts', `// @ts-nocheck\n${STORES[kind]}\n${SERVER}`)
    project.write('main.ts', MAIN)
    project.write('steps', '')
    const store: BusServer = await start()
    let running = await begin(folder, store.url)
    const wire = new TaskWire(running.url)
    const endpoint = new URL('/tasks', running.url).href
    const run = (args: string[], env: NodeJS.ProcessEnv = {}): Promise<Output> =>
      new MayflyProcess(['tasks', ...args], folder, undefined, { STORE_URL: store.url, ...env }).exited
    const told = async <Told>(...args: string[]): Promise<Told> => {
      const { code, stdout, stderr } = await run([...args, '--json'])
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('Error')])
      return JSON.parse(stdout) as Told
    }
    const steps = (): string[] => readFileSync(join(folder, 'steps'), 'utf8').trim().split('\n')
    const did = (): string[] => steps().map((line) => line.split(' ')[1]!)
    try {
      project.write('.env', `MAYFLY_TASKS_SECRET=${SECRET}\nCRON_SECRET=${CRON}\n`)
      const { taskId: failed } = await wire.call('charge', {})
      await wire.until(failed, 'completed')
      const { taskId: waiting } = await wire.call('wait', {})
      for (;;) {
        const { awaits } = await told<TaskDetails>('show', waiting, '--url', endpoint)
        if (awaits.events.length > 0) break
      }

      const byUrl = await told<TaskPage>('list', '--url', endpoint)
      const byStore = await told<TaskPage>('list')
      const ids = ({ tasks }: TaskPage) => tasks.map(({ taskId }) => taskId).sort()
      expect(ids(byUrl)).toEqual([failed, waiting].sort())
      expect(ids(byStore)).toEqual(ids(byUrl))
      expect(
        ids(await told<TaskPage>('list', 'server.ts', '--status', 'failed', '--tool', 'charge')),
      ).toEqual([failed])
      expect(ids(await told<TaskPage>('list', '--url', endpoint, '--older-than', '1h'))).toEqual([])

      for (const place of [[], ['--url', endpoint]]) {
        const { stdout } = await run(['list', ...place])
        expect(stdout).toContain('completed with an error')
        expect(stdout.split('\n')).toHaveLength(4)
        expect(stdout).not.toMatch(STEERING)
        const shown = await run(['show', failed, ...place])
        expect(shown.stdout).toMatch(
          /journal\n +0 {2}step +load = .*\n +1 {2}step +charge ! Error closed \\u001b\[2J\\u202e/,
        )
        expect(shown.stdout).not.toMatch(STEERING)
        const other = await run(['show', waiting, ...place])
        expect(other.stdout).toContain('waits for go \\u001b[31m')
        expect(other.stdout).not.toMatch(STEERING)
      }

      for (const secret of [secretOf('x'), CRON]) {
        const refused = await run(['list', '--url', endpoint], { MAYFLY_TASKS_SECRET: secret })
        expect(refused).toMatchObject({ code: 1, stdout: '' })
        expect(refused.stderr).toMatch(/refuses MAYFLY_TASKS_SECRET/)
        expect(refused.stderr).not.toContain(secret)
      }

      // Nothing runs: the command changes the store, and runs no task itself.
      running.child.kill('SIGKILL')
      await once(running.child, 'exit')
      const before = did()
      expect(before).toEqual(['load', 'charge', 'wait'])
      project.write('open', '')
      const again = await told<{ taskId: string }>('retry', failed)
      expect(await told('retry', failed)).toEqual(again)
      expect(again.taskId).not.toBe(failed)
      expect(await told('retry', waiting)).toEqual({ taskId: waiting })
      expect(await told<TaskDetails>('show', again.taskId)).toMatchObject({
        status: 'working',
        retryOf: failed,
      })
      expect(did()).toEqual(before)

      running = await begin(folder, store.url)
      const later = new TaskWire(running.url)
      await later.until(again.taskId, 'completed')
      expect(did().filter((step) => step !== 'wait')).toEqual(['load', 'charge', 'charge'])
      const url = new URL('/tasks', running.url).href
      for (const ended of [failed, again.taskId])
        expect((await run(['retry', ended, '--url', url])).stderr).toMatch(/completed without an error/)
      expect(await told('cancel', waiting, '--url', url)).toEqual({ cancelled: true })
      expect(await later.get(waiting)).toMatchObject({ status: 'cancelled' })
      expect(await run(['cancel', failed])).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('stays as it is'),
      })
    } finally {
      running.child.kill('SIGKILL')
      await store.stop()
      rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
    }
  },
)
