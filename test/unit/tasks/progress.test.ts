/** The status of a task: the last that its tool has reported, whatever was reported again on the way there. */
import { expect, test } from 'vitest'
import { createTool } from '../../../src/index.ts'
import { createMemoryTaskStore, createTasks } from '../../../src/tasks.ts'
import { TaskClient } from './_tasks.ts'

test('each run reports from the top again, and the last one counts', async () => {
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      for (let round = 1; round <= 3; round++) {
        ctx.reportProgress({ progress: round, total: 3, message: 'round' })
        await ctx.waitFor(`go ${round}`)
      }
      return 'done'
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store: createMemoryTaskStore() }) })
  const { taskId } = await client.call('job')
  for (let round = 1; round <= 3; round++) {
    await client.settle()
    expect((await client.get(taskId)).statusMessage).toBe(`round (${round}/3)`)
    await client.server.tasks.send(taskId, `go ${round}`, null)
    await client.get(taskId)
  }
  await client.settle()
  expect((await client.get(taskId)).status).toBe('completed')
})

test('a task that is cancelled while its run is set up begins no step', async () => {
  let goOn = (): void => {}
  let steps = 0
  const hold = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let setups = 0
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => ctx.step('charge', () => ++steps),
  })
  const client = new TaskClient({
    tools: { job },
    tasks: createTasks({ store: createMemoryTaskStore() }),
    // The first is the call's, the second that of the run.
    setup: () => (++setups === 2 ? hold : undefined),
  })
  const { taskId } = await client.call('job')
  await expect.poll(() => setups).toBe(2)
  await client.cancel(taskId)
  goOn()
  await client.settle()
  expect((await client.get(taskId)).status).toBe('cancelled')
  expect(steps).toBe(0)
})
