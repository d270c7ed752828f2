/** Which answer counts for which question: the one to the same content, wherever the question comes. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createTool, type McpContext } from '../../../src/index.ts'
import { createServer, deferred, textOf } from '../_client.ts'
import { accept, askedIn, converse, round } from './_rounds.ts'

const secret = 'a-secret-of-the-tests-that-is-long-enough'
const sure = z.object({ sure: z.boolean() })
const yes = () => accept({ sure: true })

const serverOf = (execute: (ctx: McpContext) => unknown, config: { secret?: string } = { secret }) =>
  createServer({ ...config, tools: { t: createTool({ id: 't', execute: (_input, ctx) => execute(ctx) }) } })

const turn = () => new Promise((resolve) => setTimeout(resolve, 0))

describe.each([
  ['with a key', { key: 'confirm' }],
  ['without one', {}],
])('an answer %s', (_label, options) => {
  it.each([
    ['with a secret', { secret }],
    ['without one', {}],
  ])('to one message → counts for no other, %s [ask.content]', async (_secret, config) => {
    let order = 'A'
    const server = serverOf((ctx) => ctx.elicit(`Delete ${order}?`, sure, options), config)
    const first = await round(server, { name: 't' })
    const inputResponses = { [askedIn(first)[0]!.key]: yes() }
    const { requestState } = first.result!
    order = 'B'
    const retry = { name: 't', inputResponses, ...(requestState !== undefined && { requestState }) }
    const again = await round(server, retry)
    expect(askedIn(again).map(({ params }) => params.message)).toEqual(['Delete B?'])
    order = 'A'
    expect((await round(server, retry)).result?.resultType).toBe('complete')
  })

  it('to one form, or one method → counts for no other [ask.content]', async () => {
    let schema: z.ZodObject = sure
    const server = serverOf((ctx) => ctx.elicit('Delete?', schema, options))
    const [asked] = askedIn(await round(server, { name: 't' }))
    schema = z.object({ sure: z.boolean(), all: z.boolean().optional() })
    const again = await round(server, { name: 't', inputResponses: { [asked!.key]: yes() } })
    expect(again.result?.resultType).toBe('input_required')
  })

  it('given in an earlier round → still counts for its own message alone [ask.content]', async () => {
    let order = 'A'
    const server = serverOf(async (ctx) => {
      await ctx.elicit(`Delete ${order}?`, sure, options)
      await ctx.elicit('Really?', sure)
    })
    const first = await round(server, { name: 't' })
    const second = await round(server, { name: 't', inputResponses: { [askedIn(first)[0]!.key]: yes() } })
    expect(askedIn(second)[0]!.params.message).toBe('Really?')
    order = 'B'
    const third = await round(server, { name: 't', requestState: second.result?.requestState })
    expect(askedIn(third)[0]!.params.message).toBe('Delete B?')
  })
})

describe('questions', () => {
  it('that swap their order from round to round → are answered [ask.content]', async () => {
    let call = 0
    const server = serverOf((ctx) => {
      const order = call++ % 2 === 0 ? ['a', 'b'] : ['b', 'a']
      return Promise.all(
        order.map(async (who, position) => {
          if (position === 1) await undefined
          const first = await ctx.elicit(`${who}?`, sure)
          await ctx.elicit(`${who}, really?`, sure)
          return first.action
        }),
      )
    })
    const { answer, rounds } = await converse(server, { name: 't' }, yes)
    expect([answer.result?.resultType, rounds]).toEqual(['complete', 3])
  })

  it('that are the same, one after another → are asked as often, each with an answer of its own [ask.content]', async () => {
    const server = serverOf(async (ctx) => {
      const given: unknown[] = []
      for (let index = 0; index < 3; index++) {
        const answer = await ctx.elicit('Next?', z.object({ value: z.number() }))
        given.push(answer.action === 'accept' && answer.content.value)
      }
      return given
    })
    let value = 0
    const { answer, rounds } = await converse(server, { name: 't' }, () => accept({ value: ++value }))
    expect([textOf(answer), rounds]).toEqual(['[1,2,3]', 4])
  })

  it('that are the same, side by side → are both asked, under names of their own', async () => {
    const server = serverOf((ctx) => Promise.all([ctx.elicit('?', sure), ctx.elicit('?', sure)]))
    const answer = await round(server, { name: 't' })
    const [first, second] = askedIn(answer).map(({ key }) => key)
    expect(second).toBe(`${first}-1`)
  })

  it('with a key and without are others, in whatever order they come', async () => {
    let isKeyed = true
    const server = serverOf(async (ctx) => {
      const keyed = () => ctx.elicit('?', sure, { key: 'k' })
      if (isKeyed) void keyed()
      const plain = ctx.elicit('?', sure)
      if (!isKeyed) void keyed()
      return plain
    })
    const keysOf = async () => askedIn(await round(server, { name: 't' })).map(({ key }) => key)
    const before = await keysOf()
    isKeyed = false
    const after = await keysOf()
    expect(before.sort()).toEqual(after.sort())
    expect(before.filter((key) => /^[\w-]{22}$/.test(key))).toHaveLength(1)
  })

  it('a key is the beginning of the name on the wire, and the rest does not depend on where it comes', async () => {
    let isFirst = true
    const server = serverOf(async (ctx) => {
      if (!isFirst) await ctx.listRoots()
      return ctx.elicit('?', sure, { key: 'confirm' })
    })
    const [asked] = askedIn(await round(server, { name: 't' }))
    expect(asked!.key).toMatch(/^confirm-[\w-]{22}$/)
    isFirst = false
    const roots = askedIn(await round(server, { name: 't' }))[0]!.key
    const inputResponses = { [roots]: { roots: [] }, [asked!.key]: yes() }
    expect((await round(server, { name: 't', inputResponses })).result?.resultType).toBe('complete')
  })

  it.each(['__proto__', 'constructor', 'toString', '', '-'])('a key %j → as any other', async (key) => {
    const server = serverOf(async (ctx) => {
      await ctx.elicit('?', sure, { key })
      return (await ctx.elicit('Really?', sure)).action
    })
    const { answer, rounds } = await converse(server, { name: 't' }, yes)
    expect([textOf(answer), rounds]).toEqual(['accept', 3])
  })

  it('that are changed after they were asked → go out as they were asked', async () => {
    const messages = [{ role: 'user' as const, content: { type: 'text', text: 'before' } }]
    const server = serverOf((ctx) => {
      const asked = ctx.createMessage({ messages, maxTokens: 1 })
      messages[0]!.content.text = 'after'
      return asked
    })
    expect(JSON.stringify(askedIn(await round(server, { name: 't' })))).toContain('before')
  })

  it('that are no JSON → an error of the tool', async () => {
    const server = serverOf((ctx) => ctx.createMessage({ messages: [], maxTokens: 1, metadata: { big: 1n } }))
    expect((await round(server, { name: 't' })).result?.isError).toBe(true)
  })

  it('one whose earlier answer no longer fits → is asked again, and the new answer counts', async () => {
    let isOpen = true
    const server = serverOf(async (ctx) => {
      const first = await ctx.elicit('First?', z.object({ sure: z.boolean().refine(() => isOpen) }))
      return [first.action, (await ctx.elicit('Second?', sure)).action]
    })
    const reply = async (earlier: Awaited<ReturnType<typeof round>>) => {
      const inputResponses = Object.fromEntries(askedIn(earlier).map(({ key }) => [key, yes()]))
      const { requestState } = earlier.result!
      return round(server, { name: 't', inputResponses, ...(requestState !== undefined && { requestState }) })
    }
    const second = await reply(await round(server, { name: 't' }))
    isOpen = false
    const third = await reply(second)
    expect(askedIn(third).map(({ params }) => params.message)).toEqual([expect.stringContaining('First?')])
    isOpen = true
    expect(textOf(await reply(third))).toBe('["accept","accept"]')
  })

  it('asked after the tool has answered → rejects, and leaves the answer alone', async () => {
    let late: unknown
    const server = serverOf(async (ctx) => {
      setTimeout(() => {
        late = ctx.elicit('late?', sure).catch((error: unknown) => error)
      }, 5)
      return 'done'
    })
    expect(textOf(await round(server, { name: 't' }))).toBe('done')
    await expect.poll(() => late).toBeDefined()
    expect(await late).toMatchObject({ name: 'QuestionError', code: 'CALL_OVER' })
  })

  it('that nobody waits for → end no process, whatever becomes of them', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', note)
    const begun = deferred()
    const left = new AbortController()
    const server = serverOf(async (ctx) => {
      void ctx.elicit('?', z.object({ nested: z.object({}) }))
      setTimeout(() => void ctx.listRoots(), 1)
      begun.resolve()
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      void ctx.listRoots()
      void ctx.step('late', () => 1)
      return 'done'
    })
    const answered = round(server, { name: 't' }, { signal: left.signal })
    await begun.promise
    left.abort()
    await answered
    const quick = serverOf((ctx) => {
      setTimeout(() => void ctx.listRoots(), 1)
      return 'done'
    })
    await round(quick, { name: 't' })
    await new Promise((resolve) => setTimeout(resolve, 20))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it.each<[string, (ctx: McpContext) => unknown]>([
    ['at once', () => 'done'],
    ['later', () => turn().then(() => 'done')],
  ])('asked, and not waited for by a tool that answers %s → the answer counts', async (_label, finish) => {
    const server = serverOf((ctx) => {
      void ctx.step('busy', turn)
      void ctx.elicit('?', sure)
      return finish(ctx)
    })
    expect(textOf(await round(server, { name: 't' }))).toBe('done')
  })
})
