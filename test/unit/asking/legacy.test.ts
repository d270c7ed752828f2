/** Asking legacy clients: by continuation, in a session, and what prompts and resource reads get instead. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createPrompt, createResource, createTool, type McpContext } from '../../../src/index.ts'
import { createServer, deferred, initialize, legacy, textOf } from '../_client.ts'
import { accept, askedIn, round } from './_rounds.ts'
import { openSession } from './_session.ts'

const secret = 'a-secret-of-the-tests-that-is-long-enough'
const form = z.object({ name: z.string() })

const whoIs = async (ctx: McpContext) => {
  const answer = await ctx.elicit('Which?', form)
  return answer.action === 'accept' ? answer.content.name : answer.action
}

const serverOf = (config = {}) =>
  createServer({
    secret,
    legacy: 'arguments',
    tools: {
      t: createTool({
        id: 't',
        inputSchema: z.object({ a: z.string().optional() }),
        execute: (_i, ctx) => whoIs(ctx),
      }),
    },
    prompts: { p: createPrompt({ get: (_args, ctx) => whoIs(ctx) }) },
    resources: [createResource({ uri: 'a://b', read: (_request, ctx) => whoIs(ctx) })],
    ...config,
  })

interface Continuation {
  token: string
  questions: { key: string; message: string }[]
}
const continuationIn = (answer: { result?: Record<string, unknown> | undefined }) =>
  (answer.result!._meta as Record<string, unknown>)['mayfly/continue'] as Continuation

async function headersOf(server: ReturnType<typeof serverOf>) {
  const { headers } = await initialize(server, { capabilities: { elicitation: {} } })
  return { 'mcp-session-id': headers.get('mcp-session-id')! }
}

describe('legacy: arguments', () => {
  it.each<[string, object]>([
    ['no arguments', {}],
    ['empty ones', { arguments: {} }],
    ['some', { arguments: { a: 'b' } }],
  ])('%s → the call can be continued [legacy.arguments]', async (_label, params) => {
    const server = serverOf()
    const { token, questions } = continuationIn(await legacy(server, 'tools/call', { name: 't', ...params }))
    const answers = { [questions[0]!.key]: accept({ name: 'Ada' }) }
    const args = (params as { arguments?: object }).arguments
    const again = { name: 't', arguments: { ...args, _continue: { token, answers } } }
    expect(textOf(await legacy(server, 'tools/call', again))).toBe('Ada')
  })

  it('a continuation → opens in its own era alone [state.bounds]', async () => {
    const refused: unknown[] = []
    const server = serverOf({
      onError: (_error: unknown, facts: { refused?: unknown }) => refused.push(facts.refused),
    })
    const { token } = continuationIn(await legacy(server, 'tools/call', { name: 't' }))
    const answer = await round(server, { name: 't', requestState: token })
    expect(answer.error?.code).toBe(-32602)
    expect(refused).toEqual(['it was made for another era'])
  })

  it.each([
    ['prompts/get', { name: 'p' }],
    ['resources/read', { uri: 'a://b' }],
  ])(
    '%s → cannot be continued: an error that says what to do, and ctx.can says so before [legacy.explain]',
    async (method, params) => {
      const server = serverOf()
      const { error, result } = await legacy(server, method, params)
      expect(result).toBeUndefined()
      expect(error).toMatchObject({
        code: -32603,
        data: { feature: 'elicitation.form', reason: expect.any(String), remedy: expect.any(String) },
      })
      const can = createServer({
        secret,
        legacy: 'arguments',
        tools: {
          c: createTool({ id: 'c', execute: (_i, ctx) => String(ctx.can('elicitation.form').available) }),
        },
        prompts: { p: createPrompt({ get: (_args, ctx) => String(ctx.can('elicitation.form').available) }) },
        resources: [
          createResource({ uri: 'a://b', read: (_r, ctx) => String(ctx.can('elicitation.form').available) }),
        ],
      })
      expect(textOf(await legacy(can, 'tools/call', { name: 'c' }))).toBe('true')
      expect(JSON.stringify((await legacy(can, method, params)).result)).toContain('"text":"false"')
    },
  )

  it('an answer that does not fit → the question again, with the reason; after three an error', async () => {
    const server = serverOf()
    let params: object = { name: 't' }
    for (const _attempt of [1, 2, 3]) {
      const { token, questions } = continuationIn(await legacy(server, 'tools/call', { ...params }))
      if (_attempt > 1) expect(questions[0]!.message).toMatch(/^Which\?\n\n.*name/s)
      const answers = { [questions[0]!.key]: accept({ name: 5 }) }
      params = { name: 't', arguments: { _continue: { token, answers } } }
    }
    const answer = await legacy(server, 'tools/call', { ...params })
    expect(answer.result?.isError).toBe(true)
    expect(textOf(answer)).toMatch(/3 times.*Which\?.*name/s)
  })
})

describe('in a session', () => {
  it('a client that cannot be asked → the explanation, under the policy arguments too', async () => {
    const session = openSession(serverOf(), () => undefined, {})
    const answer = await session.call('tools/call', { name: 't' })
    expect(answer.result).toMatchObject({
      isError: true,
      _meta: { 'mayfly/degraded': { feature: 'elicitation.form' } },
    })
    expect(session.asked).toEqual([])
  })

  it('prompts and resource reads ask as tools do', async () => {
    const session = openSession(serverOf(), () => accept({ name: 'Ada' }))
    const prompt = await session.call('prompts/get', { name: 'p' })
    expect(prompt.result?.messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Ada' } }])
    const resource = await session.call('resources/read', { uri: 'a://b' })
    expect(resource.result?.contents).toEqual([{ uri: 'a://b', text: 'Ada' }])
  })

  it('an answer that does not fit → the question again, with the reason, and the next answer counts', async () => {
    const given = [accept({ name: 5 }), { action: 'perhaps' }, accept({ name: 'Ada' })]
    const session = openSession(serverOf(), () => given.shift())
    expect(textOf((await session.call('tools/call', { name: 't' })) as never)).toBe('Ada')
    expect(session.asked.map(({ params }) => params.message)).toEqual([
      'Which?',
      expect.stringMatching(/^Which\?\n\nThe last answer was not accepted: name: .*string/),
      expect.stringMatching(/^Which\?\n\nThe last answer was not accepted: action: /),
    ])
  })

  it('three that do not fit → a typed error, which the tool can catch [ask.invalid]', async () => {
    let caught: unknown
    const t = createTool({
      id: 't',
      execute: (_input, ctx) =>
        whoIs(ctx).catch((error: unknown) => {
          caught = error
          return 'gave up'
        }),
    })
    const session = openSession(serverOf({ tools: { t } }), () => accept({ name: 5 }))
    expect(textOf((await session.call('tools/call', { name: 't' })) as never)).toBe('gave up')
    expect(session.asked).toHaveLength(3)
    expect(caught).toMatchObject({ name: 'QuestionError', code: 'INVALID_ANSWERS' })
  })

  it('an error instead of an answer → explained at once, and not asked again', async () => {
    const session = openSession(serverOf(), () => undefined)
    const { result } = await session.call('tools/call', { name: 't' })
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'mayfly/degraded': { feature: 'elicitation.form' } },
    })
    expect(session.asked).toHaveLength(1)
  })

  it('a call that is cancelled while its user thinks → the tool cleans up', async () => {
    const ended = deferred<unknown>()
    const asked = deferred()
    const t = createTool({
      id: 't',
      execute: async (_input, ctx) => {
        try {
          return await whoIs(ctx)
        } catch (error) {
          ended.resolve(error)
          throw error
        }
      },
    })
    const cancelled = new AbortController()
    const session = openSession(serverOf({ tools: { t } }), () => {
      asked.resolve()
      return new Promise(() => {})
    })
    void session.call('tools/call', { name: 't' }, cancelled.signal).catch(() => {})
    await asked.promise
    cancelled.abort()
    expect(String(await ended.promise)).toContain('AbortError')
  })

  it('a step that begins after its call was explained → does not run', async () => {
    let ran = 0
    const begun = deferred()
    const t = createTool({
      id: 't',
      execute: (_input, ctx) => {
        ctx.signal.addEventListener('abort', () => {
          void ctx.step('pay', () => ++ran)
          begun.resolve()
        })
        return ctx.elicit('?', form)
      },
    })
    const { result } = await openSession(serverOf({ tools: { t } }), () => undefined, {}).call('tools/call', {
      name: 't',
    })
    expect(result?.isError).toBe(true)
    await begun.promise
    expect(ran).toBe(0)
  })
})

describe('ctx.can', () => {
  it('cancellation: not for legacy clients without a session, whose cancel reaches no call [can.cancellation]', async () => {
    const can = createTool({ id: 'can', execute: (_i, ctx) => JSON.stringify(ctx.can('cancellation')) })
    const server = createServer({ tools: { can } })
    const { available, reason, remedy } = JSON.parse(
      textOf(await legacy(server, 'tools/call', { name: 'can' }))!,
    )
    expect({ available, reason, remedy }).toEqual({
      available: false,
      reason: expect.stringContaining('cancel'),
      remedy: expect.stringContaining('2026-07-28'),
    })
    expect(textOf(await round(server, { name: 'can' }))).toBe('{"available":true}')
    const session = openSession(server, () => undefined)
    expect(textOf((await session.call('tools/call', { name: 'can' })) as never)).toBe('{"available":true}')
  })
})

it('headers of a session token, and what is asked with them → the policy arguments needs no capability', async () => {
  const server = serverOf()
  const answer = await legacy(server, 'tools/call', { name: 't' }, { headers: await headersOf(server) })
  expect(continuationIn(answer).questions).toHaveLength(1)
  expect(askedIn(answer)).toEqual([])
})
