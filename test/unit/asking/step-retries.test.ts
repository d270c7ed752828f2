/** Steps that fail: how often they are tried, how long each attempt may take, and what they throw. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool, type McpContext, NonRetryableError, ProtocolError } from '../../../src/index.ts'
import { createMemoryTaskStore, createTasks } from '../../../src/tasks.ts'
import { createServer, textOf } from '../_client.ts'
import { TaskClient } from '../tasks/_tasks.ts'
import { accept, converse, round } from './_rounds.ts'

const secret = 'a-secret-of-the-tests-that-is-long-enough'
const form = z.object({ ok: z.boolean() })
const serverOf = (execute: (ctx: McpContext) => unknown) =>
  createServer({ secret, tools: { t: createTool({ id: 't', execute: (_input, ctx) => execute(ctx) }) } })

/** Fails a number of times. */
function flaky(times: number, toError = () => new Error('no')) {
  const keys: string[] = []
  const run = ({ idempotencyKey }: { idempotencyKey: string }): number => {
    keys.push(idempotencyKey)
    if (keys.length <= times) throw toError()
    return keys.length
  }
  return { keys, run }
}

describe('in a request', () => {
  it('retries → as often as asked, with one key', async () => {
    const { keys, run } = flaky(2)
    const server = serverOf((ctx) => ctx.step('pay', run, { retries: 2, backoffMs: 1 }))
    expect(textOf(await round(server, { name: 't' }))).toBe('3')
    expect(new Set(keys).size).toBe(1)
  })

  it('more failures than retries → the last error, which every round throws', async () => {
    const { keys, run } = flaky(9)
    const server = serverOf(async (ctx) => {
      const said = await ctx.step('pay', run, { retries: 1, backoffMs: 1 }).catch(({ message }) => message)
      await ctx.elicit('?', form)
      return said
    })
    const { answer } = await converse(server, { name: 't' }, () => accept({ ok: true }))
    expect([textOf(answer), keys.length]).toEqual(['no', 2])
  })

  it.each([
    ['a NonRetryableError', () => new NonRetryableError('no')],
    ['that of another package', () => Object.assign(new Error('no'), { name: 'NonRetryableError' })],
  ])('%s → is not tried again', async (_what, toError) => {
    const { keys, run } = flaky(9, toError)
    const server = serverOf((ctx) => ctx.step('pay', run, { retries: 5, backoffMs: 1 }))
    expect((await round(server, { name: 't' })).result?.isError).toBe(true)
    expect(keys).toHaveLength(1)
  })

  it('an attempt that takes too long → a TimeoutError, and its signal aborts', async () => {
    const signals: AbortSignal[] = []
    const server = serverOf((ctx) =>
      ctx
        .step(
          'slow',
          ({ signal }) => {
            signals.push(signal)
            return new Promise<never>(() => {})
          },
          { timeoutMs: 5, retries: 1, backoffMs: 1 },
        )
        .catch(({ name }: Error) => name),
    )
    expect(textOf(await round(server, { name: 't' }))).toBe('TimeoutError')
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  })

  it('a ProtocolError → is one in the next round as well', async () => {
    const server = serverOf(async (ctx) => {
      try {
        return await ctx.step('pay', () => {
          throw new ProtocolError(-32050, 'No.', { why: 'closed' })
        })
      } catch (error) {
        await ctx.elicit('?', form)
        throw error
      }
    })
    const { answer } = await converse(server, { name: 't' }, () => accept({ ok: true }))
    expect(answer.error).toMatchObject({ code: -32050, message: 'No.', data: { why: 'closed' } })
  })

  it('without a secret, a question after a failed step → an error, since the step would run again', async () => {
    const tool = createTool({
      id: 't',
      execute: async (_input, ctx) => {
        await ctx.step('pay', flaky(1).run).catch(() => {})
        return ctx.elicit('?', form)
      },
    })
    const server = createServer({ tools: { t: tool }, log: false })
    expect((await round(server, { name: 't' })).error?.message).toContain('MAYFLY_SECRET')
  })

  it.each([
    [{ retrys: 2 }, /Step "pay" has no option "retrys"/],
    [{ retries: -1 }, /"retries" of Step "pay" must be a number from 0/],
    [{ timeoutMs: Number.NaN }, /"timeoutMs" of Step "pay"/],
  ])('%o → refused', async (options, message) => {
    const server = serverOf((ctx) => ctx.step('pay', () => 1, options as object))
    expect(textOf(await round(server, { name: 't' }))).toMatch(message)
  })
})

describe('in a task', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('a long pause between attempts → no run waits for it, and another process counts on', async () => {
    const store = createMemoryTaskStore()
    const { keys, run } = flaky(2)
    const open = () =>
      new TaskClient({
        tools: {
          job: createTool({
            id: 'job',
            task: 'required',
            execute: (_input, ctx) => ctx.step('pay', run, { retries: 2, backoffMs: 60_000 }),
          }),
        },
        tasks: createTasks({ store }),
        onError: () => {},
      })
    const first = open()
    const { taskId } = await first.call('job')
    await first.settle()
    for (const minutes of [1, 2]) {
      expect(keys).toHaveLength(minutes)
      expect((await store.read(taskId))!.dueAt).toBe(Date.now() + minutes * 60_000)
      vi.setSystemTime(Date.now() + minutes * 60_000)
      await open().server.tasks.run(taskId)
    }
    expect(new Set(keys).size).toBe(1)
    expect(await open().get(taskId)).toMatchObject({ result: { content: [{ text: '3' }] } })
  })
})
