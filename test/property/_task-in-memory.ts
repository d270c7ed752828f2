/**
 * Kills the process that runs a task at any of its writes, before or after the write is done, and lets another take over. What must
 * hold on every store: the task ends, no step that is in the store runs again, and no answer is lost.
 */
import { expect } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../src/index.ts'
import { createTasks, type StoredTask, type TaskStore } from '../../src/tasks.ts'
import { TaskClient } from '../unit/tasks/_tasks.ts'

const STEPS = 10
const LEASE_MS = 300

/** What happens in one seed. */
export interface Plan {
  /** The writes at which a process dies, one for each process: how many it does before, and whether the last one is kept. */
  readonly deaths: readonly { readonly afterWrites: number; readonly isKept: boolean }[]
  /** By step: what the tool does after it. */
  readonly between: readonly ('nothing' | 'sleep' | 'ask' | 'ask twice')[]
}

/** Everything seen of one task. */
class Witness {
  readonly recorded = new Set<string>()
  readonly faults: string[] = []

  ran(n: number): void {
    if (this.recorded.has(`step ${n}`)) this.faults.push(`step ${n} ran again after it was recorded`)
    if (n > 0 && !this.recorded.has(`step ${n - 1}`))
      this.faults.push(`step ${n} began before step ${n - 1} was recorded`)
  }

  saw({ state }: StoredTask): void {
    const { journal, status } = JSON.parse(state) as { journal: { steps: object }; status: string }
    if (status === 'completed') return
    for (const step of Object.keys(journal.steps)) this.recorded.add(step)
  }
}

/** A store whose process dies: from then on, nothing of it settles. */
function mortal(
  store: TaskStore,
  witness: Witness,
  death: Plan['deaths'][number] | undefined,
): TaskStore & { isDead: boolean } {
  let writes = 0
  const never = () => new Promise<never>(() => {})
  const self: TaskStore & { isDead: boolean } = {
    isDead: false,
    maxStateBytes: store.maxStateBytes,
    create: (task, maxOpen) => (self.isDead ? never() : store.create(task, maxOpen)),
    read: (id) => (self.isDead ? never() : store.read(id)),
    due: (now, limit) => (self.isDead ? never() : store.due(now, limit)),
    async replace(task) {
      if (self.isDead) return never()
      const dies = death !== undefined && writes++ === death.afterWrites
      if (dies) self.isDead = true
      if (dies && !death.isKept) return never()
      const isKept = await store.replace(task)
      if (isKept) witness.saw(task)
      return dies ? never() : isKept
    },
  }
  return self
}

/** @param wait lets `ms` pass on the clock of this run. */
export async function crashThrough(
  store: TaskStore,
  plan: Plan,
  wait: (ms: number) => Promise<void>,
): Promise<void> {
  const witness = new Witness()
  const job = () =>
    createTool({
      id: 'job',
      task: 'required',
      execute: async (_input, ctx) => {
        const said: string[] = []
        const ask = async (message: string): Promise<string> => {
          const answer = await ctx.elicit(message, z.object({ text: z.string() }))
          return answer.action === 'accept' ? answer.content.text : answer.action
        }
        for (let n = 0; n < STEPS; n++) {
          said.push(
            await ctx.step(`step ${n}`, async () => {
              witness.ran(n)
              await wait(1)
              return `s${n}`
            }),
          )
          const what = plan.between[n]
          if (what === 'sleep') await ctx.sleep(`sleep ${n}`, 40)
          if (what === 'ask') said.push(await ask(`ask ${n}`))
          if (what === 'ask twice') said.push(...(await Promise.all([ask(`ask ${n}a`), ask(`ask ${n}b`)])))
        }
        return said.join(' ')
      },
    })
  const start = (death?: Plan['deaths'][number]) => {
    const own = mortal(store, witness, death)
    const tasks = createTasks({ store: own, leaseMs: LEASE_MS, maxIdleRuns: 100 })
    return { own, client: new TaskClient({ tools: { job: job() }, tasks, onError: () => {} }) }
  }

  const outside = start()
  const processes = plan.deaths.map(start)
  const first = processes[0] ?? outside
  // A process may die before it has answered: then the client would call again, which is another task.
  const { taskId } = await first.client.call('job')
  const isOver = (status: string) => ['completed', 'failed', 'cancelled'].includes(status)
  let current = 0
  for (let turn = 0; turn < 1000; turn++) {
    while (processes[current]?.own.isDead) current++
    const task = await outside.client.get(taskId, { platform: {} })
    if (isOver(task.status)) {
      expect(task).toMatchObject({ status: 'completed' })
      expect(task.result!.content[0]!.text).toBe(expected(plan))
      expect(witness.faults).toEqual([])
      return
    }
    const [key, question] = Object.entries(task.inputRequests ?? {})[0] ?? []
    if (key !== undefined) {
      const answer = { action: 'accept', content: { text: `<${question!.params.message}>` } }
      await outside.client.update(taskId, { [key]: answer }, { platform: {} })
    }
    const runner = processes[current] ?? outside
    void runner.client.server.tasks.run(taskId)
    // A second runner at the same time: one of them wins.
    if (turn % 3 === 0) void (processes[current + 1] ?? outside).client.server.tasks.run(taskId)
    await wait(25)
  }
  throw new Error(`the task did not end: ${JSON.stringify(await outside.client.get(taskId))}`)
}

function expected({ between }: Plan): string {
  const said = Array.from({ length: STEPS }, (_, n) => {
    if (between[n] === 'ask') return [`s${n}`, `<ask ${n}>`]
    return between[n] === 'ask twice' ? [`s${n}`, `<ask ${n}a>`, `<ask ${n}b>`] : [`s${n}`]
  })
  return said.flat().join(' ')
}
