/** Middleware around tool calls: `use` of an `MCPServer`, `fromSdk` and `fromNode`. The table of `test/guards` has it on every entry. */
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { bearer } from '../../src/auth.ts'
import {
  createTool,
  MCPServer,
  type MCPServerConfig,
  type NextCall,
  ProtocolError,
  type ToolCall,
  type ToolMiddleware,
} from '../../src/index.ts'
import { MCPServer as MastraServer } from '../../src/mastra.ts'
import { MCPServer as McpUseServer } from '../../src/mcp-use.ts'
import { fromSdk } from '../../src/sdk.ts'
import { MCPServer as SdkServer } from '../../src/sdk-context.ts'
import { connect } from '../../src/testing.ts'
import { callTool, createServer, legacy, modern, textOf } from './_client.ts'
import { createV1, createV2 } from './sdk/_servers.ts'

const executed = vi.fn((input: { city: string; days: number }) => ({ degrees: 20 + input.days }))
const heard = vi.fn((_event: object) => {})
const weather = createTool({
  id: 'weather',
  inputSchema: z.object({ city: z.string(), days: z.coerce.number().max(7).default(1) }),
  outputSchema: z.object({ degrees: z.number() }),
  onInputAvailable: ({ input }) => heard({ input }),
  onOutput: ({ output }) => heard({ output }),
  execute: executed,
})

function serve(use: readonly ToolMiddleware[], config: Partial<MCPServerConfig> = {}) {
  executed.mockClear()
  heard.mockClear()
  const reports: string[] = []
  const onError = (error: unknown) => void reports.push((error as Error).message)
  const server = createServer({ tools: { weather }, use, onError, ...config })
  const ask = (args: object = { city: 'Bern' }, options = {}) => callTool(server, 'weather', args, options)
  return { server, reports, ask }
}

describe('a middleware gets', () => {
  it('the name, the parsed arguments and those that were sent, the caller, the context and its signal', async () => {
    const calls: ToolCall[] = []
    const auth = bearer((token) => ({ clientId: token, scopes: [] }))
    const { ask } = serve([(call, next) => (calls.push(call) ? next() : '')], { auth })
    await ask({ city: 'Bern', days: '3' }, { headers: { authorization: 'Bearer ada' } })
    expect(calls).toHaveLength(1)
    const [call] = calls
    expect(call).toMatchObject({
      toolName: 'weather',
      input: { city: 'Bern', days: 3 },
      arguments: { city: 'Bern', days: '3' },
      auth: { clientId: 'ada' },
      context: { era: 'modern', auth: { clientId: 'ada' } },
    })
    expect(call!.signal).toBe(call!.context.signal)
    expect(call!.task).toBeUndefined()
  })

  it('the result as the client gets it, in the order of the list [tools.middleware]', async () => {
    const order: unknown[] = []
    const { ask } = serve([
      async (_call, next) => {
        order.push('first')
        const result = await next()
        order.push('last')
        return result
      },
      async (_call, next) => {
        order.push('second')
        const result = await next()
        order.push(result)
        return result
      },
    ])
    const { result } = await ask()
    const plain = { content: [{ type: 'text', text: '{"degrees":21}' }], structuredContent: { degrees: 21 } }
    expect(order).toEqual(['first', 'second', plain, 'last'])
    expect(result).toMatchObject(plain)
    expect(heard.mock.calls).toEqual([[{ input: { city: 'Bern', days: 1 } }], [{ output: { degrees: 21 } }]])
  })

  it('no call with invalid arguments, and none of an unknown tool', async () => {
    const called = vi.fn((_call: ToolCall, next: () => Promise<object>) => next())
    const { server, ask } = serve([called])
    expect(textOf(await ask({ city: 5 }))).toContain('Invalid arguments for tool weather: city')
    expect((await callTool(server, 'other')).error?.code).toBe(-32602)
    expect(called).not.toHaveBeenCalled()
  })

  it('what the tool throws, and may answer it', async () => {
    const fails = createTool({ id: 'fails', execute: () => Promise.reject(new Error('down')) })
    const caught = vi.fn()
    const use: ToolMiddleware[] = [
      (_call, next) =>
        next().catch((error: Error) => {
          caught(error.message)
          return 'later, please'
        }),
    ]
    const { server, reports } = serve(use, { tools: { fails } })
    expect(textOf(await callTool(server, 'fails'))).toBe('later, please')
    expect(caught).toHaveBeenCalledWith('down')
    expect(reports).toEqual([])
  })
})

describe('a call is refused', () => {
  it('by an error: its text without a stack, which is reported [tools.middleware]', async () => {
    const { ask, reports } = serve([
      () => {
        throw new Error('Only on weekdays.')
      },
    ])
    const { result } = await ask()
    expect(result).toEqual({
      resultType: 'complete',
      content: [{ type: 'text', text: 'Only on weekdays.' }],
      isError: true,
      _meta: expect.anything(),
    })
    expect(reports).toEqual(['Only on weekdays.'])
    expect(executed).not.toHaveBeenCalled()
    expect(heard).not.toHaveBeenCalled()
  })

  it('by a ProtocolError: with its code, not reported', async () => {
    const { ask, reports } = serve([
      () => Promise.reject(new ProtocolError(-32010, 'No credit', { left: 0 })),
    ])
    expect((await ask()).error).toEqual({ code: -32010, message: 'No credit', data: { left: 0 } })
    expect(reports).toEqual([])
  })

  it('by a result of its own', async () => {
    const content = [{ type: 'text' as const, text: 'Not now.' }]
    const { ask } = serve([() => ({ content, isError: true })])
    expect((await ask()).result).toMatchObject({ content, isError: true })
    expect(executed).not.toHaveBeenCalled()
  })
})

describe('changed arguments', () => {
  it('are parsed again, for the next middleware and the tool', async () => {
    const second = vi.fn((_call: ToolCall, next: () => Promise<object>) => next())
    const { ask } = serve([({ arguments: sent }, next) => next({ ...sent, days: '5' }), second])
    expect((await ask()).result?.structuredContent).toEqual({ degrees: 25 })
    expect(second.mock.calls[0]![0]).toMatchObject({
      input: { city: 'Bern', days: 5 },
      arguments: { city: 'Bern', days: '5' },
    })
    expect(executed).toHaveBeenCalledWith({ city: 'Bern', days: 5 }, expect.anything())
  })

  it('that are invalid fail the call before the tool runs [tools.middleware]', async () => {
    const { ask, reports } = serve([({ arguments: sent }, next) => next({ ...sent, days: 30 })])
    const answer = await ask()
    expect(answer.result?.isError).toBe(true)
    expect(textOf(answer)).toContain('A middleware passed invalid arguments to tool "weather": days')
    expect(reports).toHaveLength(1)
    expect(executed).not.toHaveBeenCalled()
  })
})

describe('a changed result', () => {
  it('may have every form that a tool returns', async () => {
    const { ask } = serve([async (_call, next) => (await next()) && { degrees: 0 }])
    expect((await ask()).result).toMatchObject({
      content: [{ text: '{"degrees":0}' }],
      structuredContent: { degrees: 0 },
    })
  })

  it('that does not match the outputSchema is an isError result [tools.middleware]', async () => {
    const seen: unknown[] = []
    const { ask } = serve([
      async (_call, next) => {
        const result = await next()
        seen.push(result.isError)
        return result
      },
      async (_call, next) => ({ ...(await next()), structuredContent: { degrees: 'warm' } }),
    ])
    const answer = await ask()
    expect(answer.result?.isError).toBe(true)
    expect(textOf(answer)).toContain('does not match its outputSchema: degrees')
    expect(seen).toEqual([true])
  })

  it('that cannot be sent is one too', async () => {
    const { ask, reports } = serve([() => ({ content: [{ type: 'video' }] }) as never])
    expect(textOf(await ask())).toContain('returned a result that cannot be sent: content of type "video"')
    expect(reports).toHaveLength(1)
  })

  it('to a legacy client has only objects as structuredContent', async () => {
    const list = createTool({ id: 'list', outputSchema: z.array(z.number()), execute: () => [1] })
    const seen = vi.fn()
    const use: ToolMiddleware[] = [
      async (_call, next) => {
        const result = await next()
        seen(result.structuredContent)
        return { ...result, _meta: { a: 1 } }
      },
    ]
    const { server } = serve(use, { tools: { list } })
    expect((await legacy(server, 'tools/call', { name: 'list' })).result).toEqual({
      content: [{ type: 'text', text: '[1]' }],
      _meta: { a: 1 },
    })
    expect(seen).toHaveBeenCalledWith([1])
  })
})

describe('a middleware with an error', () => {
  it.each<[string, ToolMiddleware, string]>([
    ['that calls next() twice', async (_call, next) => (await next()) && next(), 'next() twice'],
    [
      'that returns nothing',
      (async (_call: ToolCall, next: NextCall) => void (await next())) as never,
      'returned nothing',
    ],
  ])('%s → an isError result, reported', async (_what, middleware, message) => {
    const { ask, reports } = serve([middleware])
    const answer = await ask()
    expect(answer.result?.isError).toBe(true)
    expect(textOf(answer)).toContain(message)
    expect(reports).toHaveLength(1)
    expect(executed).toHaveBeenCalledTimes(1)
  })

  it('that does not wait for a tool that fails ends no process', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    const fails = createTool({ id: 'fails', execute: () => Promise.reject(new Error('down')) })
    const use: ToolMiddleware[] = [
      (_call, next) => {
        next()
        return 'at once'
      },
    ]
    const { server } = serve(use, { tools: { fails } })
    expect(textOf(await callTool(server, 'fails'))).toBe('at once')
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })

  it('that never answers is ended by the limit of the call, and its signal aborts', async () => {
    let signal: AbortSignal | undefined
    const wait: ToolMiddleware = (call) => {
      signal = call.signal
      return new Promise(() => {})
    }
    const { ask } = serve([wait], { http: { maxCallMs: 50 } })
    expect((await ask()).error?.code).toBe(-32603)
    expect(signal?.aborted).toBe(true)
  })

  it.each([[() => {}], ['log'], [[{}]]])('use: %j → TypeError', (use) => {
    for (const create of [
      () => createServer({ use: use as never }),
      () => fromSdk(() => createV1(), { use: use as never }),
    ])
      expect(create).toThrow('"use" must be a list of functions')
  })
})

describe('a question', () => {
  const asks = createTool({
    id: 'asks',
    execute: async (_input, ctx) => {
      const answer = await ctx.elicit('Name?', z.object({ name: z.string() }))
      return answer.action === 'accept' ? `hello ${answer.content.name}` : answer.action
    },
  })
  const config = { tools: { asks }, secret: 'a secret of this test that is long enough' }
  const answers = () => ({ action: 'accept' as const, content: { name: 'Ann', sure: true } })

  it('runs it again with each round; a step in it runs once', async () => {
    const [rounds, once, ended] = [vi.fn(), vi.fn(() => 1), vi.fn()]
    const use: ToolMiddleware[] = [
      async ({ context }, next) => {
        rounds()
        await context.step('count', once)
        try {
          return await next()
        } finally {
          ended()
        }
      },
    ]
    await using client = await connect(createServer({ ...config, use }), { answers })
    const result = await client.callTool({ name: 'asks' })
    expect(result.content).toMatchObject([{ text: 'hello Ann' }])
    expect([rounds, once, ended].map(({ mock }) => mock.calls.length)).toEqual([2, 1, 1])
  })

  it('may be its own, before the tool and after it', async () => {
    const use: ToolMiddleware[] = [
      async ({ context, toolName }, next) => {
        const answer = await context.elicit(`Run ${toolName}?`, z.object({ sure: z.boolean() }))
        return answer.action === 'accept' && answer.content.sure ? next() : 'not allowed'
      },
    ]
    const asked: string[] = []
    await using client = await connect(createServer({ ...config, use }), {
      answers: ({ message }) => {
        asked.push(message)
        return answers()
      },
    })
    expect((await client.callTool({ name: 'asks' })).content).toMatchObject([{ text: 'hello Ann' }])
    expect([...new Set(asked)]).toEqual(['Run asks?', 'Name?'])
  })

  it('to a legacy client is explained as without middleware', async () => {
    const server = createServer({ ...config, use: [(_call, next) => next()] })
    const { result } = await legacy(server, 'tools/call', { name: 'asks' })
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'mayfly/degraded': { feature: expect.any(String) } },
    })
  })
})

describe('it is around', () => {
  const said: ToolMiddleware[] = [async (_call, next) => ({ ...(await next()), _meta: { seen: true } })]
  const tools = { say: createTool({ id: 'say', execute: () => 'said' }) }
  const base = { name: 'Other', version: '1.0.0', log: false, tools, use: said } as const

  it.each([
    ['mayfly-mcp/mastra', () => new MastraServer(base)],
    ['mayfly-mcp/mcp-use', () => new McpUseServer(base)],
    ['mayfly-mcp/sdk-context', () => new SdkServer(base)],
  ])('the tools of %s', async (_entry, create) => {
    expect((await callTool(create(), 'say')).result?._meta).toMatchObject({ seen: true })
  })

  it('agents, workflows and the tools that setup adds', async () => {
    const server = new MCPServer({
      ...base,
      agents: { sage: { description: 'Knows', generate: async () => ({ text: 'so' }) } },
      setup: (request) => void request.registerTool('extra', {}, () => 'more'),
    })
    for (const [name, args] of [
      ['ask_sage', { message: 'Hm?' }],
      ['extra', {}],
    ] as const)
      expect((await callTool(server, name, args)).result?._meta).toMatchObject({ seen: true })
  })

  it('no call without a client', async () => {
    const server = new MCPServer({ ...base, use: [() => Promise.reject(new Error('refused'))] })
    expect(await server.executeTool('say', {})).toBe('said')
  })
})

describe.each([
  ['v1', 'legacy', createV1],
  ['v2', 'modern', createV2],
] as const)('fromSdk, SDK %s, %s', (_sdk, era, create) => {
  const ask = { legacy, modern }[era]
  const call = (use: NonNullable<Parameters<typeof fromSdk>[1]>['use'], name: string, args: object = {}) => {
    const reports: unknown[] = []
    const server = fromSdk((context) => create(context), {
      log: false,
      onError: (error) => void reports.push(error),
      ...(use !== undefined && { use }),
    })
    return ask(server, 'tools/call', { name, arguments: args }).then((answer) => ({ ...answer, reports }))
  }

  it('a middleware that changes nothing changes nothing', async () => {
    for (const [name, args] of [
      ['add', { a: 1, b: 2 }],
      ['add', { a: 'x' }],
      ['fail', {}],
      ['unknown', {}],
    ] as const)
      expect((await call([(_call, next) => next()], name, args)).message).toEqual(
        (await call(undefined, name, args)).message,
      )
  })

  it('it may change the arguments and the result', async () => {
    const { result } = await call(
      [
        async ({ toolName, input, context }, next) => {
          const { content } = await next({ ...input, b: 40 })
          return { content: [...content, { type: 'text', text: `${toolName} ${context.era}` }] }
        },
      ],
      'add',
      { a: 2 },
    )
    expect(result).toMatchObject({ content: [{ text: '42' }, { text: `add ${era}` }] })
    if (era === 'modern') expect(result?.resultType).toBe('complete')
  })

  it('a removed structuredContent stays away, and an error may become a result', async () => {
    const { result, reports } = await call([(_call, next) => next().then(() => 'better')], 'fail')
    expect(result).toMatchObject({ content: [{ text: 'better' }] })
    expect(result?.isError).toBeUndefined()
    expect(reports).toEqual([])
  })

  it('refuses with an error of either kind', async () => {
    const thrown = await call([() => Promise.reject(new Error('Closed.'))], 'add', { a: 1, b: 2 })
    expect(thrown.result).toMatchObject({ content: [{ text: 'Closed.' }], isError: true })
    expect(thrown.reports).toHaveLength(1)
    const coded = await call([() => Promise.reject(new ProtocolError(-32010, 'No credit'))], 'add')
    expect(coded.error).toMatchObject({ code: -32010, message: 'No credit' })
  })

  it('progress passes by', async () => {
    const server = fromSdk((context) => create(context), { log: false, use: [(_call, next) => next()] })
    const params = { name: 'progress', arguments: {}, _meta: { progressToken: 'p' } }
    const { notifications, result } = await ask(server, 'tools/call', params)
    expect(notifications).toHaveLength(3)
    expect(result).toMatchObject({ content: [{ text: 'done' }] })
  })
})
