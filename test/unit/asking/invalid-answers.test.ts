/** Answers that do not fit: the question comes again and says why, and in the end the tool is told. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  createPrompt,
  createTool,
  jsonSchema,
  type McpContext,
  QuestionError,
  type Schema,
} from '../../../src/index.ts'
import { createServer, textOf } from '../_client.ts'
import { accept, askedIn, converse, round } from './_rounds.ts'

const secret = 'a-secret-of-the-tests-that-is-long-enough'
const form = z.object({ name: z.string(), age: z.number().max(7) })

const serverOf = (execute: (ctx: McpContext) => unknown, config = {}) =>
  createServer({
    secret,
    tools: { t: createTool({ id: 't', execute: (_input, ctx) => execute(ctx) }) },
    ...config,
  })

type Answered = Awaited<ReturnType<typeof round>>

/** The next round, with these answers to what was asked, in order. */
const reply = (server: ReturnType<typeof serverOf>, { result, ...rest }: Answered, ...answers: unknown[]) => {
  const asked = askedIn({ result, ...rest })
  const given = asked.flatMap(({ key }, index) => (index in answers ? [[key, answers[index]]] : []))
  const state = result?.requestState
  return round(server, {
    name: 't',
    inputResponses: Object.fromEntries(given),
    ...(state !== undefined && { requestState: state }),
  })
}

const messageIn = (answer: Answered) => askedIn(answer)[0]!.params.message

describe('the question that is asked again', () => {
  it.each<[string, unknown, RegExp]>([
    ['a field that does not fit', accept({ name: 'Ada', age: 8 }), /age: .*7/],
    ['a field that is missing', accept({ age: 1 }), /name: .*string/],
    ['several fields', accept({ name: 1, age: 'x' }), /name: .*; age: /],
    ['no content', { action: 'accept' }, /expected object/],
    ['an unknown action', { action: 'maybe' }, /action: expected accept, decline or cancel/],
    ['no object', 42, /action: /],
    ['null', null, /action: /],
  ])(
    'after %s → has the field and what was expected in its message [ask.reason]',
    async (_label, bad, reason) => {
      const server = serverOf((ctx) => ctx.elicit('Who?', form))
      const first = await round(server, { name: 't' })
      const again = await reply(server, first, bad)
      expect(messageIn(again)).toMatch(/^Who\?\n\nThe last answer was not accepted: /)
      expect(messageIn(again)).toMatch(reason)
      expect(askedIn(again)[0]).toEqual({
        ...askedIn(first)[0]!,
        params: { ...askedIn(first)[0]!.params, message: messageIn(again) },
      })
      const done = await reply(server, again, accept({ name: 'Ada', age: 1 }))
      expect(done.result?.structuredContent).toEqual(accept({ name: 'Ada', age: 1 }))
    },
  )

  it.each<[string, object, unknown, string]>([
    ['text', { type: 'string' }, 5, 'must be text'],
    ['short text', { type: 'string', minLength: 2 }, 'x', 'must have at least 2 characters'],
    ['long text', { type: 'string', maxLength: 2 }, 'xxx', 'must have at most 2 characters'],
    ['a number', { type: 'number' }, '5', 'must be a number'],
    ['a whole number', { type: 'integer' }, 1.5, 'must be a whole number'],
    ['a small number', { type: 'integer', minimum: 2 }, 1, 'must be at least 2'],
    ['a large number', { type: 'number', maximum: 2 }, 2.5, 'must be at most 2'],
    ['a boolean', { type: 'boolean' }, 'yes', 'must be true or false'],
    ['a choice', { type: 'string', enum: ['a', 'b'] }, 'c', 'must be one of a, b'],
    ['a titled choice', { type: 'string', oneOf: [{ const: 'a', title: 'A' }] }, 'A', 'must be one of a'],
    [
      'choices',
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      ['c'],
      'must be a list of a, b',
    ],
    [
      'too few',
      { type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 1 },
      [],
      'must have at least 1 entries',
    ],
    ['nothing', { type: 'string' }, undefined, 'is required'],
  ])('a form as on the wire, %s → is validated as well [ask.reason]', async (_label, field, bad, reason) => {
    const requestedSchema = { type: 'object' as const, properties: { field }, required: ['field'] }
    const server = serverOf((ctx) => ctx.elicit({ message: '?', requestedSchema }))
    const again = await reply(server, await round(server, { name: 't' }), accept({ field: bad }))
    expect(messageIn(again)).toContain(`field: ${reason}`)
  })

  it('a field called constructor → is only there where it was filled in', async () => {
    const requestedSchema = { type: 'object' as const, properties: { constructor: { type: 'string' } } }
    const server = serverOf((ctx) => ctx.elicit({ message: '?', requestedSchema }))
    const done = await reply(server, await round(server, { name: 't' }), accept({}))
    expect(done.result?.resultType).toBe('complete')
  })

  it('has no endless reason', async () => {
    const schema = z.object({ name: z.string().refine(() => false, { error: 'x'.repeat(5000) }) })
    const server = serverOf((ctx) => ctx.elicit('?', schema))
    const again = await reply(server, await round(server, { name: 't' }), accept({ name: 'Ada' }))
    expect(messageIn(again)!.length).toBeLessThan(500)
  })

  it('keeps its reason where no answer comes, and another question gets its own [ask.reason]', async () => {
    const server = serverOf((ctx) => Promise.all([ctx.elicit('Who?', form), ctx.listRoots()]))
    const second = await reply(server, await round(server, { name: 't' }), accept({}), { roots: [] })
    const third = await reply(server, second)
    expect(messageIn(second)).toContain('name: ')
    expect(askedIn(third)).toEqual(askedIn(second))
    expect(askedIn(third)).toHaveLength(1)
  })

  it('sampling and roots have no message, and are asked as they were', async () => {
    const server = serverOf((ctx) => ctx.listRoots())
    const first = await round(server, { name: 't' })
    expect(askedIn(await reply(server, first, { roots: [{}] }))).toEqual(askedIn(first))
  })
})

describe('after three answers that do not fit', () => {
  const stubborn = async (server: ReturnType<typeof serverOf>, times: number) => {
    let answer = await round(server, { name: 't' })
    for (let time = 0; time < times; time++) answer = await reply(server, answer, accept({}))
    return answer
  }

  it('the tool gets a typed error that names question, field and expectation [ask.invalid]', async () => {
    let caught: unknown
    const server = serverOf((ctx) =>
      ctx.elicit('Who?', form).catch((error: unknown) => {
        caught = error
        return 'gave up'
      }),
    )
    expect((await stubborn(server, 2)).result?.resultType).toBe('input_required')
    expect(caught).toBeUndefined()
    expect(textOf(await stubborn(server, 3))).toBe('gave up')
    expect(caught).toBeInstanceOf(QuestionError)
    expect(caught).toMatchObject({
      code: 'INVALID_ANSWERS',
      message: expect.stringMatching(/3 times.*"Who\?".*name: /s),
    })
  })

  it('the same in every later round, so that the tool may go on otherwise', async () => {
    const errors: unknown[] = []
    const server = serverOf(async (ctx) => {
      await ctx.elicit('Who?', form).catch((error: Error) => errors.push(error.message))
      return (await ctx.elicit('Go on?', z.object({}))).action
    })
    const asked = await stubborn(server, 3)
    expect(messageIn(asked)).toBe('Go on?')
    expect(textOf(await reply(server, asked, accept({})))).toBe('accept')
    expect(errors).toHaveLength(2)
    expect(errors[0]).toBe(errors[1])
  })

  it('a fourth that fits → comes too late, so that every round is the same', async () => {
    const errors: unknown[] = []
    const server = serverOf(async (ctx) => {
      await ctx.elicit('Who?', form).catch((error: Error) => errors.push(error.message))
      return (await ctx.elicit('Go on?', z.object({}))).action
    })
    const { key } = askedIn(await round(server, { name: 't' }))[0]!
    const asked = await stubborn(server, 3)
    const inputResponses = { [key]: accept({ name: 'Ada', age: 1 }) }
    await round(server, { name: 't', inputResponses, requestState: asked.result?.requestState })
    expect(errors).toHaveLength(2)
  })

  it('asked anew by the tool → it is a new question', async () => {
    const server = serverOf((ctx) => ctx.elicit('Who?', form).catch(() => ctx.elicit('Who?', form)))
    const asked = await stubborn(server, 3)
    expect(messageIn(asked)).toBe('Who?')
    const done = await reply(server, asked, accept({ name: 'Ada', age: 1 }))
    expect(done.result?.structuredContent).toEqual(accept({ name: 'Ada', age: 1 }))
  })

  it('not caught → the result of the tool says it; a prompt fails without the text', async () => {
    const server = serverOf((ctx) => ctx.elicit('Who?', form), {
      prompts: { p: createPrompt({ get: (_args, ctx) => ctx.elicit('Who?', form) as never }) },
      onError: () => {},
    })
    const answer = await stubborn(server, 3)
    expect(answer.result?.isError).toBe(true)
    expect(textOf(answer)).toContain('Who?')
    const prompt = await converse(server, { name: 'p' }, () => accept({}), {}, 'prompts/get')
    expect([prompt.answer.error?.code, prompt.rounds]).toEqual([-32603, 4])
  })

  it('with others beside it → each is counted for itself', async () => {
    const server = serverOf((ctx) =>
      Promise.all([ctx.elicit('Who?', form), ctx.elicit('And who?', form)]).catch(
        (error: Error) => error.message,
      ),
    )
    let answer = await round(server, { name: 't' })
    answer = await reply(server, answer, accept({}), accept({}))
    answer = await reply(server, answer, accept({}), accept({ name: 'Ada', age: 1 }))
    expect(askedIn(answer)).toHaveLength(1)
    expect(textOf(await reply(server, answer, accept({})))).toContain('"Who?"')
  })

  it('without a secret → nothing is counted, and the reason is there all the same', async () => {
    const server = serverOf((ctx) => ctx.elicit('Who?', form), { secret: undefined })
    const answer = await stubborn(server, 5)
    expect(answer.result).not.toHaveProperty('requestState')
    expect(messageIn(answer)).toContain('name: ')
  })
})

describe('a validator', () => {
  const schemaOf = (validate: () => never | Promise<never>) => {
    const jsonSchema = () => ({ type: 'object', properties: { name: { type: 'string' } } })
    const standard = {
      version: 1,
      vendor: 'test',
      jsonSchema: { input: jsonSchema, output: jsonSchema },
      validate,
    }
    return { '~standard': standard } as unknown as Schema
  }

  it.each<[string, () => never | Promise<never>]>([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('that %s → an error of the tool, and no hang', async (_label, validate) => {
    const server = serverOf(
      (ctx) => Promise.allSettled([ctx.elicit('?', schemaOf(validate)), ctx.listRoots()]),
      { onError: () => {} },
    )
    const first = await round(server, { name: 't' })
    const answer = await reply(server, first, accept({ name: 'Ada' }), { roots: [] })
    expect(JSON.parse(textOf(answer)!)).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled' }])
  })

  it('that takes its time → is waited for, beside a question without an answer', async () => {
    const schema = z.object({
      name: z.string().refine(() => new Promise((resolve) => setTimeout(() => resolve(true), 5))),
    })
    const server = serverOf((ctx) => Promise.all([ctx.elicit('?', schema), ctx.listRoots()]))
    const first = await round(server, { name: 't' })
    const second = await reply(server, first, accept({ name: 'Ada' }))
    expect(askedIn(second).map(({ method }) => method)).toEqual(['roots/list'])
    expect((await reply(server, second, { roots: [] })).result?.resultType).toBe('complete')
  })

  it('of JSON Schema → says where and what', async () => {
    const schema = jsonSchema({
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    })
    const server = serverOf((ctx) => ctx.elicit('?', schema))
    const again = await reply(server, await round(server, { name: 't' }), accept({ name: 5 }))
    expect(messageIn(again)).toMatch(/not accepted: .*name/)
  })
})

describe('an answer that is huge', () => {
  const ask = async (ctx: McpContext) => {
    await ctx.elicit('Story?', z.object({ text: z.string() }), { key: 'story' })
    await ctx.elicit('Go on?', z.object({}))
  }

  it.each([
    ['and cannot be compressed', () => Array.from({ length: 2000 }, () => crypto.randomUUID()).join('')],
    ['and would compress to little', () => 'x'.repeat(1_100_000)],
  ])('%s → -32602 that names it [state.bounds]', async (_label, text) => {
    const server = serverOf(ask)
    const answer = await reply(server, await round(server, { name: 't' }), accept({ text: text() }))
    expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining('answer "story-') })
  })

  it('to nothing → is not remembered', async () => {
    const server = serverOf(ask)
    const [asked] = askedIn(await round(server, { name: 't' }))
    const inputResponses = { [asked!.key]: accept({ text: 'short' }), stranger: 'x'.repeat(1_100_000) }
    expect((await round(server, { name: 't', inputResponses })).result?.resultType).toBe('input_required')
  })
})
