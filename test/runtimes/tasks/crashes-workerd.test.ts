/** The same with Durable Objects in a real workerd: the object of the task, which also runs it, is aborted at any of the writes. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { expected, type Plan } from '../../property/_crash-plan.ts'
import { plans } from '../../property/_task-crashes.ts'
import { type Seen, TaskWire } from './_wire.ts'
import { startWorkerd } from './stores/_workerd.ts'

/** `npm run test:crashes` has 1000. */
const RUNS = Number(process.env.MAYFLY_CRASHES ?? 15)
const SEED = Number(process.env.FAST_CHECK_SEED ?? 20260728)
const AT_ONCE = 250
const LOOK_MS = 400
/** Each takes seconds, until the alarm of the dead one rings again. */
const DEATHS = 2

const ENDED = ['completed', 'failed', 'cancelled']

/** While an object is aborted, a request to it may fail. */
async function again<Value>(ask: () => Promise<Value>): Promise<Value> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      if (attempt === 20) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

async function untilEnded(wire: TaskWire, taskId: string): Promise<Seen> {
  for (let look = 0; look < 500; look++) {
    const task = await again(() => wire.get(taskId))
    if (ENDED.includes(task.status)) return task
    for (const [key, { params }] of Object.entries(task.inputRequests ?? {})) {
      const answer = { action: 'accept', content: { text: `<${params.message}>` } }
      await again(() => wire.update(taskId, { [key]: answer }))
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  throw new Error(`Task ${taskId} has not ended.`)
}

it(`durable-object: the object of a ten-step task is aborted at any write, ${RUNS} times → each ends, as if nothing had happened [tasks.crashes]`, {
  timeout: 600_000,
}, async () => {
  const { ask, url, stop } = await startWorkerd('crashing.ts', ['Crashing'])
  const wire = new TaskWire(new URL('/mcp', url))
  const left = fc.sample(plans, { seed: SEED, numRuns: RUNS })
  let deaths = 0
  const crash = async (name: string, plan: Plan): Promise<void> => {
    await ask(`/plan?name=${name}`, plan)
    const { taskId } = await wire.call('job', { name })
    const task = await untilEnded(wire, taskId)
    const witness = await ask<{ deaths: number; faults: string[] }>(`/seen?name=${name}`)
    expect(task).toMatchObject({ status: 'completed', result: { content: [{ text: expected(plan) }] } })
    expect(witness.faults).toEqual([])
    deaths += witness.deaths
  }
  const work = async (): Promise<void> => {
    for (let plan = left.pop(); plan !== undefined; plan = left.pop())
      await crash(`task-${left.length}`, { ...plan, deaths: plan.deaths.slice(0, DEATHS) })
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    expect(deaths).toBeGreaterThan(RUNS / 2)
  } finally {
    await stop()
  }
})
