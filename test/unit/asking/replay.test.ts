/** Asking modern clients: replay, steps, validation of answers. MCP 2026-07-28, "Multi Round-Trip Requests". */

import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createPrompt, createResource, createTool, type McpContext } from '../../../src/index.ts'
import { createTool as createMastraTool } from '../../../src/mastra.ts'
import { createServer, deferred, textOf } from '../_client.ts'
import { accept, askedIn, converse, round } from './_rounds.ts'

const secret = 'a-secret-of-the-tests-that-is-long-enough'
const name = z.object({ name: z.string() })

const serverOf = (execute: (ctx: McpContext) => unknown, config = {}) =>
  createServer({
    secret,
    tools: { t: createTool({ id: 't', execute: (_input, ctx) => execute(ctx) }) },
    ...config,
  })

describe('questions', () => {
  it('one question → input_required with what is asked, and no state [ask.question]', async () => {
    const server = serverOf((ctx) => ctx.elicit('Your name?', name))
    const answer = await round(server, { name: 't' })
    expect(answer.result).toMatchObject({ resultType: 'input_required' })
    expect(answer.result).not.toHaveProperty('requestState')
    expect(askedIn(answer)).toEqual([
      {
        key: expect.any(String),
        method: 'elicitation/create',
        params: {
          mode: 'form',
          message: 'Your name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        },
      },
    ])
  })

  it('its answer → the tool gets it, typed and validated', async () => {
    const server = serverOf((ctx) => ctx.elicit('Your name?', name))
    const { answer, rounds } = await converse(server, { name: 't' }, () => accept({ name: 'Ada' }))
    expect(rounds).toBe(2)
    expect(answer.result?.structuredContent).toEqual({ action: 'accept', content: { name: 'Ada' } })
  })

  it('side by side → asked in one round [ask.together]', async () => {
    const server = serverOf((ctx) =>
      Promise.all([ctx.elicit('a?', name), ctx.elicit('b?', name), ctx.listRoots()]),
    )
    const answer = await round(server, { name: 't' })
    expect(askedIn(answer).map(({ method }) => method)).toEqual([
      'elicitation/create',
      'elicitation/create',
      'roots/list',
    ])
  })

  it('one after the other → a round each, earlier answers coming back [ask.rounds]', async () => {
    const server = serverOf(async (ctx) => {
      const names: unknown[] = []
      for (let index = 0; index < 5; index++) names.push((await ctx.elicit(`${index}?`, name)) as unknown)
      return names.length
    })
    const { answer, rounds } = await converse(server, { name: 't' }, () => accept({ name: 'x' }))
    expect(rounds).toBe(6)
    expect(textOf(answer)).toBe('5')
  })

  it.each(['decline', 'cancel'])('%s → reaches the tool as it is [ask.refusals]', async (action) => {
    const server = serverOf((ctx) => ctx.elicit('Sure?', name))
    const { answer } = await converse(server, { name: 't' }, () => ({ action }))
    expect(answer.result?.structuredContent).toEqual({ action })
  })

  it.each([
    ['the wrong type', accept({ name: 5 })],
    ['no content', { action: 'accept' }],
    ['an unknown action', { action: 'maybe' }],
    ['no object', 42],
    ['null', null],
  ])('%s as an answer → asked again [ask.invalid]', async (_label, bad) => {
    const server = serverOf((ctx) => ctx.elicit('Your name?', name))
    const [asked] = askedIn(await round(server, { name: 't' }))
    const again = await round(server, { name: 't', inputResponses: { [asked!.key]: bad } })
    expect(again.result?.resultType).toBe('input_required')
    expect(askedIn(again)[0]!.key).toBe(asked!.key)
  })

  it('a missing answer, and one to nothing → the missing one is asked again, the other ignored [ask.invalid]', async () => {
    const server = serverOf((ctx) => ctx.elicit('Your name?', name))
    const answer = await round(server, { name: 't', inputResponses: { stranger: accept({ name: 'x' }) } })
    expect(askedIn(answer)).toHaveLength(1)
  })

  it('a question that changed → its old answer is dropped [ask.diverge]', async () => {
    let message = 'Before?'
    const server = serverOf((ctx) => ctx.elicit(message, name))
    const [asked] = askedIn(await round(server, { name: 't' }))
    message = 'After?'
    const again = await round(server, { name: 't', inputResponses: { [asked!.key]: accept({ name: 'x' }) } })
    expect(askedIn(again)[0]!.params.message).toBe('After?')
  })

  it('a key of its own → begins the name on the wire; twice → an error', async () => {
    const once = serverOf((ctx) => ctx.elicit('?', name, { key: 'user_name' }))
    expect(askedIn(await round(once, { name: 't' }))[0]!.key).toMatch(/^user_name-/)
    const twice = serverOf((ctx) =>
      Promise.all([ctx.elicit('a', name, { key: 'k' }), ctx.elicit('b', name, { key: 'k' })]),
    )
    expect((await round(twice, { name: 't' })).result?.isError).toBe(true)
  })

  it('prompts and resource reads ask too [ask.everywhere]', async () => {
    const ask = async (ctx: McpContext) => {
      const answer = await ctx.elicit('Which?', name)
      return answer.action === 'accept' ? answer.content.name : 'none'
    }
    const server = createServer({
      prompts: { p: createPrompt({ get: (_args, ctx) => ask(ctx) }) },
      resources: [createResource({ uri: 'a://b', read: (_request, ctx) => ask(ctx) })],
    })
    const respond = () => accept({ name: 'this' })
    const prompt = await converse(server, { name: 'p' }, respond, {}, 'prompts/get')
    expect(prompt.answer.result?.messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'this' } },
    ])
    const resource = await converse(server, { uri: 'a://b' }, respond, {}, 'resources/read')
    expect(resource.answer.result?.contents).toEqual([{ uri: 'a://b', text: 'this' }])
  })

  it('sampling and roots', async () => {
    const server = serverOf(async (ctx) => {
      const messages = [{ role: 'user' as const, content: { type: 'text', text: 'Hi' } }]
      const [said, roots] = await Promise.all([
        ctx.createMessage({ messages, maxTokens: 5 }),
        ctx.listRoots(),
      ])
      return { said: said.model, roots }
    })
    const { answer } = await converse(server, { name: 't' }, ({ method }) =>
      method === 'roots/list'
        ? { roots: [{ uri: 'file:///a' }] }
        : { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hello' } },
    )
    expect(answer.result?.structuredContent).toEqual({ said: 'm', roots: [{ uri: 'file:///a' }] })
  })

  it('under the name other frameworks use → the same', async () => {
    const requestedSchema = {
      type: 'object' as const,
      properties: { n: { type: 'integer' } },
      required: ['n'],
    }
    const tool = createMastraTool({
      id: 't',
      execute: (_input, ctx) => ctx.mcp.elicitation.sendRequest({ message: 'n?', requestedSchema }),
    })
    const server = createServer({ secret, tools: { t: tool } })
    const { answer } = await converse(server, { name: 't' }, () => accept({ n: 3 }))
    expect(answer.result?.structuredContent).toEqual({ action: 'accept', content: { n: 3 } })
  })
})

describe('a suspended call', () => {
  it('enters no catch and no finally, and aborts its signal with a reason [ask.silent]', async () => {
    const entered: string[] = []
    const aborted = deferred<unknown>()
    const server = serverOf(async (ctx) => {
      ctx.signal.addEventListener('abort', () => aborted.resolve(ctx.signal.reason))
      try {
        return await ctx.elicit('?', name)
      } catch {
        entered.push('catch')
      } finally {
        entered.push('finally')
      }
    })
    await round(server, { name: 't' })
    expect(String(await aborted.promise)).toContain('ask')
    expect(entered).toEqual([])
  })

  it('a client that cannot be asked → -32021 with HTTP 400, which no catch swallows [ask.capability]', async () => {
    const server = serverOf((ctx) => ctx.elicit('?', name).catch(() => 'swallowed'))
    const answer = await round(server, { name: 't' }, { capabilities: {} })
    expect(answer.status).toBe(400)
    expect(answer.error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    })
  })

  it('ctx.can → the tool finds another way', async () => {
    const server = serverOf((ctx) =>
      ctx.can('elicitation.form').available ? ctx.elicit('?', name) : 'another way',
    )
    expect(textOf(await round(server, { name: 't' }, { capabilities: {} }))).toBe('another way')
  })

  it('URL mode needs its own capability; an empty elicitation is form mode alone', async () => {
    const server = serverOf((ctx) => ctx.elicit('Sign in', 'https://example.com/'))
    expect((await round(server, { name: 't' }, { capabilities: { elicitation: {} } })).error?.code).toBe(
      -32021,
    )
    expect(askedIn(await round(server, { name: 't' }))[0]!.params).toEqual({
      mode: 'url',
      message: 'Sign in',
      url: 'https://example.com/',
    })
  })

  it('executeTool → says that there is nobody to ask', async () => {
    await expect(serverOf((ctx) => ctx.elicit('?', name)).executeTool('t', {})).rejects.toThrow('client')
  })
})

describe('steps', () => {
  it('run once, however many rounds the call takes [ask.step]', async () => {
    let ran = 0
    const server = serverOf(async (ctx) => {
      const value = await ctx.step('count', () => ++ran)
      await ctx.elicit('a?', name)
      await ctx.elicit('b?', name)
      return value
    })
    const { answer } = await converse(server, { name: 't' }, () => accept({ name: 'x' }))
    expect(textOf(answer)).toBe('1')
    expect(ran).toBe(1)
  })

  it.each(['constructor', 'toString', '__proto__'])(
    'one called %s → runs once, as any other',
    async (step) => {
      let ran = 0
      const server = serverOf(async (ctx) => {
        const value = await ctx.step(step, () => `run ${++ran}`)
        await ctx.elicit('?', name)
        return value
      })
      const { answer } = await converse(server, { name: 't' }, () => accept({ name: 'x' }))
      expect(textOf(answer)).toBe('run 1')
    },
  )

  it('one in flight while a question is asked → is waited for, and not run again', async () => {
    let ran = 0
    const slow = deferred()
    const server = serverOf((ctx) =>
      Promise.all([
        ctx.elicit('?', name),
        ctx.step('slow', async () => {
          ran++
          await slow.promise
          return 'done'
        }),
      ]).then(([, step]) => step),
    )
    setTimeout(() => slow.resolve(), 20)
    const { answer } = await converse(server, { name: 't' }, () => accept({ name: 'x' }))
    expect(textOf(answer)).toBe('done')
    expect(ran).toBe(1)
  })

  it('one that failed → throws the same in the next round, and does not run again [ask.step]', async () => {
    let ran = 0
    const seen: unknown[] = []
    class Declined extends Error {
      override readonly name = 'Declined'
      readonly code = 'card_declined'
    }
    const server = serverOf(async (ctx) => {
      await ctx
        .step('charge', () => {
          ran++
          throw new Declined('No money.', { cause: new RangeError('0 €') })
        })
        .catch((error: Error & { code?: string }) => {
          const { name, message, code, cause } = error
          seen.push([name, message, code, cause instanceof RangeError, error instanceof Declined])
        })
      await ctx.elicit('?', name)
      return ctx.step('other', () => 'other')
    })
    const { answer } = await converse(server, { name: 't' }, () => accept({ name: 'x' }))
    expect([textOf(answer), ran]).toEqual(['other', 1])
    const error = ['Declined', 'No money.', 'card_declined', true, false]
    expect(seen).toEqual([error, error])
  })

  it('a result → is what JSON makes of it, in the first round already', async () => {
    const server = serverOf((ctx) => ctx.step('date', () => new Date(0) as unknown))
    expect(textOf(await round(server, { name: 't' }))).toBe('1970-01-01T00:00:00.000Z')
  })

  it('two of one name → an error that says so', async () => {
    const server = serverOf(async (ctx) => [await ctx.step('x', () => 1), await ctx.step('x', () => 2)])
    const answer = await round(server, { name: 't' })
    expect(answer.result?.isError).toBe(true)
    expect(textOf(answer)).toContain('"x"')
  })
})

describe('without a secret', () => {
  const bare = { secret: undefined as never }

  it('a first question → works [ask.no-secret]', async () => {
    const server = createServer({
      tools: { t: createTool({ id: 't', execute: (_i, ctx) => ctx.elicit('?', name) }) },
    })
    const { rounds } = await converse(server, { name: 't' }, () => accept({ name: 'x' }))
    expect(rounds).toBe(2)
  })

  it('a question after a step → the instruction for the operator, and the step is not run twice [ask.no-secret]', async () => {
    let ran = 0
    const server = serverOf(async (ctx) => {
      await ctx.step('pay', () => ++ran)
      return ctx.elicit('?', name)
    }, bare)
    const answer = await round(server, { name: 't' })
    expect(answer.error?.code).toBe(-32603)
    expect(answer.error?.message).toContain('MAYFLY_SECRET')
    expect(ran).toBe(1)
  })

  it('MAYFLY_SECRET in the environment → is used', async () => {
    const server = serverOf(async (ctx) => {
      await ctx.step('x', () => 1)
      return ctx.elicit('?', name)
    }, bare)
    const answer = await round(server, { name: 't' }, { platform: { env: { MAYFLY_SECRET: secret } } })
    expect(answer.result?.requestState).toEqual(expect.any(String))
  })
})
