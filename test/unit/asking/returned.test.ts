/** Tools that return their questions (`input_required`) instead of waiting for them, as with the SDK v2. */

import { describe, expect, it } from 'vitest'
import { createTool, type SdkToolContext } from '../../../src/sdk-context.ts'
import { createServer, legacy, textOf } from '../_client.ts'
import { accept, askedIn, converse, round } from './_rounds.ts'
import { openSession } from './_session.ts'

const secret = 'a-secret-of-the-tests-that-is-long-enough'
const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const ask = (message: string) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema },
})
const visit = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Go', url: 'https://a.example/' },
}
const roots = { method: 'roots/list' }
const sampling = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1, tools: [] } }

const returns = (inputRequests: object | undefined, requestState?: string) => ({
  resultType: 'input_required' as const,
  ...(inputRequests !== undefined && { inputRequests }),
  ...(requestState !== undefined && { requestState }),
})

const serverOf = (execute: (ctx: SdkToolContext) => unknown, config = {}) =>
  createServer({
    secret,
    tools: { t: createTool({ id: 't', execute: (_input, ctx) => execute(ctx) }) },
    ...config,
  })

const greet = (ctx: SdkToolContext) => {
  const { name } = (ctx.mcpReq.inputResponses ?? {}) as { name?: { content?: { name: string } } }
  if (name === undefined) return returns({ name: ask('Your name?') }, 'asked')
  return `Hello ${name.content?.name} (${ctx.mcpReq.requestState()})`
}

describe('in a session', () => {
  it.each(['explain', 'arguments', 'rendezvous'] as const)(
    'under the policy %s → asked on the connection, and run again with the answers [ask.returned]',
    async (policy) => {
      const session = openSession(serverOf(greet, { legacy: policy }), () => accept({ name: 'Ada' }))
      expect(textOf((await session.call('tools/call', { name: 't' })) as never)).toBe('Hello Ada (asked)')
      expect(session.asked.map(({ params }) => params.message)).toEqual(['Your name?'])
    },
  )

  it('several at once → all asked', async () => {
    const execute = ({ mcpReq }: SdkToolContext) =>
      mcpReq.inputResponses === undefined
        ? returns({ name: ask('Your name?'), where: roots })
        : JSON.stringify(mcpReq.inputResponses)
    const session = openSession(serverOf(execute), ({ method }) =>
      method === 'roots/list' ? { roots: [] } : accept({ name: 'Ada' }),
    )
    expect(textOf((await session.call('tools/call', { name: 't' })) as never)).toBe(
      JSON.stringify({ name: accept({ name: 'Ada' }), where: { roots: [] } }),
    )
  })

  it('a client that cannot be asked → told why, typed', async () => {
    const session = openSession(serverOf(greet), () => accept({ name: 'Ada' }), {})
    const { result } = await session.call('tools/call', { name: 't' })
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'mayfly/degraded': { feature: 'elicitation.form' } },
    })
    expect(session.asked).toEqual([])
  })
})

describe('a state without a question', () => {
  const counts = (limit: number) => (ctx: SdkToolContext) => {
    const phase = Number(ctx.mcpReq.requestState() ?? 0)
    return phase < limit ? returns(undefined, String(phase + 1)) : `phase ${phase}`
  }

  it('modern → input_required without inputRequests, and the client calls again [ask.state-alone]', async () => {
    const server = serverOf(counts(2))
    const first = await round(server, { name: 't' })
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      requestState: expect.stringMatching(/^1\./),
    })
    expect(first.result).not.toHaveProperty('inputRequests')
    const { answer, rounds } = await converse(server, { name: 't' }, () => undefined)
    expect([textOf(answer), rounds]).toEqual(['phase 2', 3])
  })

  it('with an empty inputRequests → the same', async () => {
    const first = await round(
      serverOf(() => returns({}, 'x')),
      { name: 't' },
    )
    expect(first.result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    expect(first.result).not.toHaveProperty('inputRequests')
  })

  it('without a secret → says what to set', async () => {
    const answer = await round(serverOf(counts(1), { secret: undefined }), { name: 't' })
    expect(answer.error).toMatchObject({ code: -32603, message: expect.stringContaining('MAYFLY_SECRET') })
  })

  it.each(['explain', 'arguments', 'rendezvous'] as const)(
    'legacy, %s → the tool is run again in the same call [ask.state-alone]',
    async (policy) => {
      const server = serverOf(counts(5), { legacy: policy, secret: undefined })
      expect(textOf(await legacy(server, 'tools/call', { name: 't' }))).toBe('phase 5')
    },
  )

  it('legacy, again and again → an error, not a loop', async () => {
    let ran = 0
    const server = serverOf(() => {
      ran++
      return returns(undefined, 'again')
    })
    const answer = await legacy(server, 'tools/call', { name: 't' })
    expect(answer.result?.isError).toBe(true)
    expect(textOf(answer)).toMatch(/100 times.*return a result/)
    expect(ran).toBe(101)
  })

  it('neither a state nor a question → an error that says so', async () => {
    for (const output of [returns(undefined), returns({})]) {
      const answer = await round(
        serverOf(() => output),
        { name: 't' },
      )
      expect(answer.result?.isError).toBe(true)
      expect(textOf(answer)).toMatch(/needs an input request, a requestState, or both/)
    }
  })

  it('a state that is no text → an error that says so', async () => {
    const answer = await round(
      serverOf(() => returns({ roots }, 5 as never)),
      { name: 't' },
    )
    expect(textOf(answer)).toMatch(/requestState.*must be a string/)
  })
})

describe('capabilities that the client lacks', () => {
  it('all are named, also where they are parts of one [ask.capability]', async () => {
    const server = serverOf(() => returns({ a: ask('a?'), b: visit, c: roots, d: sampling }))
    const answer = await round(server, { name: 't' }, { capabilities: {} })
    expect(answer.status).toBe(400)
    expect(answer.error).toMatchObject({
      code: -32021,
      message: expect.stringContaining('elicitation (form, url), roots, sampling (tools)'),
      data: {
        requiredCapabilities: {
          elicitation: { form: {}, url: {} },
          roots: {},
          sampling: { tools: {} },
        },
      },
    })
  })

  it('the same where the tool waits for its questions [ask.capability]', async () => {
    const server = serverOf((ctx) =>
      Promise.all([
        ctx.elicit({ message: 'a?', requestedSchema: requestedSchema as never }),
        ctx.elicit('Go', 'https://a.example/'),
        ctx.mcpReq.requestSampling({ maxTokens: 1, messages: [] } as { maxTokens: number }),
        ctx.sendRequest({ method: 'roots/list' }),
      ]),
    )
    const answer = await round(server, { name: 't' }, { capabilities: { roots: {} } })
    expect(answer.error?.data).toEqual({
      requiredCapabilities: { elicitation: { form: {}, url: {} }, sampling: {} },
    })
  })

  it('those that it has are not', async () => {
    const server = serverOf(() => returns({ a: ask('a?'), b: visit }))
    const answer = await round(server, { name: 't' }, { capabilities: { elicitation: { form: {} } } })
    expect(answer.error?.data).toEqual({ requiredCapabilities: { elicitation: { url: {} } } })
  })
})

describe('returned questions', () => {
  it('of a tool that also waits for one → go out together, and the state comes back', async () => {
    const server = serverOf(async (ctx) => {
      if (ctx.mcpReq.requestState() === undefined) {
        void ctx.sendRequest({ method: 'roots/list' })
        return returns({ name: ask('Your name?') }, 'asked')
      }
      await ctx.elicit({ message: 'Sure?', requestedSchema: requestedSchema as never })
      return ctx.mcpReq.requestState()
    })
    const first = await round(server, { name: 't' })
    expect(
      askedIn(first)
        .map(({ method }) => method)
        .sort(),
    ).toEqual(['elicitation/create', 'roots/list'])
    const { answer } = await converse(server, { name: 't' }, ({ method }) =>
      method === 'roots/list' ? { roots: [] } : accept({ name: 'Ada' }),
    )
    expect(textOf(answer)).toBe('asked')
  })

  it('that nobody could ask → an error of the tool', async () => {
    const answer = await round(
      serverOf(() => returns({ a: { method: 'ping' } })),
      { name: 't' },
    )
    expect(answer.error).toMatchObject({ code: -32603, data: { feature: 'sessions' } })
  })
})
