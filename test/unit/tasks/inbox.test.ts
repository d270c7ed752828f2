/** How much may come to a task from outside. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../../src/index.ts'
import { createMemoryTaskStore, createTaskEndpoint, createTasks, type TaskStore } from '../../../src/tasks.ts'
import { TaskClient } from './_tasks.ts'

const name = z.object({ name: z.string() })

function setUp(maxStateBytes = 40_000) {
  const store: TaskStore = { ...createMemoryTaskStore(), maxStateBytes }
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      const answers = await Promise.all([ctx.elicit('One?', name), ctx.elicit('Two?', name)])
      await ctx.waitFor('paid')
      await ctx.step('work', () => 'x'.repeat(1000))
      return answers.map(({ action }) => action).join()
    },
  })
  return new TaskClient({ tools: { job }, tasks: createTasks({ store }), onError: () => {} })
}

const answer = (bytes: number) => ({ action: 'accept', content: { name: 'é'.repeat(bytes / 2) } })

test('an answer beyond a quarter of the store → -32602 with the sizes, and the task still asks', async () => {
  const client = setUp()
  const { taskId } = await client.call('job')
  const { inputRequests } = await client.until(taskId, 'input_required')
  const [one = '', two = ''] = Object.keys(inputRequests!)
  const { error } = await client.update(taskId, { [one]: answer(10), [two]: answer(12_000) })
  expect(error).toMatchObject({
    code: -32602,
    message: expect.stringMatching(/^The answer "q2" has 120\d\d bytes, and may have 10000/),
  })
  expect(Object.keys((await client.get(taskId)).inputRequests!)).toEqual([one, two])
  const ours = { name: 'task_answer', arguments: { taskId, answers: { [two]: answer(12_000) } } }
  expect((await client.send('tools/call', ours)).result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/may have 10000/) }],
  })
  await client.update(taskId, { [one]: answer(9000), [two]: answer(9000) })
  await client.server.tasks.send(taskId, 'paid', 'x'.repeat(5000))
  expect((await client.until(taskId, 'completed')).result!.content[0]!.text).toBe('accept,accept')
})

test('answers that fit, in a task that has no room for them → -32602 with the sizes', async () => {
  const client = setUp(8000)
  const { taskId } = await client.call('job', { padding: 'x'.repeat(5500) })
  const [one = ''] = Object.keys((await client.until(taskId, 'input_required')).inputRequests!)
  expect((await client.update(taskId, { [one]: answer(1900) })).error).toMatchObject({
    code: -32602,
    message: expect.stringMatching(/would have \d+ bytes of 7000/),
  })
  expect(Object.keys((await client.get(taskId)).inputRequests!)).toContain(one)
})

test('events beyond a quarter of the store → a TypeError; 413 from a signed URL', async () => {
  const client = setUp()
  const { taskId } = await client.call('job')
  const { tasks } = client.server
  for (const event of ['a', 'b', 'c']) expect(await tasks.send(taskId, event, 'x'.repeat(3000))).toBe(true)
  await expect(tasks.send(taskId, 'd', 'x'.repeat(3000))).rejects.toThrow(
    /have 12\d\d\d bytes, and may have 10000/,
  )
  expect(await tasks.send(taskId, 'paid')).toBe(true)
  const endpoint = createTaskEndpoint({
    server: client.server,
    url: 'https://shop.example/tasks',
    secret: 'a-secret-of-thirty-two-characters!',
  })
  const body = JSON.stringify('x'.repeat(3000))
  const post = new Request(await endpoint.urlFor(taskId, 'd'), { method: 'POST', body })
  expect((await endpoint.fetch(post)).status).toBe(413)
})
