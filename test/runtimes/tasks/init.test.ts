/** What `mayfly init --with tasks` writes: it type-checks, its tests pass, and a task goes to its end, also if no client asks for it. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { targets } from '../../../deploy/targets/all.ts'
import { isEveryTarget, someTargets } from '../../_some-targets.ts'
import { newProject } from '../../package/_new-project.ts'
import { type PackedPackage, run, unpackPackage } from '../../package/_packed.ts'
import { serveDev } from '../_dev-server.ts'
import { startPostgresServer } from '../buses/_servers.ts'
import { TaskWire } from './_wire.ts'

let packed: PackedPackage
let folder: string
beforeAll(() => {
  packed = unpackPackage()
  folder = mkdtempSync(join(tmpdir(), 'mayfly-init-tasks-'))
})
afterAll(() => {
  packed?.remove()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

const withTasks = [...targets].filter(([, { tasks }]) => tasks !== undefined)

/** Plays a tournament to its end, over HTTP. */
async function play(wire: TaskWire): Promise<void> {
  const { taskId, resultType } = await wire.call('tournament', { rounds: 1 })
  expect(resultType).toBe('task')
  const asked = await wire.until(taskId, 'input_required')
  const [key] = Object.keys(asked.inputRequests!)
  await wire.update(taskId, { [key!]: { action: 'accept', content: { keep: true } } })
  const { result } = await wire.until(taskId, 'completed')
  expect(result!.content[0]!.text).toMatch(/^Kept \d$/)
}

describe.each(someTargets(withTasks.map(([name]) => name)))(
  'mayfly init --with tasks --target %s',
  (target) => {
    it('a first deployment, which has no variables yet: it builds, loads, and serves all but what needs one', async () => {
      const args = ['--target', target, '--with', 'tasks', '--with', 'asking', '--with', 'hono']
      const project = newProject(packed.installed, folder, `${target}-bare`, args)
      rmSync(join(project, '.env'))
      const cli = join(packed.installed, 'dist/deploy/cli.js')
      run(process.execPath, [cli, 'build', '--target', target], project)

      const dev = await serveDev('src/server.ts', target, project)
      try {
        const at = (path: string) => fetch(new URL(path, dev.url))
        expect(await (await at('hello')).text()).toContain('dice')
        const rolled = await new TaskWire(dev.url).call('roll_dice', { count: 2 })
        expect(JSON.stringify(rolled)).toContain('"total"')
        if (!readFileSync(join(project, 'src/server.ts'), 'utf8').includes('CRON_SECRET')) return
        const tasks = await at('tasks')
        expect([tasks.status, await tasks.text()]).toEqual([503, expect.stringContaining('CRON_SECRET')])
      } finally {
        await dev.stop()
      }
    })

    it('type-checks, passes its tests, and a task goes to its end', async () => {
      const project = newProject(packed.installed, folder, target, ['--target', target, '--with', 'tasks'])
      run('node_modules/.bin/tsc', [], project)
      run('node_modules/.bin/vitest', ['run'], project)

      const dev = await serveDev('src/server.ts', target, project)
      try {
        await play(new TaskWire(dev.url))
      } finally {
        await dev.stop()
      }
    })
  },
)

it('with all that it can be combined with', () => {
  const args = ['--target', 'vercel', '--target', 'deno', '--target', 'supabase']
  const more = ['tasks', 'auth', 'asking', 'hono'].flatMap((template) => ['--with', template])
  const project = newProject(packed.installed, folder, 'combined', [...args, ...more])
  run('node_modules/.bin/tsc', [], project)
  run('node_modules/.bin/vitest', ['run'], project)
})

describe('with its own database', () => {
  const cron = withTasks.filter(([, { tasks }]) => tasks === 'cron').map(([name]) => name)

  const own = withTasks.filter(([, { tasks }]) => tasks === 'process').map(([name]) => name)

  it.each(isEveryTarget ? own : own.slice(0, 1))(
    '%s: the server starts while the database is away, and runs tasks once it is back',
    async (target) => {
      const database = await startPostgresServer()
      await database.kill()
      const args = ['--target', target, '--with', 'tasks']
      const project = newProject(packed.installed, folder, `${target}-away`, args)
      const dev = await serveDev('src/server.ts', target, project, { DATABASE_URL: database.url })
      try {
        const wire = new TaskWire(dev.url)
        expect(JSON.stringify(await wire.call('roll_dice', { count: 1 }))).toContain('"total"')
        await expect(wire.call('tournament', { rounds: 1 }).then(({ taskId }) => taskId)).rejects.toThrow()
        await database.start()
        await play(wire)
      } finally {
        await dev.stop()
        await database.stop()
      }
    },
  )

  it.each(isEveryTarget ? cron : cron.slice(0, 1))(
    '%s: mayfly dev runs what is due, though no client asks for it',
    async (target) => {
      const database = await startPostgresServer()
      const project = newProject(packed.installed, folder, `${target}-database`, [
        '--target',
        target,
        '--with',
        'tasks',
      ])
      appendFileSync(join(project, '.env'), `DATABASE_URL=${database.url}\n`)
      run(process.execPath, [join(packed.installed, 'dist/deploy/cli.js'), 'migrate'], project)
      const dev = await serveDev('src/server.ts', target, project, { DATABASE_URL: database.url })
      const sql = postgres(database.url, { onnotice: () => {} })
      try {
        const wire = new TaskWire(dev.url)
        const { taskId } = await wire.call('tournament', { rounds: 2 })
        const isDue = async (): Promise<boolean> => {
          const [row] = await sql`SELECT due_at FROM mayfly.dice_tasks WHERE id = ${taskId}`
          return row!.due_at !== null
        }
        // It sleeps twice, and waits for an answer then.
        await expect.poll(isDue, { interval: 200 }).toBe(false)
        expect((await wire.get(taskId)).status).toBe('input_required')
      } finally {
        await sql.end()
        await dev.stop()
        await database.stop()
      }
    },
  )
})
