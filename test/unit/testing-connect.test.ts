/** `connect` of `mayfly-mcp/testing`: the official client on a server in the same process. */

import { McpServer } from '@modelcontextprotocol/server'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createSessions } from '../../adapters/node.ts'
import { bearer, createGate, jwt, staticTokens } from '../../src/auth.ts'
import { createMemoryBus, createMemoryRendezvous, createTool, MCPServer } from '../../src/index.ts'
import { oauth } from '../../src/mastra.ts'
import { fromSdk } from '../../src/sdk.ts'
import {
  type Answers,
  accept,
  acceptWithDefaults,
  connect,
  decline,
  type Question,
} from '../../src/testing.ts'
import { eventually } from '../_eventually.ts'

const SECRET = 'a-secret-of-the-tests-0123456789'

const order = createTool({
  id: 'order',
  description: 'Orders apples',
  execute: async (_input, ctx) => {
    const first = await ctx.elicit('How many?', z.object({ count: z.number().min(1) }))
    if (first.action !== 'accept') return 'Nothing ordered'
    const second = await ctx.elicit('Which?', z.object({ kind: z.string().default('green') }))
    return second.action === 'accept' ? `${first.content.count} ${second.content.kind}` : 'None of them'
  },
})
const who = createTool({
  id: 'who',
  description: 'Tells who calls',
  execute: (_input, ctx) => ctx.auth ?? null,
})

const create = (more: object = {}): MCPServer =>
  new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', log: false, tools: { order, who }, ...more })

const env = { MAYFLY_SECRET: SECRET }
const call = { name: 'order' }
const said = (text: string) => ({ content: [{ type: 'text', text }] })

describe('both eras', () => {
  it.each(['modern', 'legacy'] as const)('%s: lists, calls, and closes', async (era) => {
    await using client = await connect(create(), { era })

    expect(client.getNegotiatedProtocolVersion()).toBe(era === 'modern' ? '2026-07-28' : '2025-11-25')
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['order', 'who'])
  })

  it.each(['modern', 'legacy'] as const)('%s: a server of the official SDK', async (era) => {
    const server = fromSdk(() => {
      const sdk = new McpServer({ name: 'sdk', version: '1.0.0' })
      sdk.registerTool('hello', {}, () => ({ content: [{ type: 'text', text: 'Hello' }] }))
      return sdk
    })
    await using client = await connect(server, { era })

    expect(await client.callTool({ name: 'hello' })).toMatchObject(said('Hello'))
  })

  it('an app around a server', async () => {
    const server = create()
    await using client = await connect({ fetch: (request, e, ctx) => server.fetch(request, e, ctx) })

    expect((await client.listTools()).tools).toHaveLength(2)
  })
})

describe('answers', () => {
  it('a list: one after another, over several rounds', async () => {
    const answers = [accept({ count: 2 }), accept({ kind: 'red' })]
    await using client = await connect(create(), { answers, env })

    expect(await client.callTool(call)).toMatchObject(said('2 red'))
  })

  it('one answer: for each question', async () => {
    await using client = await connect(create(), { answers: decline() })

    expect(await client.callTool(call)).toMatchObject(said('Nothing ordered'))
    expect(await client.callTool(call)).toMatchObject(said('Nothing ordered'))
  })

  it('a function: is given the question', async () => {
    const asked: string[] = []
    const answers = ({ message, requestedSchema }: Question) => {
      asked.push(message)
      return acceptWithDefaults(requestedSchema!, message === 'How many?' ? { count: 3 } : {})
    }
    await using client = await connect(create(), { answers, env })

    expect(await client.callTool(call)).toMatchObject(said('3 green'))
    expect(asked).toEqual(['How many?', 'Which?'])
  })

  it('legacy, with a rendezvous: the question arrives on the stream of the call', async () => {
    const server = create({ legacy: 'rendezvous', rendezvous: createMemoryRendezvous() })
    const answers = [accept({ count: 2 }), accept({ kind: 'red' })]
    await using client = await connect(server, { era: 'legacy', answers, env })

    expect(await client.callTool(call)).toMatchObject(said('2 red'))
  })

  it('none left → NO_ANSWER, naming the question', async () => {
    await using client = await connect(create(), { answers: [accept({ count: 2 })], env })

    await expect(client.callTool(call)).rejects.toMatchObject({
      code: 'NO_ANSWER',
      message: 'The server asked "Which?", but no answer is left: "answers" has 1.',
    })
  })

  it('one that does not fit → INVALID_ANSWER, naming the field', async () => {
    await using client = await connect(create(), { answers: accept({ count: 0 }) })

    await expect(client.callTool(call)).rejects.toMatchObject({
      code: 'INVALID_ANSWER',
      message: expect.stringContaining('"count" must be at least 1'),
    })
  })

  it.each<[what: string, schema: z.ZodObject, wrong: string]>([
    ['a wrong format', z.object({ text: z.email() }), 'nobody'],
    ['a rule of the schema library', z.object({ text: z.string().refine((text) => text === 'yes') }), 'no'],
  ])('one that only the server can refuse, for %s → INVALID_ANSWER when it asks again', async (...row) => {
    const [, schema, text] = row
    let runs = 0
    const mail = createTool({
      id: 'mail',
      execute: async (_input, ctx) => {
        runs++
        return (await ctx.elicit('Where to?', schema)).action
      },
    })
    await using client = await connect(create({ tools: { mail } }), { answers: accept({ text }) })

    await expect(client.callTool({ name: 'mail' })).rejects.toMatchObject({
      code: 'INVALID_ANSWER',
      message: expect.stringMatching(/^The server did not accept the answer to "Where to\?": text.*Invalid/),
    })
    expect(runs).toBe(2)
  })

  it('none left, for the second time: with the same number', async () => {
    await using client = await connect(create(), { answers: [] })

    for (let n = 0; n < 3; n++)
      await expect(client.callTool(call)).rejects.toThrow('no answer is left: "answers" has 0.')
  })

  it.each<[answers: unknown]>([
    [{ count: 2 }],
    [[accept(), { count: 2 }]],
    [[null]],
    [{ action: 'accepted' }],
    ['accept'],
    [7],
    [null],
  ])('%j is no answer → TypeError that names accept', async (answers) => {
    await expect(connect(create(), { answers: answers as Answers })).rejects.toThrow(
      expect.objectContaining({ name: 'TypeError', message: expect.stringContaining('accept({ … })') }),
    )
  })

  it('without answers, the client declares no elicitation', async () => {
    await using client = await connect(create())

    await expect(client.callTool(call)).rejects.toMatchObject({ code: -32021 })
  })
})

describe('capabilities', () => {
  it('are what the tool sees, and a handler answers what they promise', async () => {
    const roots = createTool({ id: 'roots', execute: async (_input, ctx) => (await ctx.listRoots()).length })
    await using client = await connect(create({ tools: { roots } }), { capabilities: { roots: {} } })
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home' }] }))

    expect(await client.callTool({ name: 'roots' })).toMatchObject(said('1'))
  })
})

describe('auth', () => {
  const auth = staticTokens([{ token: 'a-token-of-the-tests-0123456789', clientId: 'ada' }])

  it('a token is checked by the server', async () => {
    await using client = await connect(create({ auth }), { auth: 'a-token-of-the-tests-0123456789' })

    expect((await client.callTool({ name: 'who' })).structuredContent).toMatchObject({ clientId: 'ada' })
  })

  it.each([undefined, 'another-token-of-the-tests-01234'])(
    '%s → the error of the official client',
    async (token) => {
      await expect(connect(create({ auth }), token === undefined ? {} : { auth: token })).rejects.toThrow(
        /401|[Uu]nauthorized/,
      )
    },
  )

  it('the caller itself: the verifier is not called, scopes of tools hold', async () => {
    const buy = createTool({ id: 'buy', scopes: ['write'], execute: () => 'bought' })
    const server = create({
      auth: jwt({ issuer: 'https://nowhere.example', audience: 'x' }),
      tools: { who, buy },
    })
    const caller = { token: 't', clientId: 'ada', scopes: ['read'], extra: { plan: 'free' } }
    await using client = await connect(server, { auth: caller })

    expect((await client.callTool({ name: 'who' })).structuredContent).toMatchObject(caller)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['who'])
  })
})

describe('the caller itself, with auth of the server', () => {
  const verify = vi.fn()
  const auth = bearer(verify, { scopes: ['use'] })
  const caller = { token: 't', clientId: 'ada', scopes: ['use'] }
  const future = Math.floor(Date.now() / 1000) + 600

  it.each<[what: string, more: object, refusal: RegExp]>([
    ['without a scope of the server', { scopes: ['other'] }, /Insufficient scope: required "use"/],
    ['that has expired', { expiresAt: 1 }, /401|[Uu]nauthorized/],
  ])('one %s is refused, as by the verifier', async (_what, more, refusal) => {
    await expect(connect(create({ auth }), { auth: { ...caller, ...more } })).rejects.toThrow(refusal)
    expect(verify).not.toHaveBeenCalled()
  })

  it('one with both is admitted, in sessions too, and oauth checks the same', async () => {
    const oauthed = oauth({
      resource: 'https://a.example/mcp',
      authorizationServers: [],
      validateToken: verify,
    })
    for (const own of [auth, oauthed]) {
      const sessions = createSessions(create({ auth: own }))
      await using client = await connect(sessions, { era: 'legacy', auth: { ...caller, expiresAt: future } })
      expect((await client.callTool({ name: 'who' })).structuredContent).toMatchObject(caller)
      await expect(connect(sessions, { era: 'legacy', auth: { ...caller, expiresAt: 1 } })).rejects.toThrow()
    }
    expect(verify).not.toHaveBeenCalled()
  })

  it('auth that only has `admit`: the caller is not verified, but refused once it has expired', async () => {
    const { admitCaller: _, ...custom } = createGate({ authorizationServers: [], verify })
    await using client = await connect(create({ auth: custom }), { auth: caller })

    expect((await client.callTool({ name: 'who' })).structuredContent).toMatchObject(caller)
    await expect(connect(create({ auth: custom }), { auth: { ...caller, expiresAt: 1 } })).rejects.toThrow()
  })

  it('without auth of the server, one that has expired is refused', async () => {
    await expect(connect(create(), { auth: { ...caller, expiresAt: 1 } })).rejects.toThrow(
      /401|[Uu]nauthorized/,
    )
  })
})

describe('auth that names no caller', () => {
  it.each([{}, [], null, 7, { clientId: 'ada', scopes: 7 }])(
    '%j → TypeError that shows one',
    async (auth) => {
      await expect(connect(create(), { auth: auth as never })).rejects.toThrow(
        expect.objectContaining({
          name: 'TypeError',
          message: expect.stringMatching(/^"auth" of connect .*clientId/),
        }),
      )
    },
  )
})

describe('notifications', () => {
  it('of progress and of changes arrive', async () => {
    const work = createTool({
      id: 'work',
      execute: (_input, ctx) => {
        ctx.reportProgress({ progress: 1, total: 1 })
        return 'done'
      },
    })
    const server = create({ tools: { work }, bus: createMemoryBus() })
    await using client = await connect(server)
    const seen: unknown[] = []
    client.setNotificationHandler('notifications/tools/list_changed', () => void seen.push('tools'))
    await client.listen({ toolsListChanged: true })
    await server.tools.notifyListChanged()
    await client.callTool({ name: 'work' }, { onprogress: ({ progress }) => void seen.push(progress) })

    await eventually(() => expect(seen.sort()).toEqual([1, 'tools']))
  })
})

describe('close', () => {
  it('ends open streams, and waits for what the tool left running', async () => {
    const order: string[] = []
    let end = (): void => {}
    const left = new Promise<void>((resolve) => {
      end = resolve
    })
    const later = createTool({
      id: 'later',
      execute: (_input, ctx) => {
        ctx.waitUntil(left.then(() => order.push('left work')))
        return 'soon'
      },
    })
    const waiting = createTool({
      id: 'waiting',
      execute: (_input, ctx) =>
        new Promise<string>((resolve) => {
          ctx.signal.addEventListener('abort', () => {
            end()
            resolve('ended')
          })
          order.push('waiting')
        }),
    })
    const client = await connect(create({ tools: { later, waiting } }))
    await client.callTool({ name: 'later' })
    const open = client.callTool({ name: 'waiting' }).catch((error: Error) => error)
    await eventually(() => expect(order).toEqual(['waiting']))

    await client.close()

    expect(await open).toBeInstanceOf(Error)
    expect(order).toEqual(['waiting', 'left work'])
    await client.close()
  })

  it('ends the session, so that the next client finds a place', async () => {
    const closed = vi.fn()
    const sessions = createSessions(create(), { maxSessions: 1, onsessionclosed: closed })
    for (let n = 1; n <= 3; n++) {
      const client = await connect(sessions, { era: 'legacy', answers: accept({ count: 2 }) })
      await client.listTools()
      await client.close()

      expect(closed).toHaveBeenCalledTimes(n)
    }
    await sessions.close()
  })

  it.each<[what: string, options: object]>([
    ['a misspelt option', { Auth: { clientId: 'x', scopes: [] } }],
    ['no caller', { auth: null }],
    ['a version in place of an era', { era: '2025-11-25' }],
    ['a token and a header for one', { auth: 'token', headers: { Authorization: 'Bearer other' } }],
  ])('%s → TypeError', async (_what, options) => {
    await expect(connect(create({}), options)).rejects.toThrow(TypeError)
  })
})
