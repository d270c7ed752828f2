/** Tools with `task` that are called by code, and not over MCP. */
import { expect, test } from 'vitest'
import { createTool, TaskNeededError } from '../../../src/index.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { createServer, modern } from '../_client.ts'

const job = createTool({
  id: 'job',
  task: 'auto',
  execute: async (_input, ctx) => {
    await ctx.step('one', () => 1)
    await ctx.sleep('a', 10)
    return `paid ${await ctx.waitFor('paid')}`
  },
})

test('tool.execute and server.executeTool of a tool that sleeps → TaskNeededError, what to do', async () => {
  const server = createServer({ tools: { job }, tasks: createMemoryTasks() })
  for (const call of [() => job.execute({}), () => server.executeTool('job', {})]) {
    const error = await call().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TaskNeededError)
    expect(error).toMatchObject({
      code: 'TASK_NEEDED',
      message: expect.stringMatching(/^ctx\.sleep needs a task.*over MCP/),
    })
  }
})

test('with a sleep and a waitFor of its own, such a call runs to its end', async () => {
  const slept: string[] = []
  const context = { sleep: async (name: string) => void slept.push(name), waitFor: async () => 7 as never }
  expect(await job.execute({}, context)).toBe('paid 7')
  expect(slept).toEqual(['a'])
})

test('called by a tool without "task" → an isError result that says so', async () => {
  const outer = createTool({ id: 'outer', execute: (_input, ctx) => job.execute({}, ctx) })
  const server = createServer({ tools: { job, outer }, tasks: createMemoryTasks(), onError: () => {} })
  const { result } = await modern(server, 'tools/call', { name: 'outer', arguments: {} })
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/needs a task.*over MCP/) }],
  })
})
