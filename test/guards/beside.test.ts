/** Ways to a server beside its messages: other methods of HTTP, the page, platforms that say odd things, hooks that throw. */

import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { bearer } from '../../src/auth.ts'
import {
  createResource,
  createTool,
  MCPServer,
  type MCPServerConfig,
  type RequestPlatform,
} from '../../src/index.ts'
import { createTool as createSdkTool, type SdkToolContext } from '../../src/sdk-context.ts'
import { eventually } from '../_eventually.ts'
import * as clients from './_clients.ts'
import { IMPLEMENTED, listenTo, toCall } from './_entries.ts'
import { FRONTS, type Front } from './_fronts.ts'
import { Exchange, type HttpRequest } from './_http.ts'
import { createOurs, type Guarded } from './_ours.ts'
import { Probe } from './_probe.ts'
import { watchTests } from './_watched.ts'

const { onEnd, starting } = watchTests()

/** Each way to mount a server whose every path answers. */
const MOUNTED = ['serve', 'sessions', 'nodeListener'] as const

async function mount(via: (typeof MOUNTED)[number], guarded: Guarded = {}) {
  const probe = new Probe()
  const front = await FRONTS[via](createOurs(probe, guarded), {})
  onEnd(front.close)
  const send = async (request: Partial<HttpRequest> = {}) => {
    const exchange = new Exchange({ port: front.port, path: '/mcp', headers: {}, ...request })
    await exchange.done
    return exchange
  }
  return { probe, send }
}

const HTML = { accept: 'text/html' }

describe.each(MOUNTED)('%s', (via) => {
  describe.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])('%s', (method) => {
    it('Host, Origin and headers are guarded before anything else', async () => {
      const { send } = await mount(via, { http: { allowedHosts: ['127.0.0.1'], maxHeaderBytes: 1000 } })
      const refused = [{ host: 'evil.example' }, { origin: 'https://evil.example' }, { x: 'x'.repeat(2000) }]
      const answers = await Promise.all(
        refused.map((headers) => send({ method, headers: { ...HTML, ...headers } })),
      )
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 431])
    })

    it('one line in the log, nothing in the audit trail, and no code has run', async () => {
      const { send, probe } = await mount(via, { auth: true })
      const path = `/mcp/${'x'.repeat(5000)}`
      await send({ method, path, headers: HTML })
      expect(probe.log).toHaveLength(1)
      expect(probe.log[0]).toMatchObject({ httpMethod: method })
      expect(String(probe.log[0]!.path).length).toBeLessThan(300)
      expect(probe.audit).toEqual([])
      expect(probe.happened).toEqual([])
    })
  })

  it.each(['PUT', 'PATCH', 'DELETE'])('%s → 405 with Allow', async (method) => {
    const { send } = await mount(via)
    const { status, headers } = await send({ method })
    expect(status).toBe(405)
    expect(headers.allow).toContain('POST')
  })

  it('HEAD has the headers of GET, and no body', async () => {
    const { send } = await mount(via)
    const [get, head] = [
      await send({ method: 'GET', headers: HTML }),
      await send({ method: 'HEAD', headers: HTML }),
    ]
    expect([head.status, head.headers['content-type']]).toEqual([200, get.headers['content-type']])
    expect([get.text.length > 100, head.text]).toEqual([true, ''])
  })

  it('the page is counted once by the rate limiter, and refused like any call', async () => {
    const { send, probe } = await mount(via, { rate: true })
    probe.allowed = 1
    const statuses = [
      await send({ method: 'GET', headers: HTML }),
      await send({ method: 'GET', headers: HTML }),
    ]
    expect(statuses.map(({ status }) => status)).toEqual([200, 429])
    expect(probe.counted).toHaveLength(2)
  })
})

describe('hooks that throw end no call', () => {
  const serveOne = async (config: Partial<MCPServerConfig>): Promise<[Front, Probe]> => {
    const probe = new Probe()
    const say = createTool({ id: 'say', execute: () => 'said' })
    const stream = createTool({
      id: 'stream',
      execute: (_input, ctx) => {
        ctx.reportProgress({ progress: 1 })
        return 'streamed'
      },
    })
    const server = new MCPServer({
      id: 'hooked',
      name: 'Hooked',
      version: '1.0.0',
      tools: { say, stream },
      http: { maxConcurrentCalls: 1 },
      ...probe.write,
      ...config,
    })
    const front = await FRONTS.serve(server, {})
    onEnd(front.close)
    return [front, probe]
  }
  const boom = () => {
    throw new Error('boom')
  }
  const rejects = async () => boom()
  const span = { run: <Result>(work: () => Result) => work(), end: () => {} }

  describe.each([
    ['throws', boom],
    ['rejects', rejects],
  ])('one that %s', (_how, fail) => {
    it.each<[string, Partial<MCPServerConfig>]>([
      ['telemetry.start', { telemetry: { start: fail as never } }],
      ['span.run', { telemetry: { start: () => ({ ...span, run: fail as never }) } }],
      [
        'span.run, when its work is done',
        { telemetry: { start: () => ({ ...span, run: (work) => [work(), boom()] as never }) } },
      ],
      ['span.end', { telemetry: { start: () => ({ ...span, end: fail }) } }],
      ['log', { log: fail }],
      ['audit.record', { audit: { record: fail } }],
      ['audit.arguments', { audit: { record: () => {}, arguments: fail } }],
      ['the rate limiter', { http: { maxConcurrentCalls: 1, rateLimiter: { limit: fail as never } } }],
      ['onError', { log: boom, onError: fail }],
    ])('%s', async (hook, config) => {
      const printed = vi.spyOn(console, 'error')
      onEnd(() => printed.mockRestore())
      const [front, probe] = await serveOne(config)
      const client = await clients.modern({ ...front, token: undefined })
      for (const name of ['say', 'stream', 'say']) {
        const _meta = { progressToken: 1 }
        const [reply] = await client.send([{ method: 'tools/call', params: { name, arguments: {}, _meta } }])
        expect(reply!.message?.result, name).toMatchObject({
          content: [{ text: `${name === 'say' ? 'said' : 'streamed'}` }],
        })
      }
      const threw = () =>
        printed.mock.calls.flat().filter((line) => String(line).includes('onError threw: boom'))
      await eventually(() => expect(hook === 'onError' ? threw() : probe.reports).toHaveLength(3))
      if (hook !== 'onError') expect(probe.reports).toEqual(['boom', 'boom', 'boom'])
    })
  })

  const entries = Object.entries(IMPLEMENTED).filter(([id]) => id !== 'stdio')
  it.each(entries)('a log, an audit trail and onError that reject: %s', async (_id, entry) => {
    const { probe, connect } = await starting(entry)()
    const client = await connect()
    probe.cannotWrite = true
    const [reply] = await client.send([toCall(entry, 'nothing')])
    expect(reply!.message).toBeDefined()
    await eventually(() => {
      expect(probe.audit.length).toBeGreaterThan(0)
      expect(probe.reports.slice(0, 2)).toEqual(['cannot be written', 'cannot be written'])
    })
  })

  it('a bus that cannot be left ends no process, and keeps no place', async () => {
    const printed = vi.spyOn(console, 'error')
    onEnd(() => printed.mockRestore())
    const bus = { publish: () => {}, subscribe: () => rejects }
    const resources = [createResource({ uri: 'note://open', read: () => 'open' })]
    const server = new MCPServer({
      id: 'b',
      name: 'B',
      version: '1',
      log: false,
      bus,
      resources,
      http: { maxConcurrentCalls: 1 },
    })
    const front = await FRONTS.serve(server, {})
    onEnd(front.close)
    for (let time = 0; time < 2; time++) {
      const client = await clients.listen({ ...front, token: undefined })
      const { heard, leave } = client.begin(listenTo())
      await eventually(() => expect(heard[0]?.method).toContain('acknowledged'))
      await Object.values(leave)[0]!()
      await eventually(() => expect(printed.mock.calls.flat().join('')).toContain('Leaving the bus: boom'))
      printed.mockClear()
    }
  })

  it.each<[string, Partial<MCPServerConfig>]>([
    ['a verifier', { auth: bearer(boom) }],
    ['what chooses the rate limiter', { http: { rateLimiter: boom } }],
  ])(
    '%s that throws → 500, reported once, one line in the log, one entry in the audit trail',
    async (_what, config) => {
      const [front, probe] = await serveOne(config)
      const client = await clients.modern({ ...front, token: 'use' })
      const [reply] = await client.send([{ method: 'tools/call', params: { name: 'say', arguments: {} } }])
      expect(reply).toMatchObject({
        status: 500,
        message: { error: { code: -32603, message: 'Internal error' } },
      })
      expect(probe.reports).toEqual(['boom'])
      expect(probe.log).toMatchObject([{ status: 500 }])
      expect(probe.audit).toMatchObject([{ status: 500, outcome: 'failed' }])
    },
  )
})

describe('what a platform says', () => {
  const serve = async (told: Partial<RequestPlatform>) => {
    const { probe, connect } = await starting(IMPLEMENTED.modern)({}, told)
    return { probe, client: await connect() }
  }

  it.each<Partial<RequestPlatform>>([
    { deadline: Number.NaN },
    { deadline: Number.POSITIVE_INFINITY },
    { firstByteBy: Number.NaN },
    { env: null },
    { env: 'text' },
    { clientAddress: '' },
    { prefix: '/elsewhere' },
    { prefix: '//' },
  ])('%j is survived', async (told) => {
    const { client } = await serve(told)
    const [reply] = await client.send([toCall(IMPLEMENTED.modern, 'say')])
    expect(reply!.message?.result).toMatchObject({ content: [{ text: 'said' }] })
  })

  it.each([0, -1, 1])('a deadline of %s, long ago, ends a call at once', async (deadline) => {
    const { client } = await serve({ deadline })
    const { message } = await client.begin(toCall(IMPLEMENTED.modern, 'wait')).reply
    expect(message?.error?.data).toMatchObject({ limit: 'deadline' })
  })

  it('a waitUntil that throws is reported, and fails no tool', async () => {
    const { probe, client } = await serve({
      waitUntil: () => {
        throw new Error('too late')
      },
    })
    const [reply] = await client.send([toCall(IMPLEMENTED.modern, 'later')])
    expect(reply!.message?.result).toMatchObject({ content: [{ text: 'now' }] })
    await eventually(() => expect(probe.reports.toSorted()).toEqual(['later failed', 'too late']))
  })
})

it('what opens a connection is no larger than a platform takes', async () => {
  const server = new MCPServer({
    id: 'wordy',
    name: 'Wordy',
    version: '1.0.0',
    instructions: 'x'.repeat(10_000),
    log: false,
  })
  const front = await FRONTS.serve(server, { maxResponseBytes: 5000 })
  onEnd(front.close)
  const target = { ...front, token: undefined }
  const clientInfo = { name: 'guards', version: '1' }
  const params = { protocolVersion: clients.LEGACY, capabilities: {}, clientInfo }
  const [opened] = await (await clients.legacy(target)).send([{ method: 'initialize', params }])
  const [discovered] = await (await clients.modern(target)).send([{ method: 'server/discover' }])
  for (const reply of [opened!, discovered!])
    expect(reply.message?.error?.data).toMatchObject({ limit: 'responseBytes' })
})

describe('what a caller makes up', () => {
  it('names of arguments are cut in the audit trail', async () => {
    const { probe, connect } = await starting(IMPLEMENTED.modern)({ http: {} })
    const client = await connect()
    const args = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`${index}`.repeat(200), index]),
    )
    await client.send([toCall(IMPLEMENTED.modern, 'say', { ...args, ['x'.repeat(100_000)]: 1 })])
    expect(JSON.stringify(probe.audit[0]).length).toBeLessThan(50_000)
  })

  const sampled = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1n } }
  const form = { type: 'object', properties: { count: { type: 'number', default: 1n } } }
  it.each<[string, (ctx: SdkToolContext) => unknown]>([
    ['ctx.elicit', (ctx) => ctx.elicit({ message: 'How many?', requestedSchema: form as never })],
    ['ctx.createMessage', (ctx) => ctx.createMessage?.({ messages: [], maxTokens: 1n as never })],
    ['mcpReq.send', (ctx) => ctx.mcp.extra.mcpReq.send(sampled)],
    ['a returned question', () => ({ resultType: 'input_required', inputRequests: { amount: sampled } })],
  ])('%s with what is no JSON is answered and reported, and the process goes on', async (_how, execute) => {
    const probe = new Probe()
    const uncaught = vi.fn()
    process.on('uncaughtException', uncaught)
    onEnd(() => process.off('uncaughtException', uncaught))
    const ask = createSdkTool({ id: 'ask', execute: (_input, ctx) => execute(ctx) })
    const server = new MCPServer({
      id: 'asks',
      name: 'Asks',
      version: '1.0.0',
      tools: { ask },
      ...probe.write,
    })
    const front = await FRONTS.serve(server, {})
    onEnd(front.close)
    const client = await clients.modern({ ...front, token: undefined })
    const [reply] = await client.send([{ method: 'tools/call', params: { name: 'ask', arguments: {} } }], {
      body: (text) =>
        text.replace('lientCapabilities":{}', 'lientCapabilities":{"elicitation":{},"sampling":{}}'),
    })
    expect(reply!.message).toMatchObject({ id: expect.any(Number) })
    expect(reply!.message?.result?.resultType).not.toBe('input_required')
    expect(probe.reports).toHaveLength(1)
    expect(uncaught).not.toHaveBeenCalled()
  })
})

describe('executeTool', () => {
  it('is not guarded by who calls, but by the tool’s own schema; work left behind is reported', async () => {
    const probe = new Probe()
    const server = createOurs(probe, { auth: true })
    await expect(server.executeTool('say', { text: 5 })).rejects.toThrow('Invalid arguments')
    await expect(server.executeTool('nothing', {})).rejects.toThrow('Unknown tool')
    expect(await server.executeTool('later', {})).toBe('now')
    await eventually(() => expect(probe.reports).toEqual(['later failed']))
    expect(probe.audit).toEqual([])
  })

  it('leaves no listener on a signal that outlives it', async () => {
    const { signal } = new AbortController()
    await createOurs(new Probe(), {}).executeTool('say', {}, { signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('ends with its signal', async () => {
    const probe = new Probe()
    const over = new AbortController()
    const waiting = createOurs(probe, {}).executeTool('wait', {}, { signal: over.signal })
    await eventually(() => expect(probe.count('wait')).toBe(1))
    over.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})
