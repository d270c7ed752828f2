import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createTool, ErrorCode, ProtocolError } from '../../src/index.ts'
import { openTelemetry, type Telemetry, type TracedOutcome } from '../../src/otel.ts'
import { createServer, legacyRequest, modernRequest, type SendOptions } from './_client.ts'
import { Contexts } from './_contexts.ts'

const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })

beforeAll(() => {
  context.setGlobalContextManager(new Contexts())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  trace.setGlobalTracerProvider(provider)
})
beforeEach(() => exporter.reset())
afterAll(() => {
  context.disable()
  propagation.disable()
  trace.disable()
})

it('what a client makes up is cut', async () => {
  const long = 'x'.repeat(1_000_000)
  await server.fetch(legacyRequest('tools/call', { name: long }, { id: long }))
  await server.fetch(legacyRequest('resources/read', { uri: long }, { headers: { 'mcp-session-id': long } }))
  await server.fetch(legacyRequest(long))
  const spans = exporter.getFinishedSpans()
  expect(spans).toHaveLength(3)
  for (const { name, attributes } of spans) {
    expect(name.length).toBeLessThan(300)
    for (const value of Object.values(attributes)) expect(String(value).length).toBeLessThan(300)
  }
})

it('a client that leaves a stream is the outcome, whatever comes of its call', async () => {
  const outcomes: TracedOutcome[] = []
  const telemetry: Telemetry = {
    start: () => ({ run: (work) => work(), end: (outcome) => void outcomes.push(outcome) }),
  }
  const chatty = createTool({
    id: 'chatty',
    execute: (_input, ctx) => {
      ctx.log('info', 'begun')
      return new Promise(() => {})
    },
  })
  const response = await createServer({ telemetry, tools: { chatty } }).fetch(
    legacyRequest('tools/call', { name: 'chatty' }),
  )
  await response.body!.cancel()
  expect(outcomes).toMatchObject([{ status: 499 }])
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`
const OTHER = '00-11111111111111111111111111111111-2222222222222222-01'

const server = createServer({
  telemetry: openTelemetry(),
  tools: {
    work: createTool({
      id: 'work',
      execute: async (_input, ctx) => {
        ctx.log('info', 'working')
        await Promise.resolve()
        trace.getTracer('tool').startSpan('inside').end()
        return 'done'
      },
    }),
    fail: createTool({
      id: 'fail',
      execute: () => {
        throw new Error('broken')
      },
    }),
  },
})

async function spansOf(method: string, params: object, options: SendOptions = {}) {
  await (await server.fetch(modernRequest(method, { ...params }, options))).text()
  return exporter.getFinishedSpans()
}

describe('openTelemetry', () => {
  it('draws a server span a request, and what the tool draws is inside it [telemetry.span]', async () => {
    const [inside, span] = await spansOf('tools/call', { name: 'work', arguments: { secret: 'hush' } })

    expect(span).toMatchObject({
      name: 'tools/call work',
      kind: SpanKind.SERVER,
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'work',
        'gen_ai.operation.name': 'execute_tool',
        'mcp.protocol.version': '2026-07-28',
        'jsonrpc.request.id': '1',
        'http.response.status_code': 200,
      },
    })
    expect(inside?.parentSpanContext?.spanId).toBe(span?.spanContext().spanId)
    expect(JSON.stringify(span?.attributes)).not.toContain('hush')
  })

  it('ends with the stream, not before [telemetry.span]', async () => {
    const meta = { 'io.modelcontextprotocol/logLevel': 'info' }
    const response = await server.fetch(modernRequest('tools/call', { name: 'work' }, { meta }))
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    await response.text()
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['inside', 'tools/call work'])
  })

  it.each<[string, SendOptions]>([
    ['_meta', { meta: { traceparent: PARENT } }],
    ['the headers', { headers: { traceparent: PARENT } }],
    ['_meta rather than the headers', { meta: { traceparent: PARENT }, headers: { traceparent: OTHER } }],
  ])('is a child of the span named in %s [telemetry.parent]', async (_where, options) => {
    const [span] = await spansOf('tools/list', {}, options)
    expect(span?.spanContext().traceId).toBe(TRACE)
    expect(span?.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
  })

  it('a parent that is malformed is none [telemetry.parent]', async () => {
    const [span] = await spansOf('tools/list', {}, { meta: { traceparent: 'x\r\ny', tracestate: 7 } })
    expect(span?.parentSpanContext).toBeUndefined()
  })

  it.each<[string, object, string]>([
    ['tools/call', { name: 'fail' }, 'tool_error'],
    ['tools/call', { name: 'nowhere' }, '-32602'],
    ['no/such-method', {}, '-32601'],
  ])('%s %j is an error: %s [telemetry.span]', async (method, params, type) => {
    const spans = await spansOf(method, params)
    expect(spans.at(-1)).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': type },
    })
  })

  it('holds no arguments, results, errors, tokens or queries, whatever comes of it [telemetry.span]', async () => {
    const hush = 'hunter2'
    const secretive = createServer({
      telemetry: openTelemetry(),
      auth: bearer((token) => ({ clientId: 'desk', scopes: [], extra: { token } })),
      tools: {
        tell: createTool({ id: 'tell', execute: () => hush }),
        fail: createTool({
          id: 'fail',
          execute: () => {
            throw new Error(hush)
          },
        }),
        refuse: createTool({
          id: 'refuse',
          execute: () => {
            throw new ProtocolError(ErrorCode.invalidParams, hush, { hush })
          },
        }),
      },
    })
    for (const name of ['tell', 'fail', 'refuse']) {
      for (const make of [modernRequest, legacyRequest]) {
        const params = { name, arguments: { [hush]: hush } }
        const url = `https://mcp.example/mcp?key=${hush}`
        const headers = { authorization: `Bearer ${hush}`, cookie: hush, 'x-api-key': hush }
        await (await secretive.fetch(make('tools/call', params, { url, headers }))).text()
      }
    }
    const spans = exporter.getFinishedSpans()
    expect(spans).toHaveLength(6)
    const told = spans.map(({ name, attributes, status, events, links }) => [
      name,
      attributes,
      status,
      events,
      links,
    ])
    expect(JSON.stringify(told)).not.toContain(hush)
  })

  it('what a client makes up is cut, as in the log [telemetry.span]', async () => {
    const long = 'x'.repeat(1_000_000)
    await spansOf('tools/call', { name: long })
    await spansOf('prompts/get', { name: long })
    await spansOf('resources/read', { uri: `x://${long}` })
    await spansOf('no/such', {}, { id: long })
    await (await server.fetch(legacyRequest(long))).text()
    const spans = exporter.getFinishedSpans()
    expect(spans).toHaveLength(5)
    for (const { name, attributes } of spans)
      for (const value of [name, ...Object.values(attributes)]) expect(String(value).length).toBeLessThan(300)
  })

  it('legacy requests have spans too [telemetry.span]', async () => {
    await (await server.fetch(legacyRequest('ping'))).text()
    expect(exporter.getFinishedSpans()).toMatchObject([
      { name: 'ping', attributes: { 'mcp.protocol.version': '2025-11-25' } },
    ])
  })
})
