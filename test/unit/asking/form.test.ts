/** What a form may ask: MCP 2026-07-28, "Elicitation", "Requested Schema". */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createTool, jsonSchema, type Schema } from '../../../src/index.ts'
import { createServer, textOf } from '../_client.ts'
import { accept, askedIn, converse, round } from './_rounds.ts'

function serverOf(schema: Schema, options = {}) {
  return createServer({
    tools: { t: createTool({ id: 't', execute: (_input, ctx) => ctx.elicit('?', schema, options) }) },
  })
}

const requested = async (schema: Schema) =>
  (askedIn(await round(serverOf(schema), { name: 't' }))[0]!.params.requestedSchema as { properties: object })
    .properties

const refusal = async (schema: Schema, options = {}) => {
  const answer = await round(serverOf(schema, options), { name: 't' })
  return answer.result?.isError ? textOf(answer) : undefined
}

const field = (schema: object) => jsonSchema({ type: 'object', properties: { field: schema } })

describe('a form', () => {
  it('as zod users write it → is asked as the specification has it', async () => {
    expect(
      await requested(
        z.object({
          email: z.email(),
          site: z.url(),
          day: z.iso.date(),
          age: z.int().min(0).max(150),
          plan: z.enum(['free', 'paid']).default('free'),
          tags: z.array(z.enum(['a', 'b'])).max(2),
          agreed: z.boolean().describe('Do you agree?'),
        }),
      ),
    ).toMatchObject({
      email: { type: 'string', format: 'email' },
      site: { type: 'string', format: 'uri' },
      day: { type: 'string', format: 'date' },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      plan: { type: 'string', enum: ['free', 'paid'], default: 'free' },
      tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, maxItems: 2 },
      agreed: { type: 'boolean', description: 'Do you agree?' },
    })
  })

  it.each([
    ['choices', { type: 'string', enum: ['a'] }],
    ['titled choices', { type: 'string', oneOf: [{ const: 'a', title: 'A' }] }],
    ['choices with the old titles', { type: 'string', enum: ['a'], enumNames: ['A'] }],
    ['several choices', { type: 'array', items: { type: 'string', enum: ['a'] } }],
    ['several titled choices', { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }],
  ])('%s → may be asked', async (_label, schema) => {
    expect(await requested(field(schema))).toEqual({ field: schema })
  })

  it.each([
    ['an object', { type: 'object', properties: {} }],
    ['a list of text', { type: 'array', items: { type: 'string' } }],
    ['null', { type: 'null' }],
    ['no type', {}],
    ['a pattern', { type: 'string', pattern: '^a' }],
    ['an unknown format', { type: 'string', format: 'ipv4' }],
    ['an exclusive bound', { type: 'number', exclusiveMinimum: 0 }],
    ['choices that are numbers', { type: 'string', enum: [1] }],
    ['a union', { anyOf: [{ type: 'string' }] }],
  ])('%s in it → throws, naming the field [ask.form]', async (_label, schema) => {
    expect(await refusal(field(schema))).toContain('"field"')
  })

  it.each([
    ['a regex', z.string().regex(/^[A-Z]{3}$/), 'abc', 'ABC', { type: 'string' }],
    [
      'a format that forms have not',
      z.uuid(),
      'no',
      '7e3fbd4c-6a8b-4e0c-9f5e-0d9a5a0a9d11',
      { type: 'string' },
    ],
    ['an exclusive bound', z.number().positive(), 0, 0.5, { type: 'number' }],
    ['a step', z.number().multipleOf(5), 4, 10, { type: 'number' }],
  ])(
    '%s of a library → not shown, and the answer is validated by it',
    async (_label, schema, bad, good, shown) => {
      const form = z.object({ field: schema })
      expect(await requested(form)).toEqual({ field: shown })
      const answers = [bad, good]
      const { answer } = await converse(serverOf(form), { name: 't' }, () =>
        accept({ field: answers.shift() }),
      )
      expect(answers).toEqual([])
      expect(answer.result?.structuredContent).toEqual({ action: 'accept', content: { field: good } })
    },
  )

  it.each([
    'max_tokens',
    'maxTokens',
    'secretary',
    'passenger',
    'tokenizer',
    'pinned',
    'keyboard',
    'compass',
  ])('a field %s → is no secret', async (name) => {
    expect(await refusal(z.object({ [name]: z.string() }))).toBeUndefined()
  })

  it.each([
    'password',
    'apiKey',
    'APIKey',
    'api_key',
    'token',
    'accessTokens',
    'refresh-token',
    'userpassword',
    'passwordConfirmation',
    'password2',
    'clientSecret',
    'client secrets',
    'privateKey',
    'cardCvc',
    'PIN',
  ])('a field %s → throws, and names URL mode [ask.sensitive]', async (name) => {
    const schema = z.object({ [name]: z.string() })
    expect(await refusal(schema)).toContain('URL mode')
    expect(await refusal(schema, { notSecret: [name] })).toBeUndefined()
  })

  it('an answer → gets the defaults and transforms of its schema', async () => {
    const server = serverOf(z.object({ plan: z.enum(['free', 'paid']).default('free') }))
    const { answer } = await converse(server, { name: 't' }, () => accept({ unknown: 1 }))
    expect(answer.result?.structuredContent).toEqual({ action: 'accept', content: { plan: 'free' } })
  })

  it('a URL that is none, or not of the web → throws', async () => {
    const server = (url: string) =>
      createServer({ tools: { t: createTool({ id: 't', execute: (_input, ctx) => ctx.elicit('?', url) }) } })
    expect((await round(server('javascript:alert(1)'), { name: 't' })).result?.isError).toBe(true)
    expect((await round(server('no url'), { name: 't' })).result?.isError).toBe(true)
  })
})
