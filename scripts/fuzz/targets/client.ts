/**
 * Any bytes from a server to `MCPClient`: `[place, chunk, status, header lines, body]`. The place is the request that gets this answer:
 * the server's era and the method, or a request of the sign-in. All others get correct answers. A chunk is how many bytes come
 * at once; with `~` before it the body has no end. `$ID` in a body is the request's id.
 */
import {
  createMemoryOAuthStorage,
  createOAuthProvider,
  MCPClient,
  MCPClientError,
} from '../../../src/client.ts'
import { MCPServer } from '../../../src/index.ts'
import { generateJson, mutateBytes, mutateJson, mutateText } from '../mutate.ts'
import type { Random } from '../random.ts'
import { fromBytes, type Input, promise, type Target, toBytes } from '../target.ts'

const ORIGIN = 'https://server.example'
/** Secrets that no other origin may get. */
const CANARY = 'canary'
const TIMEOUT_MS = 60
const MAX_BYTES = 20_000
/** What lies in between: what a stream reads ahead. OAuth has a limit of its own where this one is larger. */
const SLACK_BYTES = 200_000
/** Of requests in the life of one client, with what is tried again, and answers to the server's. */
const MAX_REQUESTS = 120

/** Where a body that is repeated has one, each of its events is small. */
const EMPTY_LINE = /\r\n[\r\n]|\n[\r\n]|\r\r/

const JSON_LINE = 'content-type: application/json'
const SSE_LINE = 'content-type: text/event-stream'
const INFO = '"serverInfo":{"name":"s","version":"1"}'
const TOOLS =
  '{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"a":{"type":"number"}}}}'
const CAPABILITIES = '{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}}'
const QUESTION =
  '"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}'

/** Correct answers, by place. */
const RIGHT: { readonly [place: string]: string } = {
  'legacy initialize': `{"protocolVersion":"2025-11-25","capabilities":${CAPABILITIES},${INFO}}`,
  'legacy tools/list': `{"tools":[${TOOLS}]}`,
  'legacy tools/call': '{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}',
  'legacy resources/subscribe': '{}',
  'modern server/discover': `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":${CAPABILITIES},"ttlMs":0,"cacheScope":"private"}`,
  'modern tools/list': `{"resultType":"complete","tools":[${TOOLS}],"ttlMs":0,"cacheScope":"private"}`,
  'modern tools/call':
    '{"resultType":"complete","content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}',
}

/** Documents of a sign-in, by the path that they are found at. */
const DOCUMENTS: { readonly [place: string]: string } = {
  'sign-in /.well-known/oauth-protected-resource/mcp': `{"resource":"${ORIGIN}/mcp","authorization_servers":["${ORIGIN}"]}`,
  'sign-in /.well-known/oauth-authorization-server': `{"issuer":"${ORIGIN}","authorization_endpoint":"${ORIGIN}/authorize","token_endpoint":"${ORIGIN}/token","registration_endpoint":"${ORIGIN}/register","response_types_supported":["code"]}`,
  'sign-in /register': '{"client_id":"c","redirect_uris":["http://127.0.0.1:9/callback"]}',
  'sign-in /token': `{"access_token":"${CANARY}-token","token_type":"Bearer","refresh_token":"${CANARY}-refresh"}`,
}

/** Answered with 401, and this. */
const CHALLENGE = 'sign-in challenge'
const STREAM = 'legacy GET'
const PLACES = [...Object.keys(RIGHT), ...Object.keys(DOCUMENTS), CHALLENGE, STREAM]

const answer = (result: string): string => `{"jsonrpc":"2.0","id":$ID,"result":${result}}`
const event = (message: string): string => `data: ${message}\n\n`

const SEEDS: readonly Input[] = [
  [
    'legacy tools/call',
    '100',
    '200',
    JSON_LINE,
    '{"jsonrpc":"2.0","id":$ID,"error":{"code":-1,"message":"\\u001b[2J\\nx"}}',
  ],
  ...Object.entries(RIGHT).flatMap(([place, result]) => [
    [place, '100', '200', JSON_LINE, answer(result)],
    [place, '7', '200', SSE_LINE, event(answer(result))],
  ]),
  ...Object.entries(DOCUMENTS).map(([place, body]) => [place, '100', '200', JSON_LINE, body]),
  ...['tools/call', 'tools/list', 'initialize'].flatMap((method) => [
    [`legacy ${method}`, '~50000', '200', JSON_LINE, '{"a":"aaaaaaaa'],
    [`legacy ${method}`, '~50000', '200', SSE_LINE, 'data: aaaaaaaa'],
    [
      `legacy ${method}`,
      '100',
      '400',
      JSON_LINE,
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"session"}}',
    ],
    [`legacy ${method}`, '100', '404', '', ''],
    [`legacy ${method}`, '100', '202', '', ''],
    [`legacy ${method}`, '100', '302', 'location: https://other.example/mcp', ''],
  ]),
  [
    'legacy tools/call',
    '100',
    '200',
    SSE_LINE,
    `id: 1\nretry: 0\ndata:\n\n: x\r\rdata: {"jsonrpc":"2.0","id":"q",${QUESTION}}\r\n\r\n`,
  ],
  [
    'legacy tools/call',
    '100',
    '200',
    SSE_LINE,
    'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$ID,"progress":1}}\n\n',
  ],
  [
    'legacy tools/call',
    '100',
    '200',
    JSON_LINE,
    answer('{"content":[],"isError":true,"structuredContent":{"a":"x"}}'),
  ],
  [
    'legacy initialize',
    '100',
    '200',
    `${JSON_LINE}\nmcp-session-id: abc`,
    answer(RIGHT['legacy initialize']!),
  ],
  [
    'legacy tools/list',
    '100',
    '200',
    JSON_LINE,
    answer(
      '{"tools":[null,{"name":"a"},{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}],"nextCursor":"1"}',
    ),
  ],
  ...['legacy', 'modern'].map((era) => [
    `${era} tools/list`,
    '100',
    '200',
    JSON_LINE,
    answer(
      '{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"h","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":5}}}},{"name":"o","inputSchema":{"type":"object"},"outputSchema":{"oneOf":[null]}}]}',
    ),
  ]),
  [
    'modern tools/call',
    '100',
    '200',
    JSON_LINE,
    answer(`{"resultType":"input_required","inputRequests":{"a":{${QUESTION}}},"requestState":"s"}`),
  ],
  [
    STREAM,
    '50',
    '200',
    SSE_LINE,
    `data: {"jsonrpc":"2.0","id":"q",${QUESTION}}\n\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\ndata: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\n`,
  ],
  [
    STREAM,
    '~50',
    '200',
    SSE_LINE,
    'data: {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b"}}\n\n',
  ],
  ...['https://other.example', 'http://127.0.0.1:1', 'https://169.254.169.254'].map((url) => [
    CHALLENGE,
    '1',
    '401',
    `www-authenticate: Bearer resource_metadata="${url}/m", scope="a"`,
    '',
  ]),
  [
    'sign-in /.well-known/oauth-authorization-server',
    '100',
    '200',
    JSON_LINE,
    `{"issuer":"${ORIGIN}","authorization_endpoint":"file:///etc/passwd","token_endpoint":"https://other.example/token","registration_endpoint":"${ORIGIN}/register","response_types_supported":["code"]}`,
  ],
]

const STATUSES = ['200', '202', '204', '301', '307', '400', '401', '403', '404', '405', '429', '500', '503']
const HEADER_LINES = [
  JSON_LINE,
  SSE_LINE,
  'content-type: text/html',
  'content-type: application/json; charset=utf-16',
  'content-encoding: gzip',
  'content-length: 1',
  'mcp-session-id: s',
  'mcp-session-id: \u00e9',
  'location: https://other.example/x',
  'location: /mcp',
  'www-authenticate: Bearer error="insufficient_scope", scope="b"',
  `www-authenticate: Bearer resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp"`,
]
const CHUNKS = ['1', '7', '100', '5000', '~1000', '~50000']

function generate(random: Random): Input {
  const [place, , , , body] = random.pick(SEEDS) as [string, string, string, string, string]
  const lines = [random.pick(HEADER_LINES), random.pick(HEADER_LINES)].join('\n')
  const made = random.chance(0.5) ? answer(generateJson(random, 4)) : mutateJson(body, body, random)
  return [
    random.chance(0.7) ? place : random.pick(PLACES),
    random.pick(CHUNKS),
    random.pick(STATUSES),
    lines,
    toBytes(made),
  ]
}

function mutate(input: Input, other: Input, random: Random): Input {
  let [place, chunk, status, lines, body] = input as [string, string, string, string, string]
  const choice = random.int(20)
  if (choice === 0) place = random.pick(PLACES)
  else if (choice === 1) chunk = random.pick(CHUNKS)
  else if (choice === 2) status = random.pick(STATUSES)
  else if (choice === 3) lines = `${lines}\n${random.pick(HEADER_LINES)}`
  else if (choice === 4) lines = mutateText(lines, other[3]!, random)
  else if (choice === 5) lines = random.pick([JSON_LINE, SSE_LINE])
  else if (choice < 12) body = mutateBytes(body, other[4]!, random)
  else body = toBytes(mutateJson(fromBytes(body), fromBytes(other[4]!), random).slice(0, 6000))
  return [place, chunk, status, lines, body]
}

/** A server of one answer, and what came to it. */
class FuzzedServer {
  readonly #input: Input
  /** Bytes of the answer that were read. */
  taken = 0
  requests = 0
  /** Requests that the client must not send. Recorded, because an error thrown here would look like the server's to the client. */
  readonly broken: string[] = []
  attacks = 0

  constructor(input: Input) {
    this.#input = input
  }

  async fetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(input)
    const body = String(init.body ?? '')
    this.requests++
    if (this.requests >= MAX_REQUESTS) this.broken.push('the client asks again and again')
    if (url.origin !== ORIGIN) return this.#elsewhere(url, init, body)
    init.signal?.throwIfAborted()
    const message = parse(body)
    const [place] = this.#input as [string]
    const [kind] = place.split(' ')
    const here = this.#placeOf(url, init, message, kind === 'modern' ? 'modern' : 'legacy')
    if (here === place) return this.#attack(message, init.signal ?? undefined)
    if (kind === 'sign-in' && url.pathname === '/mcp' && !new Headers(init.headers).has('authorization')) {
      return place === CHALLENGE
        ? this.#attack(message, init.signal ?? undefined)
        : new Response(null, { status: 401 })
    }
    return rightAnswer(here, message)
  }

  #elsewhere(url: URL, init: RequestInit, body: string): Response {
    const sent = [url.href, JSON.stringify([...new Headers(init.headers)]), body].join()
    if (sent.includes(CANARY)) this.broken.push('a secret goes to another origin')
    const isPrivate = /^[^.]*$|^[\d.]+$|^\[|\.(?:local|localhost|internal|home\.arpa)\.?$/.test(url.hostname)
    const isPublicAddress = /^(?:8|1[1-9]|9\d)\./.test(url.hostname)
    if (url.protocol !== 'https:' || (isPrivate && !isPublicAddress))
      this.broken.push(`it asks ${url.protocol}`)
    return new Response(null, { status: 404 })
  }

  #placeOf(url: URL, { method }: RequestInit, message: Message | undefined, era: string): string {
    if (url.pathname !== '/mcp') return `sign-in ${url.pathname}`
    return `${era} ${method === 'GET' ? 'GET' : (message?.method ?? '')}`
  }

  #attack(message: Message | undefined, signal?: AbortSignal): Response {
    this.attacks++
    const [, chunk, status, lines, body] = this.#input as [string, string, string, string, string]
    const bytes = Buffer.from(body.replaceAll('$ID', JSON.stringify(message?.id ?? null)), 'latin1')
    const headers = new Headers()
    for (const line of lines.split('\n')) {
      const colon = line.indexOf(':')
      try {
        headers.append(line.slice(0, colon), line.slice(colon + 1))
      } catch {
        // No platform's parser would accept it.
      }
    }
    const code = Number(status)
    if (!Number.isInteger(code) || code < 200 || code > 599) return new Response(null, { status: 500 })
    const isBodiless = [204, 205, 304].includes(code) || bytes.byteLength === 0
    const stream = isBodiless ? null : this.#stream(bytes, chunk, signal)
    return new Response(stream, { status: code, headers })
  }

  #stream(bytes: Uint8Array, chunk: string, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
    const isEndless = chunk.startsWith('~')
    const size = Math.max(1, Math.min(Number.parseInt(chunk.replace('~', ''), 10) || 1, 100_000))
    if (isEndless) bytes = Buffer.concat(Array(Math.ceil(size / bytes.byteLength)).fill(bytes))
    let at = 0
    return new ReadableStream({
      start: (controller) => {
        signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true })
      },
      pull: async (controller) => {
        // As from a socket: not all in one turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve))
        if (signal?.aborted) return
        const part = bytes.subarray(at, at + size)
        at += size
        if (at >= bytes.byteLength && isEndless) at = 0
        this.taken += part.byteLength
        if (part.byteLength > 0) controller.enqueue(part)
        if (at >= bytes.byteLength && !isEndless) controller.close()
      },
    })
  }
}

interface Message {
  readonly id?: unknown
  readonly method?: string
}

function parse(body: string): Message | undefined {
  try {
    return JSON.parse(body) as Message
  } catch {
    return undefined
  }
}

function rightAnswer(place: string, message: Message | undefined): Response {
  const document = DOCUMENTS[place]
  if (document !== undefined)
    return new Response(document, { headers: { 'content-type': 'application/json' } })
  const result = RIGHT[place]
  if (result !== undefined) {
    const body = answer(result).replaceAll('$ID', JSON.stringify(message?.id))
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  }
  if (place.endsWith(' GET') || place.startsWith('sign-in ')) return new Response(null, { status: 405 })
  if (message?.id === undefined || message.method === undefined) return new Response(null, { status: 202 })
  return Response.json({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no such method' } })
}

async function run(input: Input): Promise<string> {
  const server = new FuzzedServer(input)
  const isSignIn = input[0]!.startsWith('sign-in')
  const redirects: URL[] = []
  let questions = 0
  const authProvider = createOAuthProvider({
    storage: createMemoryOAuthStorage(),
    redirectUrl: 'http://127.0.0.1:9/callback',
    onRedirect: (url) => redirects.push(url),
  })
  const reported: MCPClientError[] = []
  const headers = { 'x-key': `${CANARY}-key` }
  const client = new MCPClient({
    id: crypto.randomUUID(),
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: MAX_BYTES,
    servers: {
      s: {
        url: `${ORIGIN}/mcp`,
        fetch: (url, init) => server.fetch(url, init),
        headers: isSignIn ? headers : { ...headers, authorization: `Bearer ${CANARY}-static` },
        ...(isSignIn && { authProvider }),
        log: () => {},
      },
    },
    onError: (error) => reported.push(error),
  })
  client.elicitation.onRequest('s', () => {
    questions++
    return { action: 'decline' }
  })
  const outcomes: string[] = []
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    const startedAt = performance.now()
    outcomes.push(await outcomeOf(work))
    // The client may try two ways to connect, each with the full time.
    promise(performance.now() - startedAt < 20 * TIMEOUT_MS, 'the client does not keep its time')
  }
  try {
    await attempt(async () => {
      const tools = await client.listTools()
      // Every listed tool can be served by a gateway.
      new MCPServer({ id: 'gate', name: 'Gate', version: '1', log: false, tools }).getToolListInfo()
      return tools
    })
    const [redirect] = redirects
    if (redirect !== undefined) {
      const callback = new URLSearchParams({ code: 'c', state: redirect.searchParams.get('state') ?? '' })
      await attempt(() => client.finishAuth('s', callback))
    }
    await attempt(() => client.callTool('s', 't', {}))
  } finally {
    await client.disconnect()
  }
  const takenAtEnd = await settled(server)
  await new Promise((resolve) => setTimeout(resolve, 5))
  promise(server.taken === takenAtEnd, 'a body is still read when the client has disconnected')
  for (const what of server.broken) promise(false, what)
  for (const { protocol, hostname } of redirects) {
    const isLocal = protocol === 'http:' && /^(?:localhost|.*\.localhost|127\..*|\[::1\])$/.test(hostname)
    promise(protocol === 'https:' || isLocal, `the user is sent to ${protocol}`)
  }
  const maxTaken = (MAX_BYTES + SLACK_BYTES) * Math.max(1, server.attacks)
  // A stream of small events may go on until the call's time is over.
  const isOfSmallEvents = input[3]!.includes('event-stream') && EMPTY_LINE.test(input[4]!.repeat(2))
  if (!isOfSmallEvents)
    promise(server.taken <= maxTaken, `more bytes are taken than ${MAX_BYTES} of each answer`)
  promise(questions <= 32, `${questions} questions are asked`)
  promise(reported.length < 20, `${reported.length} errors are reported`)
  for (const { message } of reported) checkText(message)
  const codes = reported.map(({ code }) => code)
  return [input[0], ...outcomes, ...new Set(codes), redirects.length, Math.min(questions, 2)].join(' ')
}

/** Bytes that were taken, when a read that was under way as the client disconnected has come to its end. */
async function settled(server: FuzzedServer): Promise<number> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  return server.taken
}

/** @throws Finding for an error that is not one of ours. */
async function outcomeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    const value = await work()
    return value !== null && typeof value === 'object' ? `${Object.keys(value).length}` : typeof value
  } catch (error) {
    promise(error instanceof MCPClientError, `what is thrown is no error of ours: ${error}`)
    checkText(error.message)
    return error.code
  }
}

function checkText(text: string): void {
  promise(!/[\p{Cc}\u2028\u2029]/u.test(text), 'an error has control characters')
  promise(text.length < 3000, `an error has ${text.length} characters`)
}

export const client: Target = { name: 'client', seeds: SEEDS, generate, mutate, run }
