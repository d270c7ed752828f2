/**
 * Kills the process that runs a task at any of its writes, before or after the write is done, and lets another take over. What must
 * hold on every store: the task ends, no step that is in the store runs again, no answer is lost, and never do two runs both write.
 */
import fc from 'fast-check'
import { expect } from 'vitest'
import { createTasks, type TaskRunner, type TaskStore } from '../../src/tasks.ts'
import { TaskClient } from '../unit/tasks/_tasks.ts'
import { createJob, expected, type Plan, STEPS, Witness } from './_crash-plan.ts'

export const plans: fc.Arbitrary<Plan> = fc.record({
  deaths: fc.array(fc.record({ afterWrites: fc.nat(14), isKept: fc.boolean() }), { maxLength: 6 }),
  between: fc.array(fc.constantFrom('nothing', 'nothing', 'sleep', 'ask', 'ask twice'), {
    minLength: STEPS,
    maxLength: STEPS,
  }),
})

/** How a plan is carried out. */
export interface Scene {
  /** The store as a process sees it, by its number: with connections of its own. */
  readonly connect: (process: number) => TaskStore
  /** Lets `ms` pass on the clock of this run. */
  readonly wait: (ms: number) => Promise<void>
  /** Milliseconds after which a run counts as dead. Default 300. */
  readonly leaseMs?: number
  /** Milliseconds between two looks at the task. Default 25. */
  readonly lookMs?: number
}

/** A store whose process dies: from then on, nothing of it settles. */
export function mortal(
  store: TaskStore,
  witness: Witness,
  owner: string,
  death: Plan['deaths'][number] | undefined,
): TaskStore & { isDead: boolean } {
  let writes = 0
  const never = () => new Promise<never>(() => {})
  const self: TaskStore & { isDead: boolean } = {
    isDead: false,
    maxStateBytes: store.maxStateBytes,
    create: (task, maxOpen) => (self.isDead ? never() : store.create({ ...task, owner }, maxOpen)),
    read: (id) => (self.isDead ? never() : store.read(id)),
    due: (now, limit) => (self.isDead ? never() : store.due(now, limit)),
    async replace(task) {
      if (self.isDead) return never()
      const dies = death !== undefined && writes++ === death.afterWrites
      if (dies) {
        self.isDead = true
        witness.deaths++
      }
      if (dies && !death.isKept) return never()
      const isKept = await store.replace({ ...task, owner })
      if (isKept) witness.saw(task)
      return dies ? never() : isKept
    },
  }
  return self
}

/** Resolves with the number of processes that have died. */
export async function crashThrough(plan: Plan, scene: Scene): Promise<number> {
  const { connect, wait, leaseMs = 300, lookMs = 25 } = scene
  const owner = crypto.randomUUID()
  const witness = new Witness()
  const start = (death: Plan['deaths'][number] | undefined, index: number, runner?: TaskRunner) => {
    const own = mortal(connect(index), witness, owner, death)
    const tasks = createTasks({ store: own, leaseMs, maxIdleRuns: 100, maxCrashes: 100, runner })
    const client = new TaskClient({
      tools: { job: createJob(() => ({ plan, witness }), wait) },
      tasks,
      onError: () => {},
    })
    let isRunning = false
    /** As one process would: not while it does so already. */
    const run = async (taskId: string): Promise<void> => {
      if (isRunning) return
      isRunning = true
      await client.server.tasks.run(taskId)
      isRunning = false
    }
    return { own, client, run }
  }

  // It runs what it is told to, and nothing for being asked: so the others come to die.
  const outside = start(undefined, plan.deaths.length, { isPrompt: true, wake() {} })
  const processes = plan.deaths.map((death, index) => start(death, index))
  const first = processes[0] ?? outside
  // A process may die before it has answered: then the client would call again, which is another task.
  const { taskId } = await first.client.call('job')
  const isOver = (status: string) => ['completed', 'failed', 'cancelled'].includes(status)
  let current = 0
  for (let turn = 0; turn < 1000; turn++) {
    while (processes[current]?.own.isDead) current++
    // A store that is slow for once is no fault: a client looks again.
    const task = await outside.client.get(taskId, { platform: {} }).catch(() => undefined)
    if (task === undefined) continue
    if (isOver(task.status)) {
      expect(task).toMatchObject({ status: 'completed' })
      expect(task.result!.content[0]!.text).toBe(expected(plan))
      expect([...witness.faults, ...witness.overlaps()]).toEqual([])
      return witness.deaths
    }
    const [key, question] = Object.entries(task.inputRequests ?? {})[0] ?? []
    if (key !== undefined) {
      const answer = { action: 'accept', content: { text: `<${question!.params.message}>` } }
      const { error } = await outside.client.update(taskId, { [key]: answer }, { platform: {} })
      if (error === undefined) witness.answers(question!.params.message)
    }
    void (processes[current] ?? outside).run(taskId)
    // A second runner at the same time: one of them wins.
    if (turn % 3 === 0) void (processes[current + 1] ?? outside).run(taskId)
    await wait(lookMs)
  }
  throw new Error(`the task did not end: ${JSON.stringify(await outside.client.get(taskId))}`)
}
