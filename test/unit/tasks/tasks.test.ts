import { expect, test } from 'vitest'
import * as z from 'zod'
import { createTool, ProtocolError } from '../../../src/index.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { secretOf } from '../../_secrets.ts'
import { deferred, META } from '../_client.ts'
import { TASKS, TaskClient } from './_tasks.ts'

const confirm = z.object({ confirm: z.boolean() })

test('a required task → created first, run after the response, its result in tasks/get', async () => {
  let runs = 0
  const job = createTool({
    id: 'job',
    inputSchema: z.object({ n: z.number() }),
    task: 'required',
    execute: async ({ n }, ctx) => {
      runs++
      const first = await ctx.step('double', () => 2 * n)
      return `${first} ${ctx.taskId !== undefined}`
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const created = await client.call('job', { n: 4 })
  expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 604_800_000 })
  expect(created).not.toHaveProperty('result')
  await client.settle()
  expect(await client.get(created.taskId)).toMatchObject({
    resultType: 'complete',
    status: 'completed',
    result: { content: [{ text: '8 true' }] },
  })
  expect(runs).toBe(1)
})

test('questions, steps and sleeps → each step once, each answer under a new key', async () => {
  const done: string[] = []
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      await ctx.step('one', () => void done.push('one'))
      await ctx.sleep('a moment', 30)
      const answer = await ctx.elicit('Publish?', confirm)
      await ctx.step('two', () => void done.push('two'))
      const [a, b] = await Promise.all([ctx.elicit('A?', confirm), ctx.elicit('B?', confirm)])
      return [answer.action, a.action, b.action, done.join()].join(' ')
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('job')
  const first = await client.until(taskId, 'input_required')
  const [key] = Object.keys(first.inputRequests!)
  expect(first.inputRequests![key!]!.params.message).toBe('Publish?')
  await client.update(taskId, { [key!]: { action: 'accept', content: { confirm: 'no boolean' } } })
  const again = await client.until(taskId, 'input_required')
  const [next] = Object.keys(again.inputRequests!)
  expect(next).not.toBe(key)
  await client.update(taskId, { [key!]: { action: 'cancel' }, unknown: {} })
  await client.update(taskId, { [next!]: { action: 'accept', content: { confirm: true } } })
  const both = await client.until(taskId, 'input_required')
  const [one, two] = Object.keys(both.inputRequests!)
  await client.update(taskId, { [one!]: { action: 'decline' } })
  expect(Object.keys((await client.get(taskId)).inputRequests!)).toEqual([two])
  await client.update(taskId, { [two!]: { action: 'accept', content: { confirm: true } } })
  const ended = await client.until(taskId, 'completed')
  expect(ended.result!.content[0]!.text).toBe('accept decline accept one,two')
})

test('auto: a quick call is answered at once; one that asks first goes the ordinary rounds; one that sleeps is a task', async () => {
  const job = createTool({
    id: 'job',
    inputSchema: z.object({ kind: z.string() }),
    task: 'auto',
    execute: async ({ kind }, ctx) => {
      if (kind === 'quick') return 'quick'
      const { action } = await ctx.elicit('Sure?', confirm)
      await ctx.sleep('a moment', 20)
      return action
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks(), secret: secretOf('s') })
  expect(await client.call('job', { kind: 'quick' })).toMatchObject({ resultType: 'complete' })
  const asked = await client.send('tools/call', { name: 'job', arguments: { kind: 'ask' } })
  expect(asked.result).toMatchObject({ resultType: 'input_required' })
  const [key] = Object.keys(asked.result!.inputRequests as object)
  const inputResponses = { [key!]: { action: 'decline' } }
  const created = await client.send('tools/call', {
    name: 'job',
    arguments: { kind: 'ask' },
    inputResponses,
    requestState: asked.result!.requestState,
  })
  expect(created.result).toMatchObject({ resultType: 'task', status: 'working' })
  expect(created.result).not.toHaveProperty('requestState')
  const ended = await client.until(created.result!.taskId as string, 'completed')
  expect(ended.result!.content[0]!.text).toBe('decline')
})

test('auto: a call that takes longer than afterMs becomes a task and goes on', async () => {
  let runs = 0
  const long = deferred<void>()
  const job = createTool({
    id: 'job',
    task: { mode: 'auto', afterMs: 20 },
    execute: async (_input, ctx) => {
      runs++
      await ctx.step('before', () => 1)
      await ctx.step('long', () => long.promise)
      ctx.reportProgress({ progress: 1, total: 2, message: 'half' })
      return 'done'
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const created = await client.call('job')
  expect(created.resultType).toBe('task')
  long.resolve()
  expect((await client.until(created.taskId, 'completed')).result!.content[0]!.text).toBe('done')
  expect(runs).toBe(1)
})

test('a tool error completes, a ProtocolError fails', async () => {
  const job = createTool({
    id: 'job',
    inputSchema: z.object({ how: z.string() }),
    task: 'required',
    execute: ({ how }) => {
      if (how === 'tool') throw new Error('no luck')
      throw new ProtocolError(-32000, 'no protocol')
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks(), onError: () => {} })
  const tool = await client.call('job', { how: 'tool' })
  expect((await client.until(tool.taskId, 'completed')).result).toMatchObject({ isError: true })
  const protocol = await client.call('job', { how: 'protocol' })
  const failed = await client.until(protocol.taskId, 'failed')
  expect(failed).toMatchObject({ error: { code: -32000, message: 'no protocol' } })
  expect(failed).not.toHaveProperty('result')
})

test('tasks/cancel → cancelled at once, the tool aborted; again: the same answer', async () => {
  let aborted = false
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: (_input, ctx) =>
      new Promise<string>((resolve) => {
        ctx.signal.addEventListener('abort', () => {
          aborted = true
          resolve('late')
        })
      }),
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('job')
  expect((await client.cancel(taskId)).result).toMatchObject({ resultType: 'complete' })
  expect((await client.cancel(taskId)).result).toMatchObject({ resultType: 'complete' })
  await client.settle()
  expect(aborted).toBe(true)
  expect((await client.get(taskId)).status).toBe('cancelled')
})

test('ctx.waitFor → an event before or after, and a timeout that stays one', async () => {
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      const paid = await ctx.waitFor<{ amount: number }>('paid')
      const late = await ctx.waitFor('never', { timeoutMs: 20 }).catch((error: Error) => error.name)
      return `${paid.amount} ${late}`
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('job')
  await client.settle()
  expect(await client.server.tasks.send(taskId, 'paid', { amount: 7 })).toBe(true)
  expect(await client.server.tasks.send(taskId, 'paid', { amount: 8 })).toBe(false)
  expect(await client.server.tasks.send('unknown', 'paid')).toBe(false)
  expect((await client.until(taskId, 'completed')).result!.content[0]!.text).toBe('7 TimeoutError')
})

test('progress just before the tool sleeps or asks → the status message all the same', async () => {
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      ctx.reportProgress({ progress: 1, total: 3, message: 'loaded' })
      return (await ctx.elicit('Go on?', confirm)).action
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('job')
  expect((await client.until(taskId, 'input_required')).statusMessage).toBe('loaded (1/3)')
})

test('a question to a client that has declared no elicitation → the task waits, and another client answers it', async () => {
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => (await ctx.elicit('Go on?', confirm)).action,
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const unable = { meta: { [META.clientCapabilities]: { extensions: { [TASKS]: {} } } } }
  const { taskId } = await client.call('job', {}, unable)
  const [key] = Object.keys((await client.until(taskId, 'input_required')).inputRequests!)
  await client.update(taskId, { [key!]: { action: 'decline' } })
  expect((await client.until(taskId, 'completed')).result!.content[0]!.text).toBe('decline')
})
