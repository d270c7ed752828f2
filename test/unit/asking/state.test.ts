/** Sealed state: what is refused, and how little the client learns of why. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { bearer } from '../../../src/auth.ts'
import type { MCPServerConfig } from '../../../src/index.ts'
import { createSeal as createSealFor } from '../../../src/interaction/seal.ts'
import { createTool, type SdkToolContext } from '../../../src/sdk-context.ts'
import { CLIENT, callTool, createServer, legacy, modern } from '../_client.ts'
import { accept, askedIn, round } from './_rounds.ts'

const createSeal = (secrets: readonly string[], id: string, stage?: string) =>
  createSealFor(secrets, id, () => stage)

const SECRET = 'a-secret-of-the-tests-that-is-long-enough'
const OTHER = 'another-secret-of-the-tests-long-enough'

const inputSchema = z.object({ order: z.string().optional() })
const asks = async (_input: unknown, ctx: SdkToolContext) => {
  await ctx.step('load', () => 'loaded')
  return ctx.elicit('?', z.object({ ok: z.boolean() }))
}
const tools = {
  a: createTool({ id: 'a', inputSchema, execute: asks }),
  b: createTool({ id: 'b', inputSchema, execute: asks }),
}

function serverOf(config: Partial<MCPServerConfig> = {}) {
  const reasons: unknown[] = []
  const server = createServer({
    secret: SECRET,
    tools,
    onError: (_error, { refused }) => reasons.push(refused),
    ...config,
  })
  return { server, reasons }
}

async function stateOf(server: ReturnType<typeof serverOf>['server'], params: object = { name: 'a' }) {
  const answer = await round(server, { ...params })
  const inputResponses = Object.fromEntries(askedIn(answer).map(({ key }) => [key, accept({ ok: true })]))
  return { requestState: answer.result?.requestState as string, inputResponses }
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('a state', () => {
  it('that comes back as it left → opens', async () => {
    const { server } = serverOf()
    const { result } = await round(server, { name: 'a', ...(await stateOf(server)) })
    expect(result).toMatchObject({ resultType: 'complete' })
  })

  it.each<[string, (state: string) => object]>([
    [
      'tampered with',
      (state) => ({
        requestState: `${state.slice(0, -2)}${state.at(-2) === 'A' ? 'B' : 'A'}${state.at(-1)}`,
      }),
    ],
    ['truncated', (state) => ({ requestState: state.slice(0, 20) })],
    ['of no form', () => ({ requestState: 'nonsense' })],
    ['for another tool', (requestState) => ({ name: 'b', requestState })],
    ['for other arguments', (requestState) => ({ arguments: { order: '2' }, requestState })],
    ['far too long', () => ({ requestState: `1.${'A'.repeat(40_000)}` })],
  ])('%s → the one refusal there is, and the reason in the log [state.refused]', async (_label, change) => {
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const { server, reasons } = serverOf()
    const { requestState } = await stateOf(server)
    const answer = await round(server, { name: 'a', ...change(requestState) })
    expect(answer.error).toEqual({
      code: -32602,
      message: 'Invalid params: "requestState" is not valid here. Send the request again without it.',
    })
    expect(reasons).toEqual([expect.any(String)])
  })

  it('of another deployment, or another server → refused', async () => {
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const { requestState } = await stateOf(serverOf().server)
    for (const config of [{ secret: OTHER }, { id: 'other' }]) {
      expect((await round(serverOf(config).server, { name: 'a', requestState })).error?.code).toBe(-32602)
    }
  })

  it('past its time → refused [state.bounds]', async () => {
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const { server, reasons } = serverOf({ stateTtlMs: 60_000 })
    const state = await stateOf(server)
    vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ['Date'] })
    expect((await round(server, { name: 'a', ...state })).error?.code).toBe(-32602)
    expect(reasons).toEqual(['it has expired'])
  })

  it('after a rotation → the old secret still opens, the new one seals [state.rotation]', async () => {
    const old = await stateOf(serverOf().server)
    const rotated = serverOf({ secret: [OTHER, SECRET] }).server
    expect((await round(rotated, { name: 'a', ...old })).result?.resultType).toBe('complete')
    const fresh = await stateOf(rotated)
    expect(
      (await round(serverOf({ secret: OTHER }).server, { name: 'a', ...fresh })).result?.resultType,
    ).toBe('complete')
  })

  it('with a single-use store → opens once [state.bounds]', async () => {
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const seen = new Set<string>()
    const claim = (id: string) => !seen.has(id) && seen.add(id) !== undefined
    const { server } = serverOf({ singleUse: { claim } })
    const state = await stateOf(server)
    expect((await round(server, { name: 'a', ...state })).result?.resultType).toBe('complete')
    expect((await round(server, { name: 'a', ...state })).error?.code).toBe(-32602)
  })

  it('with a single-use store, of a tool whose first question is its only one → counts once, too [state.single-use]', async () => {
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const seen = new Set<string>()
    const claim = (id: string) => !seen.has(id) && seen.add(id) !== undefined
    let paid = 0
    const pay = createTool({
      id: 'pay',
      execute: async (_input, ctx) => {
        await ctx.elicit('Pay?', z.object({ ok: z.boolean() }))
        return `paid ${++paid}`
      },
    })
    const { server } = serverOf({ singleUse: { claim }, tools: { pay } })
    const state = await stateOf(server, { name: 'pay' })
    expect(state.requestState).toEqual(expect.any(String))
    expect((await round(server, { name: 'pay', ...state })).result?.resultType).toBe('complete')
    expect((await round(server, { name: 'pay', ...state })).error?.code).toBe(-32602)
    // Left out, it would not be known to have been used: the answers count for nothing.
    const { inputResponses } = state
    expect((await round(server, { name: 'pay', inputResponses })).result?.resultType).toBe('input_required')
    expect(paid).toBe(1)
  })

  it('with a single-use store, of a tool that returns its questions → the same [state.single-use]', async () => {
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const seen = new Set<string>()
    const claim = (id: string) => !seen.has(id) && seen.add(id) !== undefined
    const where = createTool({
      id: 'where',
      execute: (_input, ctx) =>
        ctx.mcpReq.inputResponses?.roots === undefined
          ? { resultType: 'input_required', inputRequests: { roots: { method: 'roots/list' } } }
          : 'done',
    })
    const { server } = serverOf({ singleUse: { claim }, tools: { where } })
    const { requestState } = await stateOf(server, { name: 'where' })
    const inputResponses = { roots: { roots: [] } }
    const type = async (more: object) => (await round(server, { name: 'where', ...more })).result?.resultType
    expect(await type({ inputResponses })).toBe('input_required')
    expect(await type({ inputResponses, requestState })).toBe('complete')
    expect(await type({ inputResponses, requestState })).toBeUndefined()
  })

  it('with a single-use store and no secret → says what to set [state.single-use]', async () => {
    const { server } = serverOf({ singleUse: { claim: () => true }, secret: undefined as never })
    const answer = await round(server, { name: 'a' })
    expect(answer.error).toMatchObject({ code: -32603, message: expect.stringContaining('MAYFLY_SECRET') })
  })

  it.each<[object, object]>([
    [{}, { arguments: {} }],
    [{ arguments: {} }, {}],
  ])('for a call with %j → opens for one with %j', async (sealed, opened) => {
    const { server } = serverOf()
    const state = await stateOf(server, { name: 'a', ...sealed })
    expect((await round(server, { name: 'a', ...opened, ...state })).result?.resultType).toBe('complete')
  })

  it('over 32 KB → an error that names the step [state.bounds]', async () => {
    const big = createTool({
      id: 'big',
      execute: async (_i, ctx) => {
        await ctx.step('small', () => 1)
        await ctx.step('export everything', () => Array.from({ length: 6000 }, () => crypto.randomUUID()))
        return ctx.elicit('?', z.object({ ok: z.boolean() }))
      },
    })
    const answer = await round(serverOf({ tools: { big } }).server, { name: 'big' })
    expect(answer.error?.message).toContain('step "export everything"')
  })

  it('for another principal → refused [state.bounds]', async () => {
    const seal = createSeal([SECRET], 'server')
    const binding = {
      era: 'modern',
      method: 'tools/call',
      target: 'a',
      arguments: {},
      principal: 'ada',
    } as const
    const token = await seal.seal('state', binding, Date.now() + 1000)
    expect(await seal.open(token, binding)).toMatchObject({ ok: true, value: 'state' })
    expect(await seal.open(token, { ...binding, principal: 'eve' })).toMatchObject({ ok: false })
  })

  it('for a principal whose parts only read the same together → refused [state.bounds]', async () => {
    const people: { readonly [token: string]: readonly [clientId: string, sub: string] } = {
      one: ['desk', 'ann lee'],
      two: ['desk ann', 'lee'],
    }
    const auth = bearer((token) => {
      const [clientId, sub] = people[token]!
      return { clientId, scopes: [], extra: { sub } }
    })
    const { server } = serverOf({ auth })
    const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
    const asked = await round(server, { name: 'a' }, as('one'))
    const retry = { name: 'a', requestState: asked.result?.requestState }
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    expect((await round(server, retry, as('two'))).error?.code).toBe(-32_602)
    expect((await round(server, retry, as('one'))).result).toBeDefined()
  })

  it('for another token, where neither names a client or a subject → refused [state.bounds] [auth.principal]', async () => {
    const { server } = serverOf({ auth: bearer(() => ({ valid: true })) })
    const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
    const asked = await round(server, { name: 'a' }, as('one'))
    const retry = { name: 'a', requestState: asked.result?.requestState }
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    expect((await round(server, retry, as('two'))).error?.code).toBe(-32_602)
    expect((await round(server, retry, as('one'))).result).toBeDefined()
  })

  it('sealed with too short a secret → refused at construction of the seal, with what to do', () => {
    expect(() => createSeal(['short'], 'server')).toThrow('openssl rand')
  })
})

describe('MAYFLY_SECRET', () => {
  const bare = () => createServer({ tools })
  const stateWith = (MAYFLY_SECRET: unknown) =>
    round(bare(), { name: 'a' }, { platform: { env: { MAYFLY_SECRET } } })

  it.each([`${SECRET},`, `,${SECRET}`, ` ${SECRET} , , ${OTHER} ,`, `\n${SECRET}\n`])(
    '%j → commas and spaces too many are no secrets [state.rotation]',
    async (text) => {
      const answer = await stateWith(text)
      expect(answer.status).toBe(200)
      const { requestState } = answer.result!
      const inputResponses = Object.fromEntries(askedIn(answer).map(({ key }) => [key, accept({ ok: true })]))
      const plain = serverOf().server
      expect((await round(plain, { name: 'a', requestState, inputResponses })).result?.resultType).toBe(
        'complete',
      )
    },
  )

  it.each(['', ',', ' , ', 5, undefined])('%j → is none', async (text) => {
    expect((await stateWith(text)).error?.message).toContain('set MAYFLY_SECRET')
  })

  it.each(['short', `${SECRET},short`])(
    '%j is too short → fails only what needs it, and is reported once',
    async (MAYFLY_SECRET) => {
      vi.spyOn(console, 'error').mockReturnValue(undefined)
      const onError = vi.fn()
      const say = createTool({ id: 'say', execute: () => 'said' })
      const server = createServer({ tools: { ...tools, say }, onError })
      const platform = { env: { MAYFLY_SECRET } }
      expect((await modern(server, 'server/discover', {}, { platform })).status).toBe(200)
      expect((await callTool(server, 'say', {}, { platform })).result).toMatchObject({
        content: [{ text: 'said' }],
      })
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT }
      const opened = await legacy(server, 'initialize', params, {
        platform,
        headers: { 'mcp-protocol-version': undefined },
      })
      expect(opened.error).toBeUndefined()
      expect(onError.mock.calls.map(([error]) => String(error))).toEqual([
        expect.stringMatching(/MAYFLY_SECRET is not used: .* at least 32 characters.*openssl rand/),
      ])
      expect(String(onError.mock.calls)).not.toContain(SECRET)
      const answer = await round(server, { name: 'a' }, { platform })
      expect(answer.error).toMatchObject({
        code: -32603,
        message: expect.stringContaining('set MAYFLY_SECRET'),
      })
    },
  )

  it('of another environment → is another secret', async () => {
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const server = bare()
    const withSecret = (MAYFLY_SECRET: string) => ({ platform: { env: { MAYFLY_SECRET } } })
    const { result } = await round(server, { name: 'a' }, withSecret(SECRET))
    const retry = { name: 'a', requestState: result?.requestState }
    expect((await round(server, retry, withSecret(OTHER))).error?.code).toBe(-32602)
    expect((await round(server, retry, withSecret(`${OTHER},${SECRET}`))).error).toBeUndefined()
  })
})
