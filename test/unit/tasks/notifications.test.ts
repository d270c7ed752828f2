/** `notifications/tasks` on `subscriptions/listen`. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { staticTokens } from '../../../src/auth.ts'
import { createMemoryBus, createTool } from '../../../src/index.ts'
import { createMemoryTaskStore, createMemoryTasks, createTasks } from '../../../src/tasks.ts'
import { secretOf } from '../../_secrets.ts'
import { META, modernRequest, StreamReader, type WireMessage } from '../_client.ts'
import { ABLE, TaskClient } from './_tasks.ts'

const job = createTool({
  id: 'job',
  task: 'required',
  execute: async (_input, ctx) => {
    const { action } = await ctx.elicit('Sure?', z.object({ ok: z.boolean() }))
    return action
  },
})

const token = (name: string) => ({ headers: { authorization: `Bearer ${secretOf(name)}` } })
const auth = staticTokens(['anne', 'bert'].map((name) => ({ token: secretOf(name), clientId: name })))

async function listen(client: TaskClient, notifications: object, options = {}) {
  const request = modernRequest('subscriptions/listen', { notifications }, { meta: ABLE, ...options })
  return new StreamReader(await client.server.handle(request, {}))
}

async function nextStatus(stream: StreamReader, status: string): Promise<Record<string, unknown>> {
  for (;;) {
    const item = (await stream.next()) as WireMessage
    if (item.method === 'notifications/tasks' && item.params!.status === status) return item.params!
  }
}

test('each change of a task → the whole task, with the id of the subscription', async () => {
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks(), bus: createMemoryBus() })
  const { taskId } = await client.call('job')
  const stream = await listen(client, { taskIds: [taskId, 'unknown'] })
  expect(await stream.next()).toMatchObject({ params: { notifications: { taskIds: [taskId] } } })
  const asked = await nextStatus(stream, 'input_required')
  expect(asked).toMatchObject({ taskId, _meta: { [META.subscriptionId]: 1 } })
  const [key] = Object.keys(asked.inputRequests as object)
  await client.update(taskId, { [key!]: { action: 'decline' } })
  const ended = await nextStatus(stream, 'completed')
  const { _meta, ...task } = ended
  const { resultType, _meta: _other, ...seen } = { ...(await client.get(taskId)), _meta: undefined }
  expect(task).toEqual(seen)
  expect(resultType).toBe('complete')
  await stream.cancel()
})

test("somebody else's task → not acknowledged, also by the name that the bus has for it", async () => {
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks(), bus: createMemoryBus(), auth })
  const { taskId } = await client.call('job', {}, token('anne'))
  const filter = { taskIds: [taskId], resourceSubscriptions: [`mayfly-task:${taskId}`] }
  const stream = await listen(client, filter, token('bert'))
  expect(await stream.next()).toMatchObject({ params: { notifications: {} } })
  expect(await stream.next()).toMatchObject({ result: { resultType: 'complete' } })
})

test('a task of another server in the same store and on the same bus → not acknowledged', async () => {
  const [store, bus] = [createMemoryTaskStore(), createMemoryBus()]
  const start = (id: string) => new TaskClient({ id, tools: { job }, tasks: createTasks({ store }), bus })
  const [shop, bank] = [start('shop'), start('bank')]
  const { taskId } = await shop.call('job')
  const stream = await listen(bank, { taskIds: [taskId] })
  expect(await stream.next()).toMatchObject({ params: { notifications: {} } })
  expect(await stream.next()).toMatchObject({ result: { resultType: 'complete' } })
})

test('a client without the extension → -32021; without a bus nothing is acknowledged', async () => {
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('job')
  const params = { notifications: { taskIds: [taskId] } }
  const refused = await client.send('subscriptions/listen', params, {
    meta: { [META.clientCapabilities]: {} },
  })
  expect(refused.error?.code).toBe(-32021)
  const stream = await listen(client, { taskIds: [taskId] })
  expect(await stream.next()).toMatchObject({ params: { notifications: {} } })
})

test.each([['one'], [{}], [[1]], [Array(101).fill('a')]])('taskIds %j → -32602', async (taskIds) => {
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks(), bus: createMemoryBus() })
  const { error } = await client.send('subscriptions/listen', { notifications: { taskIds } })
  expect(error?.code).toBe(-32602)
})
