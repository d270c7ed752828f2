/** A tool's code changes while its tasks wait: no step runs twice, and no task is lost. */
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTool } from '../../../src/index.ts'
import {
  CodeChangedError,
  createMemoryTaskStore,
  createTasks,
  type TaskContext,
  type TaskOption,
} from '../../../src/tasks.ts'
import { TaskClient } from './_tasks.ts'

type Run = (ctx: TaskContext, ran: string[]) => Promise<unknown>

const step = (ctx: TaskContext, ran: string[], name: string) => ctx.step(name, () => ran.push(name))

/** These steps, and then it waits. */
const steps =
  (...names: string[]): Run =>
  async (ctx, ran) => {
    for (const name of names) await step(ctx, ran, name)
    await ctx.waitFor('go')
  }

const before: Run = async (ctx, ran) => {
  await steps('load', 'charge')(ctx, ran)
  await step(ctx, ran, 'ship')
  return ran.join()
}

const store = () => createMemoryTaskStore()
type Store = ReturnType<typeof store>

/** A process with one version of the code. */
function deploy(shared: Store, run: Run, task: TaskOption = 'required') {
  const ran: string[] = []
  const errors: unknown[] = []
  const job = createTool({ id: 'job', task, execute: (_input, ctx) => run(ctx, ran) as Promise<string> })
  const onError = (error: unknown) => errors.push(error)
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store: shared }), onError })
  return { client, ran, errors }
}

/** A task that waits after `load` and `charge`. */
async function waiting(shared: Store, task?: TaskOption): Promise<string> {
  const { client, ran } = deploy(shared, before, task)
  const { taskId } = await client.call('job')
  await client.settle()
  expect(ran).toEqual(['load', 'charge'])
  return taskId
}

// A second in which the tool could still ask, and the minute until a task is tried again.
const real = setTimeout
beforeEach(() => {
  const faster = (run: () => void, ms = 0) => real(run, ms === 1000 ? 20 : ms)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(faster as never)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const changed: { readonly [how: string]: readonly [run: Run, expected: string] } = {
  'a renamed step': [steps('load', 'charge card'), 'step charge'],
  'a removed step': [steps('charge'), 'step load'],
  'a step before others': [
    async (ctx, ran) => {
      await step(ctx, ran, 'audit')
      return before(ctx, ran)
    },
    'step load',
  ],
  'another order': [steps('charge', 'load'), 'step load'],
  'a question before the steps': [
    async (ctx, ran) => {
      await ctx.listRoots()
      return before(ctx, ran)
    },
    'step load',
  ],
}

test.each(Object.entries(changed))(
  '%s → a typed error, no effect, and the code before can continue',
  async (_how, [run, expected]) => {
    const shared = store()
    const taskId = await waiting(shared)
    const after = deploy(shared, run)
    await after.client.server.tasks.send(taskId, 'go')
    await after.client.server.tasks.run(taskId)
    expect(after.ran).toEqual([])
    const [error] = after.errors
    expect(error).toBeInstanceOf(CodeChangedError)
    expect(error).toMatchObject({ code: 'CODE_CHANGED', taskId, tool: 'job', expected })
    expect(String(error)).toContain(`Task ${taskId} of tool "job"`)
    expect(await after.client.get(taskId, { platform: {} })).toMatchObject({ status: 'working' })
    // It is not due at once, so that it holds no place.
    expect(await shared.due(Date.now() + 500, 20)).toEqual([])

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    const again = deploy(shared, before)
    await again.client.server.tasks.run(taskId)
    expect(again.ran).toEqual(['ship'])
    expect(await again.client.get(taskId)).toMatchObject({ status: 'completed' })
  },
)

test('a step after those that are recorded → runs', async () => {
  const shared = store()
  const taskId = await waiting(shared)
  const after = deploy(shared, steps('load', 'charge', 'audit'))
  await after.client.server.tasks.send(taskId, 'go')
  await after.client.server.tasks.run(taskId)
  expect(after.ran).toEqual(['audit'])
  expect(await after.client.get(taskId)).toMatchObject({ status: 'completed' })
})

test('another version → a waiting task goes on in its own order, a new one in the new', async () => {
  const shared = store()
  const taskId = await waiting(shared)
  const both: Run = async (ctx, ran) => {
    if (ctx.earlierVersion === undefined) await step(ctx, ran, 'audit')
    return before(ctx, ran)
  }
  const after = deploy(shared, both, { mode: 'required', version: 2 })
  await after.client.server.tasks.send(taskId, 'go')
  await after.client.server.tasks.run(taskId)
  expect(after.ran).toEqual(['ship'])
  await after.client.call('job')
  await after.client.settle()
  expect(after.ran).toEqual(['ship', 'audit', 'load', 'charge'])
  expect(after.errors).toEqual([])
})

test('a process with the version before → leaves a later task alone', async () => {
  const shared = store()
  const taskId = await waiting(shared, { mode: 'required', version: 2 })
  const old = deploy(shared, before)
  await old.client.server.tasks.send(taskId, 'go')
  await old.client.server.tasks.run(taskId)
  expect(old.ran).toEqual([])
  expect(old.errors).toMatchObject([{ code: 'CODE_CHANGED', expected: undefined }])
  expect(await old.client.get(taskId, { platform: {} })).toMatchObject({ status: 'working' })
})

test('a journal of 0.1.0 before the order was recorded → continues, with its time-out', async () => {
  const state = readFileSync(new URL('journals/before-order.json', import.meta.url), 'utf8')
  const shared = store()
  await shared.create(
    { id: 'old', owner: 'x', version: 1, isOpen: true, dueAt: null, expiresAt: null, state },
    10,
  )
  const after = deploy(shared, async (ctx, ran) => {
    await step(ctx, ran, 'load')
    const late = await ctx.waitFor('late', { timeoutMs: 1 }).catch(({ name }: Error) => name)
    await ctx.sleep('rest', 1)
    await step(ctx, ran, 'charge')
    return `${late} ${await ctx.waitFor('go')}`
  })
  await after.client.server.tasks.send('old', 'late', 'late')
  await after.client.server.tasks.send('old', 'go', 'gone')
  await after.client.server.tasks.run('old')
  expect(after.ran).toEqual([])
  const { result } = await after.client.get('old')
  expect(result!.content[0]!.text).toBe('TimeoutError gone')
})
