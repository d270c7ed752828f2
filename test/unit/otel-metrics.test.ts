/** The duration of each request, as OpenTelemetry's own SDK exports it. */

import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { metrics } from '@opentelemetry/api'
import type { Histogram } from '@opentelemetry/sdk-metrics'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createPrompt, createTool } from '../../src/index.ts'
import { openTelemetry } from '../../src/otel.ts'
import { createSession } from '../../src/protocol/session.ts'
import { fromSdk, type SdkServerFactory } from '../../src/sdk.ts'
import { eventually } from '../_eventually.ts'
import { createServer, legacyRequest, modernRequest, post } from './_client.ts'
import { observeMetrics } from './_metrics.ts'
import { createV1, createV2 } from './sdk/_servers.ts'

/** Answers any tool and any method. */
function createLowLevel(): Server {
  const server = new Server({ name: 'low', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'fail', inputSchema: { type: 'object' } }],
  }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: 'text', text: params.name === 'fail' ? 'Well' : 'Unknown tool' }],
  }))
  server.fallbackRequestHandler = async () => ({})
  return server
}

/** A provider of its own, and what it has exported. */
function observe() {
  const { provider, meter, exported: all } = observeMetrics()
  const exported = async () => {
    const [metric, ...others] = await all()
    expect(others).toEqual([])
    return metric
  }
  return {
    provider,
    exported,
    telemetry: openTelemetry({ meter }),
    /** Each time series: its attributes and how often. */
    series: async () =>
      ((await exported())?.dataPoints ?? []).map(({ attributes, value }) => ({
        attributes,
        count: (value as Histogram).count,
      })),
  }
}

const tools = {
  work: createTool({
    id: 'work',
    execute: (_input, ctx) => {
      ctx.log('info', 'working')
      return 'done'
    },
  }),
  fail: createTool({
    id: 'fail',
    execute: () => {
      throw new Error('broken')
    },
  }),
}

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'c', version: '1' },
}
const MODERN = { 'mcp.protocol.version': '2026-07-28' }
const call = (name: string) => ({
  'mcp.method.name': 'tools/call',
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': name,
})

afterEach(() => {
  metrics.disable()
  vi.useRealTimers()
})

describe('mcp.server.operation.duration', () => {
  it('is a histogram in seconds, with the buckets that the conventions advise', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { telemetry, exported } = observe()
    const slow = createTool({
      id: 'slow',
      execute: () => {
        vi.setSystemTime(Date.now() + 1500)
        return 'done'
      },
    })

    await (
      await createServer({ telemetry, tools: { slow } }).fetch(modernRequest('tools/call', { name: 'slow' }))
    ).text()

    const metric = await exported()
    expect(metric?.descriptor).toMatchObject({ name: 'mcp.server.operation.duration', unit: 's' })
    const { buckets, sum, count } = metric!.dataPoints[0]!.value as Histogram
    expect({ sum, count }).toEqual({ sum: 1.5, count: 1 })
    expect(buckets.boundaries).toEqual([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300])
    expect(buckets.counts.indexOf(1)).toBe(buckets.boundaries.indexOf(2))
  })

  it('tells methods, tools, prompts and errors apart, and nothing that each request has of its own', async () => {
    const { telemetry, series } = observe()
    const greet = createPrompt({ get: () => 'Hello' })
    const server = createServer({ telemetry, tools, prompts: { greet } })
    const send = async (method: string, params: object, id: number) =>
      (await server.fetch(modernRequest(method, { ...params }, { id }))).text()

    await send('tools/call', { name: 'work', arguments: { secret: 'hush' } }, 1)
    await send('tools/call', { name: 'work' }, 2)
    await send('tools/call', { name: 'fail' }, 3)
    await send('prompts/get', { name: 'greet' }, 4)
    await send('resources/read', { uri: 'note://1' }, 5)

    expect(await series()).toEqual([
      { attributes: { ...call('work'), ...MODERN }, count: 2 },
      { attributes: { ...call('fail'), ...MODERN, 'error.type': 'tool_error' }, count: 1 },
      {
        attributes: { 'mcp.method.name': 'prompts/get', 'gen_ai.prompt.name': 'greet', ...MODERN },
        count: 1,
      },
      {
        attributes: {
          'mcp.method.name': 'resources/read',
          ...MODERN,
          'rpc.response.status_code': expect.stringMatching(/^-\d+$/),
          'error.type': expect.stringMatching(/^-\d+$/),
        },
        count: 1,
      },
    ])
  })

  it('a client that makes up names and methods adds no time series', async () => {
    const { telemetry, series } = observe()
    const server = createServer({ telemetry, tools })
    for (let n = 0; n < 50; n++) {
      await (await server.fetch(modernRequest('tools/call', { name: `made-up-${n}` }))).text()
      await (await server.fetch(modernRequest(`made/up-${n}`))).text()
      await (await server.fetch(modernRequest('tools/list', { name: `made-up-${n}` }))).text()
      await (
        await server.fetch(legacyRequest('ping', {}, { headers: { 'mcp-session-id': `made-up-${n}` } }))
      ).text()
    }

    const found = await series()

    expect(JSON.stringify(found)).not.toContain('made')
    expect(found).toHaveLength(4)
    expect(found.every(({ count }) => count === 50)).toBe(true)
    expect(found.map(({ attributes }) => attributes['mcp.method.name']).sort()).toEqual([
      '_OTHER',
      'ping',
      'tools/call',
      'tools/list',
    ])
  })

  it.each<[what: string, server: SdkServerFactory, fails: boolean]>([
    ['a result that says it is an error', createV1, true],
    ['a plain result', createLowLevel, false],
  ])(
    'nor of a server that answers a tool it does not have with %s, and its own stay named',
    async (...row) => {
      const [, factory, fails] = row
      const { telemetry, series } = observe()
      const server = fromSdk(factory, { telemetry, log: false })
      const send = async (method: string, params: object): Promise<string> =>
        (await server.fetch(legacyRequest(method, { ...params }))).text()
      for (let n = 0; n < 60; n++) {
        expect(await send('tools/call', { name: `made-up-${n}` })).toContain('"result"')
        await send(`made/up-${n}`, {})
      }
      expect(await series()).toHaveLength(2)

      await send('tools/list', {})
      await send('tools/call', { name: 'fail' })

      const found = await series()
      expect(JSON.stringify(found)).not.toContain('made')
      const own = found.filter(({ attributes }) => attributes['gen_ai.tool.name'] !== undefined)
      expect(own).toMatchObject([{ attributes: call('fail'), count: 1 }])
      expect(own[0]!.attributes['error.type']).toBe(fails ? 'tool_error' : undefined)
    },
  )

  it('a tool of an McpServer has its name before it is listed, also if it only fails or is refused', async () => {
    const { telemetry, series } = observe()
    const auth = bearer(() => ({ clientId: 'ada', scopes: [] }))
    const server = fromSdk(createV1, { telemetry, log: false, auth, scopes: { tools: { who: ['admin'] } } })
    const headers = { authorization: 'Bearer token' }
    for (const name of ['fail', 'who'])
      await (await server.fetch(legacyRequest('tools/call', { name }, { headers }))).text()

    expect((await series()).map(({ attributes }) => attributes['gen_ai.tool.name'])).toEqual(['fail', 'who'])
  })

  it('ends with the stream, and a client that leaves is an error', async () => {
    const { telemetry, series } = observe()
    const endless = createTool({
      id: 'endless',
      execute: (_input, ctx) => {
        ctx.log('info', 'begun')
        return new Promise(() => {})
      },
    })
    const response = await createServer({ telemetry, tools: { endless } }).fetch(
      legacyRequest('tools/call', { name: 'endless' }),
    )
    expect(await series()).toEqual([])

    await response.body!.cancel()

    expect(await series()).toMatchObject([{ attributes: { 'error.type': '499' }, count: 1 }])
  })

  it('a POST that is refused before its messages are read is no operation', async () => {
    const { telemetry, series } = observe()
    const server = createServer({ telemetry, tools, auth: bearer(() => undefined) })

    const { status } = await server.fetch(modernRequest('tools/list'))

    expect(status).toBe(401)
    expect(await series()).toEqual([])
  })
})

describe('on every path', () => {
  it('each message of a batch', async () => {
    const { telemetry, series } = observe()
    const batch = [1, 2].map((id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'fail', arguments: {} },
    }))
    const list = { jsonrpc: '2.0', id: 3, method: 'tools/list' }
    const headers = { 'mcp-protocol-version': '2025-03-26' }

    await (await createServer({ telemetry, tools }).fetch(post([...batch, list], { headers }))).text()

    expect((await series()).map(({ attributes, count }) => [attributes['mcp.method.name'], count])).toEqual([
      ['tools/call', 2],
      ['tools/list', 1],
    ])
  })

  it('a session, as on stdio', async () => {
    const { telemetry, series } = observe()
    const session = createSession(createServer({ telemetry, tools }).getSessionParts(), {
      id: () => undefined,
      platform: { env: {} },
      send: async () => {},
    })

    await session.receive({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE }, undefined)
    await session.receive(
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'work', arguments: {} } },
      undefined,
    )

    await eventually(async () =>
      expect((await series()).map(({ attributes }) => attributes)).toMatchObject([
        { 'mcp.method.name': 'initialize' },
        call('work'),
      ]),
    )
  })

  it.each([
    ['v1', createV1, legacyRequest],
    ['v2', createV2, modernRequest],
  ] as const)('a server of SDK %s', async (_sdk, factory, request) => {
    const { telemetry, series } = observe()
    const server = fromSdk((context) => factory(context), { telemetry, log: false })

    await (await server.fetch(request('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }))).text()

    expect(await series()).toMatchObject([{ attributes: call('add'), count: 1 }])
  })

  it('the registered provider, also one that is registered after the first request', async () => {
    const server = createServer({ telemetry: openTelemetry(), tools })
    const send = async () => (await server.fetch(modernRequest('tools/list'))).text()
    await send()
    const { provider, series } = observe()
    metrics.setGlobalMeterProvider(provider)

    await send()

    expect(await series()).toMatchObject([{ attributes: { 'mcp.method.name': 'tools/list' }, count: 1 }])
  })
})
