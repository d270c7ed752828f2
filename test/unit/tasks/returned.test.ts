/** Tools that return their questions, as callbacks of the official SDK do. */
import { expect, test } from 'vitest'
import { createTool } from '../../../src/sdk-context.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { secretOf } from '../../_secrets.ts'
import { TaskClient } from './_tasks.ts'

const asks = (key: string, requestState?: string) => ({
  resultType: 'input_required' as const,
  inputRequests: {
    [key]: {
      method: 'elicitation/create' as const,
      params: { message: key, requestedSchema: { type: 'object' as const, properties: {} } },
    },
  },
  ...(requestState !== undefined && { requestState }),
})
const yes = { action: 'accept', content: {} }

/** Asks once, then pauses twice, then asks again and ends. */
const job = (task: 'required' | 'auto', runs: string[]) =>
  createTool({
    id: 'job',
    task,
    execute: async (_input, ctx) => {
      const { inputResponses = {}, requestState } = ctx.mcpReq
      runs.push(Object.keys(inputResponses).join())
      if ('second' in inputResponses) return `done, ${requestState()}`
      if (!('first' in inputResponses)) return asks('first', 'one')
      await ctx.sleep('a', 10)
      await ctx.step('work', () => 1)
      await ctx.waitFor('go', { timeoutMs: 20 }).catch(() => {})
      return asks('second', `${requestState()}, two`)
    },
  })

test('required: the answers stay while the tool pauses, and go when it returns other questions', async () => {
  const runs: string[] = []
  const client = new TaskClient({ tools: { job: job('required', runs) }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('job')
  const asked: string[] = []
  for (let round = 0; round < 2; round++) {
    const { inputRequests } = await client.until(taskId, 'input_required', 'failed')
    const [key] = Object.keys(inputRequests!)
    asked.push(inputRequests![key!]!.params.message)
    await client.update(taskId, { [key!]: yes })
  }
  const { result } = await client.until(taskId, 'completed')
  expect(asked).toEqual(['first', 'second'])
  expect(result!.content[0]!.text).toBe('done, one, two')
  expect(runs.filter((answers) => answers === '')).toHaveLength(1)
  expect(runs.at(-1)).toBe('second')
})

test('auto: answered in an ordinary round, the tool has the answer in the task, too', async () => {
  const runs: string[] = []
  const tasks = createMemoryTasks()
  const client = new TaskClient({ tools: { job: job('auto', runs) }, tasks, secret: secretOf('s') })
  const first = await client.send('tools/call', { name: 'job', arguments: {} })
  expect(Object.keys(first.result!.inputRequests as object)).toEqual(['first'])
  const { requestState } = first.result!
  const created = await client.send('tools/call', {
    name: 'job',
    arguments: {},
    inputResponses: { first: yes },
    requestState,
  })
  const taskId = created.result!.taskId as string
  const { inputRequests } = await client.until(taskId, 'input_required', 'failed')
  expect(Object.values(inputRequests!)[0]!.params.message).toBe('second')
  await client.update(taskId, { [Object.keys(inputRequests!)[0]!]: yes })
  expect((await client.until(taskId, 'completed')).result!.content[0]!.text).toBe('done, one, two')
})

test('a result without a question → run again after pollIntervalMs, with its state', async () => {
  const counting = createTool({
    id: 'counting',
    task: { mode: 'required', pollIntervalMs: 20 },
    execute: async (_input, ctx) => {
      const count = Number(ctx.mcpReq.requestState() ?? 0)
      return count === 3 ? 'done' : { resultType: 'input_required' as const, requestState: String(count + 1) }
    },
  })
  const client = new TaskClient({ tools: { counting }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('counting')
  expect((await client.until(taskId, 'completed')).result!.content[0]!.text).toBe('done')
})
