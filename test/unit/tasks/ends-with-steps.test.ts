/** A tool that ends while a step of another branch runs: its effect is in the journal, and nothing begins after it. */
import { expect, test, vi } from 'vitest'
import { createTool, type MCPServerConfig } from '../../../src/index.ts'
import { createMemoryTaskStore, createTasks } from '../../../src/tasks.ts'
import { createTaskAdmin } from '../../../src/tasks-admin.ts'
import { TaskClient } from './_tasks.ts'

/** Nothing runs before `runDue`. */
const idle = { isPrompt: true, wake() {} }

function setUp(execute: Parameters<typeof createTool>[0]['execute'], options: { maxRunMs?: number } = {}) {
  const job = createTool({ id: 'job', task: 'required', execute })
  const tools = { job } as unknown as NonNullable<MCPServerConfig['tools']>
  const client = new TaskClient({
    tools,
    log: false,
    tasks: createTasks({ store: createMemoryTaskStore(), runner: idle, ...options }),
  })
  const admin = createTaskAdmin({ secret: 'another-one-of-thirty-two-characters' }).of(client.server)
  const steps = async (taskId: string) =>
    (await admin.show(taskId))!.journal.filter(({ kind }) => kind === 'step').map(({ name }) => name)
  return { client, admin, steps, runDue: () => client.server.tasks.runDue() }
}

function gate(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((open) => {
    resolve = open
  })
  return { promise, resolve }
}

test('a step next to one that failed is recorded, and does not run again when the task is tried again', async () => {
  const ran: string[] = []
  const charging = gate()
  let fails = true
  const { client, admin, steps, runDue } = setUp(async (_input, ctx) => {
    const charge = ctx.step('charge', async () => {
      await charging.promise
      ran.push('charge')
    })
    const check = ctx.step('check', () => {
      ran.push('check')
      if (fails) throw new Error('no')
    })
    await Promise.all([charge, check])
    return 'done'
  })
  const { taskId } = await client.call('job')
  const running = runDue()
  await vi.waitFor(() => expect(ran).toEqual(['check']))
  charging.resolve()
  await running
  expect((await client.get(taskId)).result!.isError).toBe(true)
  expect(await steps(taskId)).toContain('charge')

  fails = false
  const again = await admin.retry(taskId)
  await runDue()
  expect((await client.get(again.taskId)).result!.content[0]!.text).toBe('done')
  expect(ran).toEqual(['check', 'charge', 'check'])
})

test('after an error the steps of other branches end, and no further one begins', async () => {
  const ran: string[] = []
  const slow = gate()
  const { client, steps, runDue } = setUp(async (_input, ctx) => {
    const branch = async () => {
      await ctx.step('slow', () => slow.promise)
      await ctx.step('after it', () => ran.push('after it'))
    }
    const failing = ctx.step('fails', () => {
      ran.push('fails')
      throw new Error('no')
    })
    await Promise.all([branch(), failing])
    return 'done'
  })
  const { taskId } = await client.call('job')
  const running = runDue()
  await vi.waitFor(() => expect(ran).toEqual(['fails']))
  expect((await client.get(taskId)).status).toBe('working')
  slow.resolve()
  await running
  expect(await steps(taskId)).toEqual(expect.arrayContaining(['fails', 'slow']))
  expect(ran).toEqual(['fails'])
})

test('a step because of the error, not awaited, is recorded: the task tried again decides as before', async () => {
  const ran: string[] = []
  const undoing = gate()
  let fails = true
  const { client, admin, runDue } = setUp(async (_input, ctx) => {
    try {
      await ctx.step('charge', () => {
        ran.push('charge')
        if (fails) throw new Error('no')
      })
    } catch (error) {
      void ctx.step('undo', async () => {
        await undoing.promise
        ran.push('undo')
      })
      throw error
    }
    return 'done'
  })
  const { taskId } = await client.call('job')
  const running = runDue()
  await vi.waitFor(() => expect(ran).toEqual(['charge']))
  undoing.resolve()
  await running
  fails = false
  const again = await admin.retry(taskId)
  await runDue()
  expect((await client.get(again.taskId)).result!.content[0]!.text).toBe('no')
  expect(ran).toEqual(['charge', 'undo'])
})

test.each([
  ['failed', true],
  ['succeeded', false],
])('a step that does not end is aborted when its tool has %s, and the task ends', async (_how, fails) => {
  let aborted: unknown
  const begun = gate()
  const { client, runDue } = setUp(
    async (_input, ctx) => {
      const endless = ctx.step('endless', ({ signal }) => {
        signal.addEventListener('abort', () => {
          aborted = signal.reason
        })
        begun.resolve()
        return new Promise(() => {})
      })
      const fast = ctx.step('fast', async () => {
        await begun.promise
        if (fails) throw new Error('no')
      })
      await Promise.race([endless, fast])
      return 'done'
    },
    { maxRunMs: 2000 },
  )
  const { taskId } = await client.call('job')
  await runDue()
  expect((await client.get(taskId)).result!.isError ?? false).toBe(fails)
  expect(String(aborted)).toContain('The task has ended.')
})

test('a cancelled task does not wait for its steps', async () => {
  let isRunning = false
  const { client, runDue } = setUp(async (_input, ctx) => {
    void ctx.step('endless', () => {
      isRunning = true
      return new Promise(() => {})
    })
    throw new Error('no')
  })
  const { taskId } = await client.call('job')
  const running = runDue()
  await vi.waitFor(() => expect(isRunning).toBe(true))
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
  const before = timers()
  await client.cancel(taskId)
  await running
  expect((await client.get(taskId)).status).toBe('cancelled')
  // None keeps the process alive for the rest of the minute.
  expect(timers()).toBeLessThan(before)
})
