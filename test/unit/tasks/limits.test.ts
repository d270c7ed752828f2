/** What a task may take, and whose it is. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { staticTokens } from '../../../src/auth.ts'
import { createTool } from '../../../src/index.ts'
import { createMemoryTaskStore, createMemoryTasks, createTasks, type TaskStore } from '../../../src/tasks.ts'
import { secretOf } from '../../_secrets.ts'
import { TaskClient } from './_tasks.ts'

const waiting = createTool({
  id: 'waiting',
  task: 'required',
  execute: (_input, ctx) => ctx.waitFor('never'),
})

afterEach(() => {
  vi.useRealTimers()
})

describe('whose it is', () => {
  const auth = staticTokens([
    { token: secretOf('anne'), clientId: 'anne', scopes: ['run'] },
    { token: secretOf('bert'), clientId: 'bert', scopes: ['run'] },
    { token: secretOf('poor'), clientId: 'anne', scopes: [] },
  ])
  const secret = createTool({
    id: 'secret',
    scopes: ['run'],
    task: 'required',
    execute: (_input, ctx) => ctx.waitFor('never'),
  })
  const as = (token: string) => ({ headers: { authorization: `Bearer ${secretOf(token)}` } })

  test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
    '%s of somebody else → -32602, as of an unknown id',
    async (method) => {
      const client = new TaskClient({ tools: { secret }, tasks: createMemoryTasks(), auth })
      const { taskId } = await client.call('secret', {}, as('anne'))
      const params = { taskId, inputResponses: {} }
      const foreign = await client.send(method, params, as('bert'))
      const unknown = await client.send(method, { ...params, taskId: 'unknown' }, as('bert'))
      expect(foreign.error).toMatchObject({ code: -32602 })
      expect(foreign.error).toEqual(unknown.error)
      const poor = await client.send(method, params, as('poor'))
      expect(poor.status).toBe(403)
      expect((await client.send(method, params, as('anne'))).error).toBeUndefined()
    },
  )

  test('task_status and task_answer with a token that lacks the scope of the tool → refused', async () => {
    const client = new TaskClient({ tools: { secret }, tasks: createMemoryTasks(), auth })
    const { taskId } = await client.call('secret', {}, as('anne'))
    const call = async (name: string, token: string) =>
      (await client.send('tools/call', { name, arguments: { taskId, answers: {} } }, as(token))).result
    for (const name of ['task_status', 'task_answer']) {
      const refused = await call(name, 'poor')
      expect(refused).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/lacks a scope/) }],
      })
      expect((await call(name, 'anne'))!.isError).toBeUndefined()
    }
  })
})

test.each(['', 'a'.repeat(65), 'x/../y', 'é', "x'; DROP TABLE"])(
  'tasks/get of %j → -32602',
  async (taskId) => {
    const client = new TaskClient({ tools: { waiting }, tasks: createMemoryTasks() })
    const { error } = await client.send(
      'tasks/get',
      { taskId },
      { headers: { 'mcp-name': `=?base64?${btoa(unescape(encodeURIComponent(taskId)))}?=` } },
    )
    expect(error?.code).toBe(-32602)
  },
)

test('an Mcp-Name that is not the id → -32020', async () => {
  const client = new TaskClient({ tools: { waiting }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('waiting')
  const { error } = await client.send('tasks/get', { taskId }, { headers: { 'mcp-name': 'other' } })
  expect(error?.code).toBe(-32020)
})

test('more open tasks than maxOpenTasks → refused, until one has ended', async () => {
  const client = new TaskClient({ tools: { waiting }, tasks: createMemoryTasks({ maxOpenTasks: 2 }) })
  const { taskId } = await client.call('waiting')
  await client.call('waiting')
  await expect(client.call('waiting')).rejects.toMatchObject({
    code: -32603,
    data: { limit: 'maxOpenTasks' },
  })
  await client.cancel(taskId)
  expect(await client.call('waiting')).toMatchObject({ resultType: 'task' })
})

test('after ttlMs → -32602', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const short = createTool({
    ...waiting,
    id: 'short',
    task: { mode: 'required', ttlMs: 1000 },
    execute: () => 'done',
  })
  const client = new TaskClient({ tools: { short }, tasks: createMemoryTasks() })
  const created = await client.call('short')
  expect(created.ttlMs).toBe(1000)
  vi.setSystemTime(Date.now() + 999)
  expect(await client.get(created.taskId)).toMatchObject({ taskId: created.taskId })
  vi.setSystemTime(Date.now() + 1)
  await expect(client.get(created.taskId)).rejects.toMatchObject({ code: -32602 })
})

test('a step whose result does not fit → an error that names it, and the tool may go on without', async () => {
  const store: TaskStore = { ...createMemoryTaskStore(), maxStateBytes: 20_000 }
  const big = createTool({
    id: 'big',
    task: 'required',
    execute: async (_input, ctx) => {
      const said = await ctx.step('load', () => 'é'.repeat(10_000)).catch((error: Error) => error.message)
      await ctx.step('small', () => 1)
      return said as string
    },
  })
  const client = new TaskClient({ tools: { big }, tasks: createTasks({ store }) })
  const { taskId } = await client.call('big')
  const ended = await client.until(taskId, 'completed')
  expect(ended.result!.content[0]!.text).toMatch(
    /^The result of step "load" does not fit in the task \(\d+ of 18976 bytes\)/,
  )
})

test('a result that does not fit → failed, with the size', async () => {
  const store: TaskStore = { ...createMemoryTaskStore(), maxStateBytes: 20_000 }
  const big = createTool({ id: 'big', task: 'required', execute: () => 'a'.repeat(30_000) })
  const client = new TaskClient({ tools: { big }, tasks: createTasks({ store }), onError: () => {} })
  const { taskId } = await client.call('big')
  expect((await client.until(taskId, 'failed')).error!.message).toMatch(
    /too large: it has \d+ bytes, but 20000 are allowed/,
  )
})

test('runs that finish nothing → failed after maxIdleRuns, saying so', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  let runs = 0
  const stuck = createTool({
    id: 'stuck',
    task: 'required',
    execute: async (_input, ctx) => {
      runs++
      await ctx.step('endless', () => new Promise(() => {}))
    },
  })
  const tasks = createMemoryTasks({ maxRunMs: 2000, maxIdleRuns: 3 })
  const client = new TaskClient({ tools: { stuck }, tasks })
  const { taskId } = await client.call('stuck')
  // Digests are made by another thread, which may take any number of turns.
  for (let turn = 0; turn < 10_000 && (await client.get(taskId)).status === 'working'; turn++) {
    await vi.advanceTimersByTimeAsync(100)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { error } = await client.get(taskId)
  expect(error!.message).toMatch(/3 consecutive runs finished no step/)
  expect(runs).toBe(3)
})

test('an ended task keeps neither its arguments nor its journal', async () => {
  const store = createMemoryTaskStore()
  const job = createTool({
    id: 'job',
    inputSchema: z.object({ password: z.string() }),
    task: 'required',
    execute: async (_input, ctx) => void (await ctx.step('one', () => 'of no use')),
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store }) })
  const { taskId } = await client.call('job', { password: 'hunter2' })
  await client.until(taskId, 'completed')
  const { state } = (await store.read(taskId))!
  expect(state).not.toContain('hunter2')
  expect(state).not.toContain('of no use')
})

test.each([
  ['a mode that is none', { task: 'often' }, /"task" of tool "job" must be one of required, auto/],
  ['a fallback that is none', { task: { fallback: 'hope' } }, /"task.fallback" of tool "job"/],
  ['a time that is none', { task: { ttlMs: 0 } }, /"task.ttlMs" of tool "job"/],
  ['a boolean', { task: true }, /"task" of tool "job" must be "auto"/],
])('%s → a TypeError when the server is made', (_what, option, message) => {
  const job = { id: 'job', description: '', execute: () => 1, ...option } as never
  expect(() => new TaskClient({ tools: { job }, tasks: createMemoryTasks() })).toThrow(message)
})

test('a run that is too short for a step → a TypeError when the tasks are made', () => {
  expect(() => createMemoryTasks({ maxRunMs: 1999 })).toThrow(
    /"maxRunMs" must be 2000 or more milliseconds, not 1999/,
  )
})

test('a tool with "task" on a server without tasks → a TypeError; there is no server.tasks', () => {
  expect(() => new TaskClient({ tools: { waiting } })).toThrow(
    /Tool "waiting" has "task", but the server has no "tasks"/,
  )
  const { server } = new TaskClient({})
  expect(server.tasks).toBeUndefined()
})
