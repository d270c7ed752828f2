/** Tasks whose process is killed with `kill -9`, again and again, on real stores. */
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { KILLABLE } from './_killable.ts'
import type { Seen, TaskWire } from './_wire.ts'

/** `npm run test:crashes` has 1000. */
const KILLS = Number(process.env.MAYFLY_KILLS ?? 12)
const AT_ONCE = 6

it.each(Object.entries(KILLABLE))(
  `%s: ${KILLS} times kill -9 → every task ends, and no recorded step runs again [tasks.killed]`,
  {
    timeout: 300_000 + KILLS * 5000,
  },
  async (_kind, start) => {
    const server = await start()
    let running = await server.begin()
    const open = new Map<string, string>()
    let created = 0
    let kills = 0
    try {
      while (kills < KILLS || open.size > 0) {
        while (open.size < AT_ONCE && kills < KILLS) {
          const name = `task-${created++}`
          const { taskId } = await running.wire.call('job', { name })
          open.set(taskId, name)
        }
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 300))
        if (kills < KILLS) {
          kills++
          running.child.kill('SIGKILL')
          await once(running.child, 'exit')
          running = await server.begin()
        }
        for (const [taskId, name] of open) {
          const task = await running.wire.get(taskId)
          await answer(running.wire, task, name)
          if (!['working', 'input_required'].includes(task.status)) {
            expect(task).toMatchObject({
              status: 'completed',
              result: { content: [{ text: `done ${name}` }] },
            })
            open.delete(taskId)
          }
        }
      }
      expect(created).toBeGreaterThan(AT_ONCE)
      expect(runAgain(server.begun())).toEqual([])
    } finally {
      running.child.kill('SIGKILL')
      await server.stop()
    }
  },
)

it.each([
  ['redis', KILLABLE.redis],
  ['postgres', KILLABLE.postgres],
] as const)(
  '%s: a step that kills its process → it fails after three crashes alone, and its neighbours end',
  {
    timeout: 120_000,
  },
  async (_kind, start) => {
    const server = await start(3)
    let running = await server.begin()
    let deaths = 0
    try {
      const made = new Map<string, string>()
      for (const name of ['one', 'two', 'three', 'four', 'five', 'poison'])
        made.set(name, (await running.wire.call('job', { name }).catch(() => ({ taskId: '' }))).taskId)
      const ended = new Map<string, string>()
      while (ended.size < made.size) {
        if (running.child.signalCode !== null || running.child.exitCode !== null) {
          deaths++
          running = await server.begin()
        }
        for (const [name, taskId] of made) {
          const task = await running.wire.get(taskId).catch(() => undefined)
          if (task === undefined) continue
          await answer(running.wire, task, name).catch(() => {})
          if (!['working', 'input_required'].includes(task.status)) ended.set(name, task.status)
        }
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      expect(Object.fromEntries(ended)).toEqual({
        ...Object.fromEntries([...made.keys()].map((name) => [name, 'completed'])),
        poison: 'failed',
      })
      expect(deaths).toBeLessThanOrEqual(8)
      expect(runAgain(server.begun())).toEqual([])
    } finally {
      running.child.kill('SIGKILL')
      await server.stop()
    }
  },
)

async function answer(wire: TaskWire, { taskId, inputRequests = {} }: Seen, text: string): Promise<void> {
  for (const key of Object.keys(inputRequests))
    await wire.update(taskId, { [key]: { action: 'accept', content: { text } } })
}

/** The steps that ran although a later one of their task had begun: until then they were in the store. */
function runAgain(log: string): string[] {
  const latest = new Map<string, number>()
  const found: string[] = []
  for (const line of log.trim().split('\n')) {
    const [name = '', step] = line.split(' ')
    const n = Number(step)
    if (n < (latest.get(name) ?? 0)) found.push(line)
    latest.set(name, Math.max(n, latest.get(name) ?? 0))
  }
  return found
}
