/**
 * Whatever is sent: the answer is well-formed and timely, it is never the server's fault, and the next client is served.
 */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { createMemoryBus, createPrompt, createResource, createTool, MCPServer } from '../../src/index.ts'
import { answerOf, inBase64, type JsonObject, messagesOf, modernRequest } from './_client.ts'
import { check } from './_seeded.ts'

/** Generous: only a hang takes so long. */
const PATIENCE_MS = 5_000

/** Answers without JSON-RPC: accepted, preflight, not found. The page and the health check are told by their type. */
const BARE_STATUSES = [202, 204, 404]

const faults: unknown[] = []

const server = new MCPServer({
  id: 'target',
  name: 'Target',
  version: '1.0.0',
  log: false,
  bus: createMemoryBus(),
  // Streams that wait for changes are part of what is tested, waiting is not.
  http: { maxListenMs: 1, maxBodyBytes: 65_536 },
  secret: 'a secret of thirty-two characters!',
  onError: (error, facts) => {
    // Forged state is reported to the operator, but it is the client's fault.
    if (facts.refused === undefined) faults.push(error)
  },
  tools: {
    echo: createTool({
      id: 'echo',
      inputSchema: z.object({ text: z.string(), times: z.int().min(1).max(3).default(1) }),
      execute: ({ text, times }, context) => {
        context.reportProgress({ progress: 1 })
        context.log('info', text)
        return text.repeat(times)
      },
    }),
    confirm: createTool({
      id: 'confirm',
      execute: async (_input, context) => {
        const first = await context.step('first', () => 'remembered')
        const answer = await context.elicit('Sure?', z.object({ sure: z.boolean() }))
        const again = await context.elicit('Really?', z.object({ sure: z.boolean() }))
        return { first, actions: [answer.action, again.action] }
      },
    }),
    region: createTool({
      id: 'region',
      inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
      outputSchema: z.object({ region: z.string() }),
      execute: ({ region }) => ({ region }),
    }),
  },
  resources: [
    createResource({ uri: 'doc://readme', read: () => 'read me' }),
    createResource({
      uriTemplate: 'users://{id}{?fields}',
      complete: { id: (value) => [value] },
      read: ({ variables }) => JSON.stringify(variables),
    }),
  ],
  prompts: {
    greet: createPrompt({
      argsSchema: z.object({ name: z.string(), style: z.string().optional() }),
      complete: { style: (value) => [value] },
      get: ({ name }) => name,
    }),
  },
})

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
})

afterEach(() => {
  vi.restoreAllMocks()
})

async function inTime<Value>(promise: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('No answer: it hangs.')), PATIENCE_MS)
  })
  return Promise.race([promise, tooLate]).finally(() => clearTimeout(timer))
}

/** Sends it, reads the whole answer, and then asks something sensible. */
async function survive(request: Request): Promise<void> {
  faults.length = 0
  const response = await inTime(server.fetch(request))
  const type = response.headers.get('content-type')
  const messages = await inTime(messagesOf(response))
  expect(response.status).toBeLessThan(500)
  if (request.method === 'HEAD') {
    expect(messages).toEqual([])
  } else if (request.method === 'GET' && response.status === 200) {
    expect(['application/json', 'text/html; charset=utf-8']).toContain(type)
  } else if (messages.length === 0) {
    expect(BARE_STATUSES).toContain(response.status)
  } else {
    for (const message of messages) expect(isJsonRpc(message), JSON.stringify(message)).toBe(true)
  }
  expect(faults).toEqual([])

  const params = { name: 'echo', arguments: { text: 'still here' } }
  const { status, result } = await answerOf(await server.fetch(modernRequest('tools/call', { params })))
  expect({ status, content: result?.content }).toEqual({
    status: 200,
    content: [{ type: 'text', text: 'still here' }],
  })
}

function isJsonRpc({ jsonrpc, id, method, result, error }: JsonObject): boolean {
  if (jsonrpc !== '2.0') return false
  if (method !== undefined) return typeof method === 'string' && id === undefined
  const hasId = typeof id === 'string' || Number.isSafeInteger(id)
  if (error === undefined) return hasId && result instanceof Object
  const { code, message } = error as { code: unknown; message: unknown }
  return (hasId || id === undefined) && Number.isInteger(code) && typeof message === 'string'
}

/** Requests that are right, to be spoiled. */
const KEY = 'io.modelcontextprotocol/'
const META = {
  [`${KEY}protocolVersion`]: '2026-07-28',
  [`${KEY}clientInfo`]: { name: 'x', version: '1' },
  [`${KEY}clientCapabilities`]: { elicitation: { form: {} } },
  progressToken: 1,
}
const CALLS: readonly (readonly [method: string, params: JsonObject])[] = [
  ['server/discover', {}],
  ['tools/list', { cursor: 'p1' }],
  ['tools/call', { name: 'echo', arguments: { text: 'hi', times: 2 } }],
  ['tools/call', { name: 'region', arguments: { region: 'eu' } }],
  [
    'tools/call',
    {
      name: 'confirm',
      inputResponses: { q1: { action: 'accept', content: { sure: true } } },
      requestState: 'AAAA',
    },
  ],
  [
    'tools/call',
    { name: 'confirm', arguments: { _continue: { token: 'x', answers: { q1: { sure: true } } } } },
  ],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'users://ada?fields=name' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'greet', arguments: { name: 'Ada' } }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'style', value: 'f' } },
  ],
  [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'users://{id}{?fields}' }, argument: { name: 'id', value: 'a' } },
  ],
  [
    'subscriptions/listen',
    { notifications: { toolsListChanged: true, resourceSubscriptions: ['doc://readme'] } },
  ],
  [
    'initialize',
    { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 'x', version: '1' } },
  ],
  ['ping', {}],
  ['logging/setLevel', { level: 'info' }],
  ['resources/subscribe', { uri: 'doc://readme' }],
]

interface Wire {
  readonly headers: { readonly [name: string]: string }
  readonly message: JsonObject
}

const VERSIONS = ['2026-07-28', '2025-11-25', '2025-03-26'] as const

function toWire([method, params]: (typeof CALLS)[number], version: string): Wire {
  const isModern = version === '2026-07-28'
  const name = params.uri ?? params.name
  return {
    headers: {
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': inBase64(name) }),
      'mcp-param-region': 'eu',
    },
    message: { jsonrpc: '2.0', id: 1, method, params: isModern ? { ...params, _meta: META } : params },
  }
}

const valid = fc
  .tuple(fc.constantFrom(...CALLS), fc.constantFrom(...VERSIONS))
  .map(([call, version]) => toWire(call, version))

/** Values that break what takes them for something else. */
const HOSTILE: readonly unknown[] = [
  null,
  true,
  -0,
  1.5,
  1e300,
  '',
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  [],
  [[]],
  {},
  // Converting these to text throws, or lies.
  { toString: 1 },
  { toString: null, valueOf: null },
  { length: 1e9 },
]

const hostileJson = fc.oneof(fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }), fc.constantFrom(...HOSTILE))

/** The message with the value at some place replaced, removed, or put under another key. */
const mutated = fc
  .record({
    wire: valid,
    places: fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
    value: hostileJson,
    how: fc.constantFrom('replace', 'remove', 'rename', 'wrap'),
    key: fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'id')),
  })
  .map(({ wire, places, value, how, key }) => {
    const message = structuredClone(wire.message) as Record<string, unknown>
    let node = message
    for (const [index, place] of places.entries()) {
      const names = Object.keys(node)
      const name = names[place % names.length]
      if (name === undefined) break
      const child = node[name]
      const isLast = index === places.length - 1 || child === null || typeof child !== 'object'
      if (!isLast) {
        node = child as Record<string, unknown>
        continue
      }
      if (how !== 'replace') delete node[name]
      const next = how === 'wrap' ? [child] : how === 'rename' ? child : value
      const target = how === 'rename' ? key : name
      // Defined, not assigned: "__proto__" must become a key of its own.
      if (how !== 'remove')
        Object.defineProperty(node, target, {
          value: next,
          enumerable: true,
          configurable: true,
          writable: true,
        })
      break
    }
    return { headers: wire.headers, body: JSON.stringify(message) ?? '' }
  })

/** The text of the message with some of it cut out and something put in. */
const garbled = fc
  .record({
    wire: valid,
    at: fc.nat(),
    cut: fc.nat({ max: 12 }),
    insert: fc.string({ unit: 'binary', maxLength: 6 }),
  })
  .map(({ wire, at, cut, insert }) => {
    const text = JSON.stringify(wire.message)
    const from = at % text.length
    return { headers: wire.headers, body: text.slice(0, from) + insert + text.slice(from + cut) }
  })

const HEADER_NAMES = [
  'accept',
  'content-type',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'mcp-param-region',
  'mcp-session-id',
  'last-event-id',
  'origin',
  'host',
  'content-length',
  'x-request-id',
  'authorization',
  'access-control-request-method',
  'access-control-request-headers',
]

const headerValue = fc
  .oneof(
    fc.string({ maxLength: 60 }),
    fc.string({ unit: 'binary-ascii', maxLength: 60 }),
    fc.stringMatching(/^[\u0020-\u00ff]{1,40}$/),
    fc.constantFrom(
      'application/json',
      'text/event-stream',
      '*/*',
      'text/html',
      '2026-07-28',
      '2025-03-26',
      '9999-99-99',
      '=?base64??=',
      '=?base64?////?=',
      'null',
      '-1',
      'https://evil.example',
    ),
    fc.string({ unit: fc.constantFrom('a', ','), minLength: 5_000, maxLength: 9_000 }),
  )
  .filter(isHeaderValue)

function isHeaderValue(value: string): boolean {
  try {
    new Headers({ x: value })
    return true
  } catch {
    return false
  }
}

const headers = fc.dictionary(fc.constantFrom(...HEADER_NAMES), headerValue, {
  maxKeys: 5,
  noNullPrototype: true,
})

const JSON_HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

function post(body: BodyInit, headers: { readonly [name: string]: string } = {}): Request {
  return new Request('http://mcp.example/mcp', {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body,
  })
}

function* placesOf(node: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (path.length > 0) yield path
  if (node === null || typeof node !== 'object') return
  for (const [name, child] of Object.entries(node)) yield* placesOf(child, [...path, name])
}

function withValue(message: JsonObject, path: readonly string[], value: unknown): JsonObject {
  const copy = structuredClone(message) as Record<string, unknown>
  let node = copy
  for (const name of path.slice(0, -1)) node = node[name] as Record<string, unknown>
  node[path.at(-1)!] = value
  return copy
}

describe('the server survives', () => {
  test.each(VERSIONS)('each value of each message of %s, replaced by each hostile one', async (version) => {
    for (const call of CALLS) {
      const { headers, message } = toWire(call, version)
      for (const place of placesOf(message)) {
        for (const value of HOSTILE)
          await survive(post(JSON.stringify(withValue(message, place, value)), headers))
      }
    }
  })

  test('random bytes', async () => {
    await check(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), headers, async (bytes, extra) => {
        await survive(post(new Uint8Array(bytes), extra))
      }),
      300,
    )
  })

  test('random JSON', async () => {
    await check(
      fc.asyncProperty(
        fc.oneof(
          fc.json({ maxDepth: 6 }),
          hostileJson.map((value) => JSON.stringify(value)),
        ),
        async (text) => {
          await survive(post(text))
        },
      ),
      400,
    )
  })

  test('messages of one wrong value', async () => {
    await check(
      fc.asyncProperty(mutated, async ({ headers, body }) => {
        await survive(post(body, headers))
      }),
      4_000,
    )
  })

  test('messages whose text is garbled', async () => {
    await check(
      fc.asyncProperty(garbled, async ({ headers, body }) => {
        await survive(post(body, headers))
      }),
      600,
    )
  })

  test('batches of right and wrong messages', async () => {
    const element = fc.oneof(
      valid.map(({ message }) => message as unknown),
      mutated.map(({ body }) => JSON.parse(body) as unknown),
      hostileJson,
    )
    await check(
      fc.asyncProperty(fc.array(element, { maxLength: 6 }), headers, async (elements, extra) => {
        await survive(post(JSON.stringify(elements), { 'mcp-protocol-version': '2025-03-26', ...extra }))
      }),
      300,
    )
  })

  test('random headers around right messages', async () => {
    await check(
      fc.asyncProperty(valid, headers, async ({ headers, message }, extra) => {
        await survive(post(JSON.stringify(message), { ...headers, ...extra }))
      }),
      1_000,
    )
  })

  test('random methods and paths', async () => {
    const method = fc
      .oneof(
        fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'),
        fc.stringMatching(/^[A-Za-z!#$%&'*+.^_`|~-]{1,12}$/),
      )
      .filter((name) => !/^(connect|trace|track)$/i.test(name))
    const path = fc.oneof(
      fc.webPath(),
      fc.constantFrom(
        '/',
        '//',
        '/healthz',
        '/x/healthz',
        '/favicon.ico',
        '/.well-known/x',
        '/mcp/',
        '/%00',
        '/%',
      ),
      fc.webQueryParameters().map((query) => `/mcp?${query}`),
    )
    await check(
      fc.asyncProperty(method, path, headers, fc.boolean(), async (method, path, headers, hasBody) => {
        const mayHaveBody = !/^(get|head)$/i.test(method) && hasBody
        const request = new Request(`http://mcp.example${path.startsWith('/') ? path : `/${path}`}`, {
          method,
          headers,
          ...(mayHaveBody && { body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }),
        })
        await survive(request)
      }),
      500,
    )
  })

  test('a body in pieces, or one that breaks off', async () => {
    const chunk = fc.oneof(
      fc.constant('{"jsonrpc":"2.0",'),
      fc.constant('"id":1,"method":"ping"}'),
      fc.string(),
    )
    await check(
      fc.asyncProperty(fc.array(chunk, { maxLength: 5 }), fc.boolean(), async (chunks, breaks) => {
        const encoder = new TextEncoder()
        let index = 0
        const body = new ReadableStream<Uint8Array>({
          pull(controller) {
            if (index < chunks.length) controller.enqueue(encoder.encode(chunks[index++]))
            else if (breaks) controller.error(new Error('connection reset'))
            else controller.close()
          },
        })
        const init = { method: 'POST', headers: JSON_HEADERS, body, duplex: 'half' }
        await survive(new Request('http://mcp.example/mcp', init as RequestInit))
      }),
      200,
    )
  })
})
