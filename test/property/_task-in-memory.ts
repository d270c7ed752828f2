/** As `_task-crashes.ts`, for a store in memory on a clock that is advanced: a thousand seeds in half a minute. */
import { expect } from 'vitest'
import { createTasks, type TaskStore } from '../../src/tasks.ts'
import { TaskClient } from '../unit/tasks/_tasks.ts'
import { createJob, expected, type Plan, Witness } from './_crash-plan.ts'
import { mortal } from './_task-crashes.ts'

const LEASE_MS = 300
const OWNER = 'somebody'

/** @param wait lets `ms` pass on the clock of this run. */
export async function crashThrough(
  store: TaskStore,
  plan: Plan,
  wait: (ms: number) => Promise<void>,
): Promise<void> {
  const witness = new Witness()
  const start = (death?: Plan['deaths'][number]) => {
    const own = mortal(store, witness, OWNER, death)
    const tasks = createTasks({ store: own, leaseMs: LEASE_MS, maxIdleRuns: 100, maxCrashes: 100 })
    return {
      own,
      client: new TaskClient({
        tools: { job: createJob(() => ({ plan, witness }), wait) },
        tasks,
        onError: () => {},
      }),
    }
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
