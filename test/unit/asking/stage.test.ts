/** What is sealed at one stage is worth nothing at another, though both have one secret; wherever the stage is written. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool, type MCPServer } from '../../../src/index.ts'
import {
  CLIENT,
  createServer,
  initializeRequest,
  legacy,
  META,
  post,
  send,
  textOf,
  VERSION,
} from '../_client.ts'
import { CAN_ALL } from './_rounds.ts'

const SECRET = 'a-secret-of-the-tests-that-is-long-enough'

type Fields = { readonly [name: string]: unknown }

interface Place {
  /** What the process has; what came with the request. */
  readonly ofProcess?: string
  readonly env?: unknown
}

const serverAt = (price: string, isInCode: boolean): { server: MCPServer; errors: string[] } => {
  const errors: string[] = []
  const pay = createTool({
    id: 'pay',
    inputSchema: z.object({ order: z.string() }),
    async execute(_input, ctx) {
      const order = await ctx.step('load the order', () => price)
      const { action } = await ctx.elicit(`Pay ${order}?`, z.object({ ok: z.boolean() }))
      return `${action}: ${order}`
    },
  })
  const who = createTool({ id: 'who', execute: (_input, ctx) => ctx.clientInfo?.name ?? 'unknown' })
  const server = createServer({
    id: 'shop',
    tools: { pay, who },
    onError: (error) => errors.push(String(error)),
    ...(isInCode && { secret: SECRET }),
  })
  return { server, errors }
}

/** As a framework calls it. */
const call = async ({ fetch }: MCPServer, { ofProcess, env }: Place, more: Fields = {}) => {
  vi.stubEnv('MAYFLY_STAGE', ofProcess)
  const _meta = {
    [META.protocolVersion]: VERSION,
    [META.clientInfo]: CLIENT,
    [META.clientCapabilities]: CAN_ALL,
  }
  const params = { name: 'pay', arguments: { order: '7' }, _meta, ...more }
  const headers = { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'pay' }
  const response = await fetch(
    post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { headers }),
    env,
  )
  const text = await response.text()
  const message = JSON.parse(text.includes('data: ') ? text.split('data: ').at(-1)! : text)
  return { status: response.status, text, ...(message as { result?: Fields; error?: Fields }) }
}

const retryOf = ({ result }: { result?: Fields }): Fields => {
  const key = Object.keys(result!.inputRequests as object)[0]!
  const inputResponses = { [key]: { action: 'accept', content: { ok: true } } }
  return { requestState: result!.requestState, inputResponses }
}

/** Where staging may be written. Without the secret in the code, the request brings it. */
const STAGING: { readonly [where: string]: Place } = {
  'the variables of the request': { env: { MAYFLY_STAGE: 'staging', MAYFLY_SECRET: SECRET } },
  'the process, and no variables come with the request': { ofProcess: 'staging' },
  'the process, and a connection comes with the request': {
    ofProcess: 'staging',
    env: { remoteAddr: { hostname: '203.0.113.5' } },
  },
  'the process, and other variables come with the request': {
    ofProcess: 'staging',
    env: { MAYFLY_SECRET: SECRET },
  },
}
const PRODUCTION: Place = { env: { MAYFLY_SECRET: SECRET } }

afterEach(() => vi.unstubAllEnvs())

describe.each(Object.entries(STAGING))('with the stage in %s', (_where, staging) => {
  const isInCode = (staging.env as Fields | undefined)?.MAYFLY_SECRET === undefined

  it('a state of staging is refused by production, and the other way round; each opens its own', async () => {
    const cheap = serverAt('0.01 EUR', isInCode)
    const dear = serverAt('4000 EUR', isInCode)
    const ofStaging = retryOf(await call(cheap.server, staging))
    const ofProduction = retryOf(await call(dear.server, PRODUCTION))
    for (const refused of [
      await call(dear.server, PRODUCTION, ofStaging),
      await call(cheap.server, staging, ofProduction),
    ]) {
      expect(refused.error?.code, refused.text).toBe(-32602)
    }
    expect([cheap, dear].flatMap(({ errors }) => errors).join()).toMatch(/another stage.*another stage/)
    // Also by another process of the same stage.
    const second = serverAt('0.02 EUR', isInCode)
    expect((await call(second.server, staging, ofStaging)).text).toContain('accept: 0.01 EUR')
    expect((await call(dear.server, PRODUCTION, ofProduction)).text).toContain('accept: 4000 EUR')
  })

  it('a session id of staging says nothing to production', async () => {
    const cheap = serverAt('', isInCode)
    const dear = serverAt('', isInCode)
    const name = async ({ server }: typeof cheap, { ofProcess, env }: Place, id: string) => {
      vi.stubEnv('MAYFLY_STAGE', ofProcess)
      const headers = { 'mcp-session-id': id }
      return textOf(await legacy(server, 'tools/call', { name: 'who' }, { headers, platform: { env } }))
    }
    vi.stubEnv('MAYFLY_STAGE', staging.ofProcess)
    const begun = await send(cheap.server, initializeRequest(), { env: staging.env })
    const id = begun.headers.get('mcp-session-id')!
    expect(id).toMatch(/^mayfly2\./)
    expect(await name(cheap, staging, id)).toBe('unit')
    expect(await name(dear, PRODUCTION, id)).toBe('unknown')
  })
})

it('a server that has sealed as production is not staging later: 500, and an error that says why', async () => {
  const { server, errors } = serverAt('1 EUR', true)
  const first = retryOf(await call(server, {}))
  const late = await call(server, STAGING['the variables of the request']!, first)
  expect(late.status).toBe(500)
  expect(errors.join()).toMatch(
    /MAYFLY_STAGE is "staging", but server "shop" named a store or sealed a state/,
  )
})

it('an invalid stage of the process → nothing is sealed, never for production', async () => {
  const { server, errors } = serverAt('1 EUR', true)
  const { result, error } = await call(server, { ofProcess: '../production' })
  expect({ result, error }).toEqual({ result: undefined, error: { code: -32603, message: 'Internal error' } })
  expect(errors.join()).toContain('MAYFLY_STAGE must be a name')
})

it('an invalid stage that comes with the request → 500', async () => {
  const { server, errors } = serverAt('1 EUR', true)
  expect((await call(server, { env: { MAYFLY_STAGE: '../production' } })).status).toBe(500)
  expect(errors.join()).toContain('MAYFLY_STAGE must be a name')
})
