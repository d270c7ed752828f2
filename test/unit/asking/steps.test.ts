/** Steps beside questions: once in all rounds, whatever runs in parallel, and never a hang. */

import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createTool, type SdkToolContext } from '../../../src/sdk-context.ts'
import { createServer, deferred, textOf } from '../_client.ts'
import { accept, converse, round } from './_rounds.ts'

const secret = 'a-secret-of-the-tests-that-is-long-enough'
const name = z.object({ name: z.string() })

const serverOf = (execute: (ctx: SdkToolContext) => unknown) =>
  createServer({ secret, tools: { t: createTool({ id: 't', execute: (_input, ctx) => execute(ctx) }) } })

const turn = () => new Promise((resolve) => setTimeout(resolve, 0))
const ada = () => accept({ name: 'Ada' })

describe('a question inside a step', () => {
  it.each<[string, (ctx: SdkToolContext) => Promise<unknown>]>([
    ['as the step itself', (ctx) => ctx.elicit('?', name)],
    ['at its start', async (ctx) => (await ctx.elicit('?', name)).action],
    [
      'after it has waited',
      async (ctx) => {
        await turn()
        return ctx.sendRequest({ method: 'roots/list' })
      },
    ],
    ['in a chain of callbacks', (ctx) => turn().then(() => ctx.elicit('?', name))],
    ['beside others', (ctx) => Promise.all([turn(), turn().then(() => ctx.elicit('?', name))])],
    [
      'inside a step inside a step',
      (ctx) => ctx.step('inner', async () => turn().then(() => ctx.sendRequest({ method: 'roots/list' }))),
    ],
  ])('%s → an error at once that says what to do [ask.inside-step]', async (_label, body) => {
    let caught: unknown
    const server = serverOf((ctx) =>
      ctx
        .step('pay', () => body(ctx))
        .catch((error: unknown) => {
          caught = error
          throw error
        }),
    )
    const answer = await round(server, { name: 't' })
    expect(answer.result?.isError).toBe(true)
    expect(textOf(answer)).toMatch(/asked inside the step "pay".*before or after/)
    expect(caught).toMatchObject({ name: 'QuestionError', code: 'INSIDE_STEP' })
  })

  it('deep inside of its functions → the same, and stack traces stay as long as they were [ask.inside-step]', async () => {
    const deep = async (ctx: SdkToolContext, depth: number): Promise<unknown> => {
      if (depth === 0) return ctx.elicit('?', name)
      await turn()
      return await deep(ctx, depth - 1)
    }
    const server = serverOf((ctx) => ctx.step('pay', () => deep(ctx, 50)))
    const before = Error.stackTraceLimit
    try {
      Error.stackTraceLimit = 10 // Node's own
      expect(textOf(await round(server, { name: 't' }))).toMatch(/asked inside the step "pay"/)
      expect(Error.stackTraceLimit).toBe(10)
    } finally {
      Error.stackTraceLimit = before
    }
  })

  it('of another call, on a server in the same process → is asked', async () => {
    const inner = serverOf(async (ctx) => (await ctx.elicit('inner?', name)).action)
    const outer = serverOf((ctx) =>
      ctx.step('call', async () => (await converse(inner, { name: 't' }, ada)).answer.result?.content),
    )
    expect(textOf(await round(outer, { name: 't' }))).toContain('accept')
  })

  it('and one beside a step that waits as long → asked, and the step is not run again [ask.step]', async () => {
    let ran = 0
    const server = serverOf(async (ctx) => {
      const slow = ctx.step('slow', async () => {
        await turn()
        await turn()
        return ++ran
      })
      await turn()
      const asked = ctx.elicit('?', name)
      return Promise.all([slow, asked])
    })
    const { answer, rounds } = await converse(server, { name: 't' }, ada)
    expect([textOf(answer), rounds, ran]).toEqual(['[1,{"action":"accept","content":{"name":"Ada"}}]', 2, 1])
  })
})

describe('a step that begins after its call was suspended', () => {
  it.each<[string, (ctx: SdkToolContext, work: Promise<unknown>, begin: () => Promise<unknown>) => unknown]>([
    ['Promise.all', (ctx, work, begin) => Promise.all([ctx.elicit('?', name), work.then(begin)])],
    [
      'Promise.allSettled',
      (ctx, work, begin) => Promise.allSettled([ctx.elicit('?', name), work.then(begin)]),
    ],
    ['Promise.race', (ctx, work, begin) => Promise.race([ctx.elicit('?', name), work]).then(begin)],
  ])('%s → does not run, and runs once in the next round [ask.step-late]', async (_label, run) => {
    let ran = 0
    const work = deferred()
    const begun = deferred()
    const server = serverOf((ctx) =>
      run(ctx, work.promise, () => {
        const step = ctx.step('pay', () => ++ran)
        begun.resolve()
        return step
      }),
    )
    const first = await round(server, { name: 't' })
    expect(first.result?.resultType).toBe('input_required')
    work.resolve()
    await begun.promise
    await turn()
    expect(ran).toBe(0)
    await converse(server, { name: 't' }, ada)
    expect(ran).toBe(1)
  })

  it('a question then → is not asked, and does not settle', async () => {
    const work = deferred()
    const settled: string[] = []
    const server = serverOf((ctx) =>
      Promise.all([
        ctx.elicit('?', name),
        work.promise.then(() => ctx.elicit('late?', name)).finally(() => settled.push('late')),
      ]),
    )
    await round(server, { name: 't' })
    work.resolve()
    await turn()
    await turn()
    expect(settled).toEqual([])
  })

  it('after the call ended for another reason → does not run either', async () => {
    let ran = 0
    const begun = deferred()
    const server = serverOf((ctx) => {
      ctx.signal.addEventListener('abort', () => {
        void ctx.step('pay', () => ++ran)
        begun.resolve()
      })
      return ctx.elicit('?', name)
    })
    const answer = await round(server, { name: 't' }, { capabilities: {} })
    expect(answer.error?.code).toBe(-32021)
    await begun.promise
    await turn()
    expect(ran).toBe(0)
  })

  it('a client that went away → a step that begins then rejects with the reason of the signal, and does not run', async () => {
    let ran = 0
    const left = new AbortController()
    const [waiting, ended] = [deferred(), deferred<unknown>()]
    const server = serverOf(async (ctx) => {
      try {
        waiting.resolve()
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        return await ctx.step('pay', () => ++ran)
      } catch (error) {
        ended.resolve(error)
        throw error
      }
    })
    const answered = round(server, { name: 't' }, { signal: left.signal })
    await waiting.promise
    await turn()
    left.abort()
    expect(String(await ended.promise)).toContain('AbortError')
    expect(ran).toBe(0)
    await answered
  })
})

describe('the idempotency key of a step', () => {
  it('without a task → stays the same within the step, and differs from that of another', async () => {
    const server = serverOf(async (ctx) => {
      const read = (name: string) => ctx.step(name, (info) => [info.idempotencyKey, info.idempotencyKey])
      return [await read('one'), await read('two')]
    })
    const [one, two] = JSON.parse(textOf(await round(server, { name: 't' })) ?? '')
    expect(one[0]).toMatch(/^[\da-f-]{36}$/)
    expect(one[1]).toBe(one[0])
    expect(two[0]).not.toBe(one[0])
  })
})

describe('what a step has done', () => {
  it('is remembered over rounds that do not come by it [ask.step]', async () => {
    let ran = 0
    const gates = [deferred(), deferred(), deferred(), deferred()]
    gates[0]!.resolve()
    let call = 0
    const server = serverOf((ctx) => {
      const gate = gates[call++]!
      const asks = async () => {
        await ctx.step('first', () => turn())
        await ctx.elicit('a?', name)
        await ctx.elicit('b?', name)
        gates[2]!.resolve()
      }
      const pays = async () => {
        await gate.promise
        return ctx.step('pay', () => ++ran)
      }
      return Promise.all([asks(), pays()])
    })
    // The second round is suspended before it comes by the payment; the third does again.
    const { answer, rounds } = await converse(server, { name: 't' }, ada)
    expect([rounds, answer.result?.resultType, ran]).toEqual([3, 'complete', 1])
  })

  it('cannot be changed by what the tool does with the result', async () => {
    const server = serverOf(async (ctx) => {
      const order = await ctx.step('load', () => ({ items: ['a'] }))
      const seen = [...order.items]
      order.items.push('changed')
      await ctx.elicit('?', name)
      return seen
    })
    const { answer } = await converse(server, { name: 't' }, ada)
    expect(textOf(answer)).toBe('["a"]')
  })

  it('nor can an answer', async () => {
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' } } }
    const seen: unknown[] = []
    const server = serverOf(async (ctx) => {
      const answer = await ctx.elicit({ message: 'a?', requestedSchema })
      if (answer.action === 'accept') {
        seen.push(answer.content.name)
        answer.content.name = 'changed'
      }
      await ctx.elicit('b?', name)
      return seen
    })
    await converse(server, { name: 't' }, ada)
    expect(seen).toEqual(['Ada', 'Ada'])
  })

  it.each([undefined, null, 0, '', false, [], {}, [undefined]])(
    '%j → comes back as it was',
    async (value) => {
      const seen: unknown[] = []
      const server = serverOf(async (ctx) => {
        seen.push(await ctx.step('value', () => value as unknown))
        await ctx.elicit('?', name)
      })
      await converse(server, { name: 't' }, ada)
      const asJson = value === undefined ? undefined : JSON.parse(JSON.stringify(value))
      expect(seen).toEqual([asJson, asJson])
    },
  )

  it('is no JSON → an error that names the step', async () => {
    let cause: unknown
    const server = serverOf((ctx) =>
      ctx
        .step('count', () => 1n as unknown)
        .catch((error: Error) => {
          cause = error.cause
          throw error
        }),
    )
    const answer = await round(server, { name: 't' })
    expect(answer.result?.isError).toBe(true)
    expect(textOf(answer)).toContain('"count"')
    expect(cause).toBeInstanceOf(TypeError)
  })

  it('not yet, as it still runs when its tool returns its questions → is waited for', async () => {
    let ran = 0
    const server = serverOf((ctx) => {
      if (ctx.mcpReq.requestState() === 'asked') return ctx.step('pay', () => 'again')
      void ctx.step('pay', async () => {
        await turn()
        await turn()
        return `paid ${++ran}`
      })
      return {
        resultType: 'input_required',
        inputRequests: { where: { method: 'roots/list' } },
        requestState: 'asked',
      }
    })
    const { answer } = await converse(server, { name: 't' }, () => ({ roots: [] }))
    expect([textOf(answer), ran]).toEqual(['paid 1', 1])
  })

  it('failed, and is tried again in the same call → runs again', async () => {
    let tries = 0
    const server = serverOf(async (ctx) => {
      const attempt = () =>
        ctx.step('flaky', () => {
          if (++tries === 1) throw new Error('no')
          return tries
        })
      return attempt().catch(attempt)
    })
    expect(textOf(await round(server, { name: 't' }))).toBe('2')
  })
})
