/** `mayfly check` finds each thing that is broken, on a server that is well but for that. */
import { describe, expect, test } from 'vitest'
import { isLocalHost } from '../../deploy/check/addresses.ts'
import { runProbes } from '../../deploy/check/run.ts'
import { judgePlain } from '../../deploy/check/transport.ts'
import { createMemoryBus } from '../../src/index.ts'
import {
  asExpected,
  type Breakage,
  broken,
  check,
  type Expected,
  found,
  methodOf,
  sdkV1Sessions,
  withHeaders,
  withJson,
} from './_check-servers.ts'

interface Case {
  readonly name: string
  readonly change: Breakage
  /** All that is found, and nothing else. */
  readonly finds: readonly Expected[]
}

/** The first tool of every list, with members changed. */
function withTool(changes: object): Breakage {
  return async (_request, next) =>
    withJson(await next(), (message) => {
      const { tools } = message.result ?? {}
      if (!Array.isArray(tools)) return message
      return { ...message, result: { ...message.result, tools: [{ ...tools[0], ...changes }] } }
    })
}

function withProperty(schema: object): object {
  return { inputSchema: { type: 'object', properties: { a: schema } } }
}

function nested(depth: number): object {
  return depth === 0 ? { type: 'string' } : { type: 'array', items: nested(depth - 1) }
}

/** A page of tools after the other, each with a cursor that was never there. */
function endlessly(toolsOf: (page: number) => object[]): Breakage {
  let page = 0
  return async (_request, next) =>
    withJson(await next(), (message) => {
      if (!message.result?.tools) return message
      page += 1
      return { ...message, result: { ...message.result, tools: toolsOf(page), nextCursor: `page-${page}` } }
    })
}

/** Prompts come as a stream of one event. */
function inStreams(write: (data: string) => string): Breakage {
  return async (request, next) => {
    if ((await methodOf(request)) !== 'prompts/list') return next()
    return stream([write(await (await next()).text())], 'closed')
  }
}

/** The answer to one JSON-RPC method in place of Mayfly’s; the rest is Mayfly’s. */
function inPlaceOf(method: string, respond: () => Response | Promise<Response>): Breakage {
  return async (request, next) => ((await methodOf(request)) === method ? respond() : next())
}

const withoutCors = (response: Response): Response =>
  withHeaders(response, {
    'access-control-allow-origin': undefined,
    'access-control-allow-headers': undefined,
  })

const STACK = `Error: boom\n    at handler (/srv/shop/dist/server.js:10:15)\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`

const error = (code: number, message: string) => ({ jsonrpc: '2.0', id: null, error: { code, message } })

const ONE_FAULT: readonly Case[] = [
  {
    name: 'no CORS',
    change: async (request, next) =>
      request.method === 'OPTIONS' ? new Response(null, { status: 405 }) : withoutCors(await next()),
    finds: [['cors.preflight', 'degrades']],
  },
  {
    name: 'a preflight that wants a token',
    change: (request, next) => (request.method === 'OPTIONS' ? new Response(null, { status: 401 }) : next()),
    finds: [['cors.preflight', 'wrong']],
  },
  {
    name: 'a preflight that does not allow the MCP headers',
    change: async (request, next) =>
      request.method === 'OPTIONS'
        ? withHeaders(await next(), { 'access-control-allow-headers': 'content-type, authorization' })
        : next(),
    finds: [['cors.headers', 'wrong']],
  },
  {
    name: 'answers without CORS headers, though the preflight has them',
    change: async (request, next) => (request.method === 'OPTIONS' ? next() : withoutCors(await next())),
    finds: [['cors.answer', 'wrong']],
  },
  {
    name: 'a session id that pages cannot read',
    change: async (_request, next) =>
      withHeaders(await next(), { 'access-control-expose-headers': undefined }),
    finds: [['cors.exposed', 'wrong']],
  },
  {
    name: '500 on bad JSON, with a stack and paths',
    change: async (request, next) =>
      request.method === 'POST' && (await isBadJson(request))
        ? Response.json(error(-32603, STACK), { status: 500 })
        : next(),
    finds: [
      ['errors.json', 'wrong'],
      ['afterwards.faults', 'wrong'],
      ['afterwards.stacks', 'wrong'],
      ['afterwards.paths', 'wrong'],
    ],
  },
  {
    name: 'a stack in an error that is otherwise right',
    change: async (_request, next) =>
      withJson(await next(), (message) =>
        message.error?.code === -32601
          ? { ...message, error: { ...message.error, data: { stack: STACK.replace(/\(.*?\)/g, '(x:1:2)') } } }
          : message,
      ),
    finds: [['afterwards.stacks', 'wrong']],
  },
  {
    name: 'a listen that never answers',
    change: inPlaceOf('subscriptions/listen', () => new Promise<Response>(() => {})),
    finds: [['listen.acknowledged', 'wrong']],
  },
  {
    name: 'a listen stream that says nothing',
    change: inPlaceOf('subscriptions/listen', () => stream([], 'open')),
    finds: [
      ['listen.acknowledged', 'wrong'],
      ['listen.ends', 'wrong'],
      ['listen.unbuffered', 'degrades'],
    ],
  },
  {
    name: 'a listen stream that stays open for nothing',
    change: async (request, next) => {
      if ((await methodOf(request)) !== 'subscriptions/listen') return next()
      const [acknowledgement] = (await (await next()).text()).split('\n\n')
      return withHeaders(stream([`${acknowledgement}\n\n`], 'open'), { 'x-accel-buffering': 'no' })
    },
    finds: [['listen.ends', 'degrades']],
  },
  {
    name: 'no listen at all, though nothing is promised',
    change: inPlaceOf('subscriptions/listen', () =>
      Response.json(error(-32601, 'Method not found'), { status: 404 }),
    ),
    finds: [['listen.acknowledged', 'degrades']],
  },
  {
    name: 'JSON that is called HTML',
    change: async (request, next) =>
      request.method === 'POST' && (await methodOf(request)) === 'server/discover'
        ? withHeaders(await next(), { 'content-type': 'text/html' })
        : next(),
    finds: [
      ['eras.modern', 'wrong'],
      ['errors.answer-type', 'wrong'],
      ['errors.ids', 'wrong'],
      ['accept.stream', 'degrades'],
    ],
  },
  {
    name: 'headers that are not compared with the body',
    change: async (request, next) => {
      if (request.method !== 'POST') return next()
      const body = await request.clone().text()
      const { method, params } = parse(body)
      const version = params?._meta?.['io.modelcontextprotocol/protocolVersion']
      if (version === undefined) return next()
      const headers = new Headers(request.headers)
      headers.set('mcp-protocol-version', version)
      headers.set('mcp-method', method ?? '')
      if (params?.name !== undefined)
        headers.set('mcp-name', `=?base64?${Buffer.from(params.name).toString('base64')}?=`)
      return next(new Request(request, { headers }))
    },
    finds: [
      ['modern.version-header', 'wrong'],
      ['modern.method-header', 'wrong'],
      ['modern.method-header-missing', 'wrong'],
      // The tool does not exist: a server may say so before it looks at the header.
      ['modern.name-header', 'degrades'],
      ['modern.name-header-missing', 'degrades'],
    ],
  },
  {
    name: 'Mcp-Name that is not decoded',
    change: async (request, next) =>
      request.headers.get('mcp-name')?.startsWith('=?')
        ? Response.json({ ...error(-32020, 'Header mismatch'), id: 1 }, { status: 400 })
        : next(),
    finds: [['modern.name-base64', 'wrong']],
  },
  {
    name: 'an unsupported version without what is supported',
    change: async (_request, next) =>
      withJson(await next(), (message) =>
        message.error?.code === -32022 ? { ...message, error: { ...message.error, data: {} } } : message,
      ),
    finds: [['modern.version', 'wrong']],
  },
  {
    name: 'an unknown method with 200',
    change: async (_request, next) => {
      const response = await next()
      return response.status === 404
        ? new Response(response.body, { status: 200, headers: response.headers })
        : response
    },
    finds: [['modern.method', 'degrades']],
  },
  {
    name: 'discovery without cache hints',
    change: async (request, next) =>
      (await methodOf(request)) !== 'server/discover'
        ? next()
        : withJson(await next(), (message) => ({
            ...message,
            ...(message.result && { result: { ...message.result, ttlMs: undefined } }),
          })),
    finds: [['eras.modern', 'wrong']],
  },
  {
    name: 'a tool without an object schema',
    change: async (_request, next) =>
      withJson(await next(), (message) =>
        message.result?.tools
          ? {
              ...message,
              result: { ...message.result, tools: [{ name: 'echo', inputSchema: { type: 'string' } }] },
            }
          : message,
      ),
    finds: [['lists.tools', 'wrong']],
  },
  ...[
    ['no description', { description: undefined }, 'lists.descriptions', 'degrades'],
    ['an empty description', { description: ' ' }, 'lists.descriptions', 'degrades'],
    ['description: null', { description: null }, 'lists.tools', 'wrong'],
    ['title: null', { title: null }, 'lists.tools', 'wrong'],
    ['a string as outputSchema', { outputSchema: 'a number' }, 'lists.tools', 'wrong'],
    ['annotations that are words', { annotations: { readOnlyHint: 'yes' } }, 'lists.tools', 'wrong'],
    ['an icon without an address', { icons: [{ mimeType: 'image/png' }] }, 'lists.tools', 'wrong'],
    ['_meta: null', { _meta: null }, 'lists.tools', 'wrong'],
    ['an unknown type', withProperty({ type: 'objekt' }), 'lists.schemas', 'wrong'],
    [
      'an unknown type, deep inside',
      withProperty({ type: 'array', items: { anyOf: [{ type: 1 }] } }),
      'lists.schemas',
      'wrong',
    ],
    ['required: true', withProperty({ type: 'string', required: true }), 'lists.schemas', 'wrong'],
    [
      'a description of a property that is null',
      withProperty({ description: null }),
      'lists.schemas',
      'wrong',
    ],
    ['a pattern that does not compile', withProperty({ pattern: '(' }), 'lists.schemas', 'wrong'],
    ['a reference to nothing', withProperty({ $ref: '#/$defs/none' }), 'lists.schemas', 'wrong'],
    [
      'a reference to elsewhere',
      withProperty({ $ref: 'https://schemas.example/a' }),
      'lists.schemas',
      'wrong',
    ],
    ['a schema that is nested without end', withProperty(nested(200)), 'lists.schemas', 'wrong'],
    [
      'an outputSchema that is invalid inside',
      { outputSchema: { type: 'object', properties: { a: { enum: 'b' } } } },
      'lists.schemas',
      'wrong',
    ],
    [
      'an invalid header name',
      withProperty({ type: 'string', 'x-mcp-header': 'a b' }),
      'lists.schemas',
      'wrong',
    ],
  ].map(
    ([name, tool, id, verdict]): Case => ({
      name: `a tool with ${name}`,
      change: withTool(tool as object),
      finds: [[id, verdict] as Expected],
    }),
  ),
  {
    name: 'a list without end, with new cursors',
    change: endlessly((page) => [
      { name: `tool_${page}`, description: 'A tool', inputSchema: { type: 'object' } },
    ]),
    finds: [['lists.tools', 'wrong']],
  },
  {
    name: 'a list without end, with the same tools and new cursors',
    change: endlessly(() => [{ name: 'echo', description: 'A tool', inputSchema: { type: 'object' } }]),
    finds: [['lists.tools', 'wrong']],
  },
  {
    name: 'a list without end, with empty pages and new cursors',
    change: endlessly(() => []),
    finds: [['lists.tools', 'wrong']],
  },
  {
    name: 'nextCursor: null',
    change: async (_request, next) =>
      withJson(await next(), (message) =>
        message.result?.tools ? { ...message, result: { ...message.result, nextCursor: null } } : message,
      ),
    finds: [['lists.tools', 'wrong']],
  },
  {
    name: 'a prompt whose arguments are an object',
    change: async (_request, next) =>
      withJson(await next(), (message) =>
        message.result?.prompts
          ? { ...message, result: { ...message.result, prompts: [{ name: 'hello', arguments: {} }] } }
          : message,
      ),
    finds: [['lists.prompts', 'wrong']],
  },
  {
    name: 'a capability that is a word',
    change: async (_request, next) =>
      withJson(await next(), (message) =>
        message.result?.capabilities
          ? {
              ...message,
              result: {
                ...message.result,
                capabilities: { tools: {}, resources: {}, prompts: { listChanged: 'yes' } },
              },
            }
          : message,
      ),
    finds: [
      ['eras.legacy.2025-03-26', 'wrong'],
      ['eras.legacy.2025-06-18', 'wrong'],
      ['eras.legacy.2025-11-25', 'wrong'],
      ['eras.modern', 'wrong'],
    ],
  },
  {
    name: 'instructions: null',
    change: async (_request, next) =>
      withJson(await next(), (message) =>
        message.result?.protocolVersion
          ? { ...message, result: { ...message.result, instructions: null } }
          : message,
      ),
    finds: [
      ['eras.legacy.2025-03-26', 'wrong'],
      ['eras.legacy.2025-06-18', 'wrong'],
      ['eras.legacy.2025-11-25', 'wrong'],
    ],
  },
  {
    name: 'plain bytes that are called gzip, where gzip is accepted',
    change: async (request, next) =>
      /gzip/.test(request.headers.get('accept-encoding') ?? '')
        ? withHeaders(await next(), { 'content-encoding': 'gzip' })
        : next(),
    finds: [['transport.encoding', 'wrong']],
  },
  {
    name: 'results with 202, which clients take for "no answer"',
    change: async (request, next) => {
      const method = await methodOf(request)
      const answer = await next()
      return method === 'prompts/list'
        ? new Response(answer.body, { status: 202, headers: answer.headers })
        : answer
    },
    finds: [['lists.prompts', 'wrong']],
  },
  {
    name: 'tools that are not advertised',
    change: async (_request, next) =>
      withJson(await next(), (message) =>
        message.result?.capabilities
          ? {
              ...message,
              result: { ...message.result, capabilities: { prompts: {}, resources: {} } },
            }
          : message,
      ),
    finds: [['lists.tools', 'wrong']],
  },
  {
    name: 'a question to a client that answers none',
    change: async (request, next) => {
      if ((await methodOf(request)) !== 'tools/list') return next()
      const question = { jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: {} }
      const own = await (await next()).text()
      return stream([`data: ${JSON.stringify(question)}\n\n`, `data: ${own}\n\n`], 'closed')
    },
    finds: [['afterwards.questions', 'wrong']],
  },
  {
    name: 'another client’s response before the own one',
    change: async (request, next) => {
      if ((await methodOf(request)) !== 'tools/list') return next()
      const own = await (await next()).text()
      const other = JSON.stringify({ jsonrpc: '2.0', id: 'of-another-client', result: { tools: [] } })
      const safe = { 'x-accel-buffering': 'no', 'x-content-type-options': 'nosniff' }
      return withHeaders(stream([`data: ${other}\n\n`, `data: ${own}\n\n`], 'closed'), {
        ...safe,
        'access-control-allow-origin': '*',
      })
    },
    finds: [['afterwards.strays', 'wrong']],
  },
  {
    name: 'a member beside the result',
    change: async (request, next) =>
      (await methodOf(request)) === 'prompts/list'
        ? withJson(await next(), (message) => ({ ...message, took: 3 }))
        : next(),
    finds: [['lists.prompts', 'wrong']],
  },
  {
    name: 'events of another type than message',
    change: inStreams((data) => `event: response\ndata: ${data}\n\n`),
    finds: [['lists.prompts', 'wrong']],
  },
  {
    name: 'an event that is cut off by the end of the stream',
    change: inStreams((data) => `data: ${data}\n`),
    finds: [['lists.prompts', 'wrong']],
  },
  {
    name: 'JSON in Latin-1',
    change: async (request, next) => {
      if ((await methodOf(request)) !== 'resources/list') return next()
      const answer = await next()
      const body = (await answer.text()).replace('note://1', 'note://caf\u00e9')
      return new Response(Buffer.from(body, 'latin1'), { headers: answer.headers })
    },
    finds: [['afterwards.utf8', 'wrong']],
  },
  {
    name: 'ids that become strings',
    change: async (_request, next) =>
      withJson(await next(), (message) =>
        typeof message.id === 'number' ? { ...message, id: String(message.id) } : message,
      ),
    finds: [['errors.ids', 'wrong']],
  },
  {
    name: 'a page for GET',
    change: (request, next) =>
      request.method === 'GET'
        ? new Response('<h1>Hello</h1>', { headers: { 'content-type': 'text/html' } })
        : next(),
    finds: [['methods.get', 'wrong']],
  },
  {
    name: '405 without Allow',
    change: async (_request, next) => withHeaders(await next(), { allow: undefined }),
    finds: [
      ['methods.get', 'degrades'],
      ['methods.delete', 'degrades'],
    ],
  },
  {
    name: 'a notification that is answered',
    change: async (request, next) =>
      String(await methodOf(request)).startsWith('notifications/')
        ? Response.json({ jsonrpc: '2.0', id: null, result: {} })
        : next(),
    finds: [['errors.notification', 'degrades']],
  },
  {
    name: 'any content type',
    change: (request, next) => {
      const headers = new Headers(request.headers)
      headers.set('content-type', 'application/json')
      return request.method === 'POST' ? next(new Request(request, { headers })) : next()
    },
    finds: [['errors.content-type', 'degrades']],
  },
  {
    name: 'initialize in a version of the client’s own making',
    change: async (request, next) => {
      const { method, params } = parse(await request.clone().text())
      return method === 'initialize'
        ? withJson(await next(), ({ result, ...message }) => ({
            ...message,
            result: { ...result, protocolVersion: params?.protocolVersion },
          }))
        : next()
    },
    finds: [['eras.negotiation', 'wrong']],
  },
  {
    name: 'JSON for those alone who accept streams too',
    change: (request, next) =>
      request.method !== 'POST' || request.headers.get('accept')?.includes('json, text/event-stream')
        ? next()
        : Response.json(error(-32000, 'Not Acceptable'), { status: 406 }),
    finds: [
      ['accept.json', 'degrades'],
      ['accept.any', 'degrades'],
      ['accept.absent', 'degrades'],
      ['accept.stream', 'degrades'],
    ],
  },
  {
    name: 'no security headers',
    change: async (_request, next) => withHeaders(await next(), { 'x-content-type-options': undefined }),
    finds: [['security.nosniff', 'degrades']],
  },
  {
    name: 'a modern era that hangs',
    change: async (request, next) =>
      request.headers.get('mcp-protocol-version') === '2026-07-28' ? new Promise<Response>(() => {}) : next(),
    finds: [['eras.modern', 'wrong']],
  },
]

/** What everything else depends on: more is found than the one thing, which is among it. */
const MANY_FAULTS: readonly Case[] = [
  {
    name: 'a proxy that drops the MCP headers',
    change: async (request, next) => {
      const headers = new Headers(request.headers)
      headers.delete('mcp-method')
      return request.method === 'POST' ? next(new Request(request, { headers })) : next()
    },
    finds: [['eras.modern', 'wrong']],
  },
  {
    name: 'no server/discover',
    change: inPlaceOf('server/discover', () =>
      Response.json(error(-32601, 'Method not found'), { status: 404 }),
    ),
    finds: [['eras.modern', 'wrong']],
  },
  {
    name: 'pages without end',
    change: async (_request, next) =>
      withJson(await next(), (message) =>
        message.result?.prompts
          ? { ...message, result: { ...message.result, nextCursor: 'again' } }
          : message,
      ),
    finds: [['lists.prompts', 'wrong']],
  },
  {
    name: 'a version at initialize that no client knows',
    change: async (request, next) =>
      (await methodOf(request)) === 'initialize'
        ? withJson(await next(), ({ result, ...message }) => ({
            ...message,
            result: { ...result, protocolVersion: '2030-01-01' },
          }))
        : next(),
    finds: [
      ['eras.legacy.2025-03-26', 'wrong'],
      ['eras.legacy.2025-06-18', 'wrong'],
      ['eras.legacy.2025-11-25', 'wrong'],
      ['eras.negotiation', 'wrong'],
    ],
  },
  {
    name: 'a list over 1 MiB',
    change: async (_request, next) =>
      withJson(await next(), (message) =>
        message.result?.tools
          ? { ...message, result: { ...message.result, padding: 'x'.repeat(1_100_000) } }
          : message,
      ),
    finds: [['lists.tools', 'degrades']],
  },
  {
    name: 'an unknown tool that seems to run',
    change: inPlaceOf('tools/call', () =>
      Response.json({ jsonrpc: '2.0', id: null, result: { content: [], resultType: 'complete' } }),
    ),
    finds: [
      ['modern.unknown-tool', 'wrong'],
      ['legacy.unknown-tool', 'wrong'],
    ],
  },
]

// At once, as far as vitest goes: some only wait.
describe('one thing broken', { concurrent: true }, () => {
  test.for(ONE_FAULT)('$name', async ({ change, finds }) => {
    await using server = await broken(change)
    const results = found(await check(server.url))

    expect(asExpected(results)).toEqual(finds.toSorted())
    for (const result of results) expect(result).toMatchObject({ fix: expect.stringMatching(/^\S.{10,}/) })
  })

  test.for(MANY_FAULTS)('$name', async ({ change, finds }) => {
    await using server = await broken(change)

    expect(asExpected(found(await check(server.url)))).toEqual(expect.arrayContaining([...finds]))
  })
})

test('a session that is gone is 400, not 404', async () => {
  await using server = await sdkV1Sessions(400)

  expect(asExpected(found(await check(server.url)))).toContainEqual(['legacy.session-unknown', 'wrong'])
})

test('a stream on a bus that is acknowledged with what was never advertised', async () => {
  await using server = await broken(
    async (request, next) =>
      (await methodOf(request)) === 'server/discover'
        ? withJson(await next(), (message) => ({
            ...message,
            result: { ...message.result, capabilities: {} },
          }))
        : next(),
    { bus: createMemoryBus() },
  )

  expect(asExpected(found(await check(server.url)))).toEqual([['listen.acknowledged', 'degrades']])
})

test('any page is allowed, with the cookies of its visitors', async () => {
  await using server = await broken(async (request, next) => {
    const origin = request.headers.get('origin')
    if (origin === null) return next()
    const headers = new Headers(request.headers)
    headers.delete('origin')
    return withHeaders(await next(new Request(request, { headers })), {
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers':
        'content-type, authorization, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id',
      'access-control-expose-headers': 'mcp-session-id',
      vary: 'Origin',
    })
  })
  const { url } = server
  const options = { url, bearer: undefined, headers: {}, timeoutMs: 5000 }
  const foreign = await runProbes({ ...options, origin: 'https://mayfly-check.example' })

  expect(asExpected(found(foreign))).toContainEqual(['cors.answer', 'degrades'])
})

test.for([
  'localhost',
  '127.0.0.1',
  '127.0.0.9',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  'shop.localhost',
  'localhost.',
])('%s is on this machine: a foreign Origin must be refused there', (host) => {
  expect(isLocalHost(new URL(`http://${host}/`).hostname)).toBe(true)
})

test.for(['shop.example', 'localhost.example', '10.0.0.1', '8.8.8.8', '127.0.0.1.example'])(
  '%s is not on this machine',
  (host) => {
    expect(isLocalHost(new URL(`http://${host}/`).hostname)).toBe(false)
  },
)

test.for([
  [undefined, 'works'],
  [200, 'degrades'],
  [301, 'degrades'],
  [308, 'works'],
  [404, 'works'],
] as const)('the http twin of an https URL answers %s → %s', ([status, verdict]) => {
  const headers = new Headers({ location: 'https://shop.example/mcp' })

  expect(judgePlain(status && { status, headers }).verdict).toBe(verdict)
})

function parse(body: string): {
  method?: string
  params?: { name?: string; protocolVersion?: string; _meta?: Record<string, string> }
} {
  try {
    return JSON.parse(body) as object
  } catch {
    return {}
  }
}

async function isBadJson(request: Request): Promise<boolean> {
  return request
    .clone()
    .json()
    .then(
      () => false,
      () => true,
    )
}

function stream(events: readonly string[], end: 'open' | 'closed'): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const event of events) controller.enqueue(new TextEncoder().encode(event))
      if (end === 'closed') controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
