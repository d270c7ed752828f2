/** `ctx.taskStore`: a tool reads the tasks of its own caller. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { staticTokens } from '../../../src/auth.ts'
import { createTool } from '../../../src/index.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { secretOf } from '../../_secrets.ts'
import { TaskClient } from './_tasks.ts'

const auth = staticTokens(['ann', 'bob'].map((name) => ({ token: secretOf(name), clientId: name })))
const as = (name: string) => ({ headers: { authorization: `Bearer ${secretOf(name)}` } })

function setUp(mode: 'auto' | 'required') {
  const wait = createTool({ id: 'wait', task: 'required', execute: (_input, ctx) => ctx.waitFor('never') })
  const look = createTool({
    id: 'look',
    task: mode,
    inputSchema: z.object({ taskId: z.string() }),
    execute: async ({ taskId }, ctx) => JSON.stringify((await ctx.taskStore.getTask(taskId)) ?? 'unknown'),
  })
  return new TaskClient({
    tools: { wait, look },
    tasks: createMemoryTasks(),
    auth,
  })
}

test.each(['auto', 'required'] as const)(
  'the tool of another caller reads no task of mine, and mine does: task %j',
  async (mode) => {
    const client = setUp(mode)
    const { taskId } = await client.call('wait', {}, as('ann'))
    const look = async (name: string): Promise<string> => {
      const seen = await client.call('look', { taskId }, as(name))
      if (seen.taskId === undefined) return (seen as unknown as typeof seen.result)!.content[0]!.text
      await expect.poll(async () => (await client.get(seen.taskId, as(name))).status).toBe('completed')
      return (await client.get(seen.taskId, as(name))).result!.content[0]!.text
    }
    expect(await look('bob')).toBe('"unknown"')
    expect(JSON.parse(await look('ann'))).toMatchObject({ taskId, status: 'working' })
  },
)

test('the result of a completed task can be read; without one there is an error', async () => {
  const read = createTool({
    id: 'read',
    task: 'auto',
    inputSchema: z.object({ taskId: z.string() }),
    execute: async ({ taskId }, ctx) => JSON.stringify(await ctx.taskStore.getTaskResult(taskId)),
  })
  const make = createTool({
    id: 'make',
    task: 'required',
    inputSchema: z.object({ isLong: z.boolean() }),
    execute: async ({ isLong }, ctx) => (isLong ? await ctx.waitFor('never') : 'made'),
  })
  const client = new TaskClient({ tools: { read, make }, tasks: createMemoryTasks(), auth })
  const textOf = async (taskId: string, name = 'ann') => {
    const seen = (await client.call('read', { taskId }, as(name))) as unknown as {
      content: { text: string }[]
    }
    return seen.content[0]!.text
  }
  const short = await client.call('make', { isLong: false }, as('ann'))
  await expect.poll(async () => (await client.get(short.taskId, as('ann'))).status).toBe('completed')
  expect(JSON.parse(await textOf(short.taskId))).toMatchObject({ content: [{ type: 'text', text: 'made' }] })
  expect(await textOf(short.taskId, 'bob')).toContain('no task')
  const long = await client.call('make', { isLong: true }, as('ann'))
  expect(await textOf(long.taskId)).toContain('"working"')
})
