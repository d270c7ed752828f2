/** A real Postgres that is restarted, again and again, under a real process that serves and runs tasks. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { eventually } from '../../_eventually.ts'
import { startPostgresServer } from '../buses/_servers.ts'
import { TaskWire } from './_wire.ts'

const RESTARTS = 10
const AT_ONCE = 6
const PROCESS = fileURLToPath(new URL('./_process.ts', import.meta.url))

it(`postgres: ${RESTARTS} restarts, some while the process connects → the process lives, and every task ends [tasks.restarted]`, {
  timeout: 200_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-restarted-'))
  const database = await startPostgresServer()
  const child = spawn(process.execPath, [PROCESS, 'postgres', database.url, join(folder, 'steps')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    const wire = new TaskWire(line)
    const create = (name: string) => eventually(() => wire.call('job', { name }))
    const names = Array.from({ length: AT_ONCE }, (_, index) => `task-${index}`)
    const tasks = await Promise.all(names.map(create))
    for (let restart = 0; restart < RESTARTS; restart++) {
      await database.kill()
      await database.start()
      // The process connects again when it asks for something: the next restart comes meanwhile, each time a little later.
      const asked = Promise.allSettled(tasks.map(({ taskId }) => wire.get(taskId)))
      await new Promise((resolve) => setTimeout(resolve, 20 + restart * 2))
      await database.kill()
      await database.start()
      await asked
      expect([child.exitCode, child.signalCode]).toEqual([null, null])
    }
    for (const [index, { taskId }] of tasks.entries()) {
      await eventually(async () => {
        const task = await wire.get(taskId)
        for (const key of Object.keys(task.inputRequests ?? {}))
          await wire.update(taskId, { [key]: { action: 'accept', content: { text: names[index] } } })
        expect(task).toMatchObject({
          status: 'completed',
          result: { content: [{ text: `done ${names[index]}` }] },
        })
      })
    }
    expect(child.exitCode).toBeNull()
  } finally {
    child.kill('SIGKILL')
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
