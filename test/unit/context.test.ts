import { beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type AnyTool,
  createTool,
  type Feature,
  type MCPServerConfig,
  type McpContext,
} from '../../src/index.ts'
import { createTool as createSdkTool, type SdkToolContext } from '../../src/sdk-context.ts'
import { eventually } from '../_eventually.ts'
import {
  CLIENT,
  callTool,
  createServer,
  ENDPOINT,
  initialize,
  legacy,
  META,
  modern,
  modernRequest,
  readAnswer,
  type SendOptions,
  textOf,
} from './_client.ts'

/** Calls a tool in the modern era and shows what `look` saw in its context, which has what an SDK's has. */
async function seen<Value>(
  look: (ctx: SdkToolContext) => Value,
  options: SendOptions = {},
  config: Partial<MCPServerConfig> = {},
): Promise<Value> {
  let found: { value: Value } | undefined
  const tool: AnyTool = createSdkTool({
    id: 'look',
    execute: (_input, ctx) => {
      found = { value: look(ctx) }
    },
  })
  await callTool(createServer({ tools: { look: tool }, ...config }), 'look', {}, options)
  return found!.value
}

let reported: ReturnType<typeof vi.spyOn>
beforeEach(() => {
  reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => reported.mockRestore()
})

describe('ctx', () => {
  it('modern: who asks, in which version, with which capabilities [context.facts]', async () => {
    const capabilities = { sampling: {}, elicitation: { form: {} } }
    const ctx = await seen((context) => context, { meta: { [META.clientCapabilities]: capabilities } })
    expect(ctx).toMatchObject({
      era: 'modern',
      protocolVersion: '2026-07-28',
      clientInfo: CLIENT,
      clientCapabilities: capabilities,
      sessionId: undefined,
      auth: undefined,
      deadline: undefined,
    })
    expect(ctx.signal.aborted).toBe(false)
    expect(ctx.request?.url).toBe(ENDPOINT)
  })

  it('modern: clientInfo may be absent [context.facts]', async () => {
    expect(await seen((ctx) => ctx.clientInfo, { meta: { [META.clientInfo]: undefined } })).toBeUndefined()
  })

  it('legacy: what initialize declared, by the session id [context.facts] [legacy.session]', async () => {
    const look = vi.fn((_input: unknown, _ctx: McpContext) => '')
    const server = createServer({ tools: { look: createTool({ id: 'look', execute: look }) } })
    const { headers } = await initialize(server, { capabilities: { roots: { listChanged: true } } })
    const sessionId = headers.get('mcp-session-id')!
    await legacy(server, 'tools/call', { name: 'look' }, { headers: { 'mcp-session-id': sessionId } })
    expect(look.mock.calls[0]?.[1]).toMatchObject({
      era: 'legacy',
      protocolVersion: '2025-11-25',
      clientInfo: CLIENT,
      clientCapabilities: { roots: { listChanged: true } },
      sessionId,
    })
  })

  it('env and deadline come from the platform [context.facts]', async () => {
    const deadline = Date.now() + 60_000
    const ctx = await seen((context) => context, { platform: { env: { KEY: 'v' }, deadline } })
    expect(ctx).toMatchObject({ env: { KEY: 'v' }, deadline })
    expect(await seen((context) => context.env)).toEqual({})
  })

  it('fetch takes env and an execution context, as platforms pass them [context.facts] [context.wait-until]', async () => {
    const waitUntil = vi.fn()
    const work = Promise.resolve()
    const tool = createTool({
      id: 'env',
      execute: (_input, ctx) => {
        ctx.waitUntil(work)
        return JSON.stringify(ctx.env)
      },
    })
    const { fetch } = createServer({ tools: { tool } })
    const answer = await readAnswer(
      await fetch(modernRequest('tools/call', { name: 'tool' }), { KEY: 'v' }, { waitUntil }),
    )
    expect(textOf(answer)).toBe('{"KEY":"v"}')
    expect(waitUntil).toHaveBeenCalledOnce()
  })

  it.each([undefined, null, {}, 'request', 5])(
    'fetch with the execution context %j, as frameworks pass it → served',
    async (executionContext) => {
      const response = await createServer().fetch(
        modernRequest('server/discover'),
        undefined,
        executionContext,
      )
      expect(response.status).toBe(200)
    },
  )

  it('mcp.extra of tools written for an SDK: the same under its names [context.extra]', async () => {
    const { extra, ctx } = await seen((context) => ({ extra: context.mcp.extra, ctx: context }), {
      id: 'rpc-7',
      meta: { 'mcp.example/k': 1 },
    })
    expect(extra.requestId).toBe('rpc-7')
    expect(extra.signal).toBe(ctx.signal)
    expect(extra._meta).toMatchObject({ 'mcp.example/k': 1 })
    expect(extra).not.toHaveProperty('authInfo')
    expect(extra).not.toHaveProperty('sessionId')
  })

  it('mcp.extra can be copied, as the pages for the SDKs say; its id is the message’s [context.extra]', async () => {
    const members = [
      'signal',
      'requestId',
      '_meta',
      'requestInfo',
      'sendNotification',
      'sendRequest',
      'mcpReq',
      'http',
    ]
    const { copy, ctx } = await seen((context) => ({ copy: { ...context.mcp.extra }, ctx: context }), {
      id: 'rpc-7',
    })
    for (const member of members) expect(copy, member).toHaveProperty(member)
    expect(copy.requestId).toBe('rpc-7')
    expect((copy as { signal: unknown }).signal).toBe(ctx.signal)
  })
})

describe('ctx.requestId', () => {
  it('is the x-request-id of the answer, one per request [http.request-id]', async () => {
    const tool = createTool({ id: 'id', execute: (_input, ctx) => ctx.requestId })
    const server = createServer({ tools: { tool } })
    const [first, second] = [await callTool(server, 'tool'), await callTool(server, 'tool')]
    for (const { result, headers } of [first, second]) {
      expect(result?.content).toEqual([{ type: 'text', text: headers.get('x-request-id') }])
    }
    expect(first.headers.get('x-request-id')).not.toBe(second.headers.get('x-request-id'))
  })
})

describe('ctx.can', () => {
  const can = (feature: Feature, options: SendOptions = {}, config: Partial<MCPServerConfig> = {}) =>
    seen((ctx) => ctx.can(feature), options, config)

  it('true where it works in this request [context.can]', async () => {
    expect(await can('progress', { meta: { progressToken: 1 } })).toEqual({ available: true })
    expect(await can('logLevel')).toEqual({ available: true })
    expect(await can('cancellation')).toEqual({ available: true })
  })

  it.each<[string, Feature, SendOptions]>([
    ['a client that takes only JSON', 'progress', { headers: { accept: 'application/json' } }],
    ['a platform that cannot stream', 'logging', { platform: { canStream: false } }],
    ['a client that wants no progress', 'progress', {}],
    ['a client that wants no log', 'logging', {}],
    ['a platform that reports no disconnects', 'cancellation', { platform: { seesDisconnect: false } }],
    ['no bus', 'tools.listChanged', {}],
    ['a client that did not declare it', 'sampling', {}],
    ['what no stateless server can do', 'sessions', {}],
  ])('%s → why not, and what to do [context.can]', async (_kind, feature, options) => {
    expect(await can(feature, options)).toEqual({
      available: false,
      reason: expect.stringMatching(/\.$/),
      remedy: expect.stringMatching(/\.$/),
    })
  })

  it('differs by era [context.can]', async () => {
    let said: unknown
    const tool: AnyTool = {
      execute: (_input: unknown, ctx: McpContext) => {
        said = ctx.can('logLevel')
      },
    }
    await legacy(createServer({ tools: { tool } }), 'tools/call', { name: 'tool' })
    expect(said).toMatchObject({ available: false })
  })
})

describe('ctx.waitUntil', () => {
  it('hands the promise to the platform; a rejection is reported and harms no one [context.wait-until]', async () => {
    const pending: Promise<unknown>[] = []
    const onError = vi.fn()
    const tool = createTool({
      id: 'late',
      execute: (_input, ctx) => {
        ctx.waitUntil(Promise.reject(new Error('too late')))
        return 'answered'
      },
    })
    const server = createServer({ tools: { tool }, onError })
    const answer = await callTool(
      server,
      'tool',
      {},
      { platform: { waitUntil: (promise) => pending.push(promise) } },
    )
    expect(answer.result).toMatchObject({ content: [{ text: 'answered' }] })
    await expect(Promise.all(pending)).resolves.toHaveLength(1)
    expect(onError).toHaveBeenCalledExactlyOnceWith(new Error('too late'), expect.anything())
  })

  it('without one on the platform → the work runs all the same [context.wait-until]', async () => {
    const onError = vi.fn()
    await seen((ctx) => ctx.waitUntil(Promise.reject(new Error('too late'))), {}, { onError })
    await eventually(() => expect(onError).toHaveBeenCalledOnce())
  })
})

describe('ctx.requireClientCapabilities', () => {
  const require = (required: McpContext['clientCapabilities'], declared: object) =>
    modern(
      createServer({
        tools: {
          ask: createTool({
            id: 'ask',
            execute: (_input, ctx) => {
              ctx.requireClientCapabilities(required)
              return 'asked'
            },
          }),
        },
      }),
      'tools/call',
      { name: 'ask' },
      { meta: { [META.clientCapabilities]: declared } },
    )

  it.each([
    [{ sampling: {} }, {}, { sampling: {} }],
    [{ elicitation: { url: {} } }, { elicitation: { form: {} } }, { elicitation: { url: {} } }],
    [{ sampling: {}, roots: {} }, { roots: {} }, { sampling: {} }],
  ])(
    '%j of a client that declared %j → -32021 with status 400 [modern.capability]',
    async (required, declared, missing) => {
      const { status, error } = await require(required, declared)
      expect(status).toBe(400)
      expect(error).toMatchObject({ code: -32_021, data: { requiredCapabilities: missing } })
    },
  )

  it('declared ones → served [modern.capability]', async () => {
    const { status, result } = await require({ elicitation: { form: {} } }, {
      elicitation: { form: {}, url: {} },
    })
    expect([status, result?.isError]).toEqual([200, undefined])
  })
})
