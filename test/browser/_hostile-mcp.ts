/** An MCP server that does what it can to a page that shows it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Each would set `window.hacked`, ask something outside, or leave the page. */
export const PAYLOADS = [
  '<img src=x onerror="window.hacked=1">',
  '"><script>window.hacked=1</script>',
  `';window.hacked=1;//`,
  '<svg onload="window.hacked=1">',
  '<iframe srcdoc="<script>parent.hacked=1</script>">',
  '</title></style><base href="https://evil.example/">',
  '{{constructor.constructor("window.hacked=1")()}}',
  '\u202e<a href="javascript:window.hacked=1">x</a>',
] as const

type Json = { readonly [name: string]: unknown }

const ALL = PAYLOADS.join(' ')

/** Takes the place of a word: nesting this deep cannot be written by recursion. */
const DEEP = 'the deep schema'
const LEVELS = 3000
const deepText = `${'{"type":"object","properties":{"deeper":'.repeat(LEVELS)}{"type":"string"}${'}}'.repeat(LEVELS)}`

const many = Object.fromEntries(
  Array.from({ length: 20_000 }, (_, index) => [`f${index}`, { type: 'string' }]),
)

/** Each level asks for 200 rows of the one below: 2 KB, and 200³ inputs. */
const rows = (levels: number): object =>
  levels === 0
    ? { type: 'string' }
    : { type: 'array', items: rows(levels - 1), default: Array(200).fill(levels === 1 ? '' : []) }

const SCHEMAS: { readonly [name: string]: unknown } = {
  markup: {
    type: 'object',
    title: ALL,
    description: ALL,
    required: ['__proto__', ALL],
    properties: {
      ...Object.fromEntries(
        PAYLOADS.map((payload) => [
          payload,
          { type: 'string', title: payload, description: payload, default: payload },
        ]),
      ),
      constructor: { type: 'string' },
      ['__proto__']: { type: 'string' },
      picked: { enum: PAYLOADS },
      header: { type: 'string', 'x-mcp-header': 'a\r\nevil: 1', default: 'x' },
    },
  },
  recursive: {
    type: 'object',
    properties: { next: { $ref: '#' }, list: { type: 'array', items: { $ref: '#' } } },
  },
  rows: { type: 'object', properties: { rows: rows(3) } },
  circular: { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
  wide: {
    type: 'object',
    properties: {
      a: { $ref: '#/$defs/wide' },
      b: { $ref: '#/$defs/wide' },
      c: { $ref: '#/$defs/wide' },
    },
    $defs: {
      wide: {
        type: 'object',
        properties: { a: { $ref: '#/$defs/wide' }, b: { $ref: '#/$defs/wide' }, c: { $ref: '#/$defs/wide' } },
      },
    },
  },
  deep: DEEP,
  huge: { type: 'object', properties: many },
  choices: {
    type: 'object',
    properties: { one: { enum: Array.from({ length: 50_000 }, (_, index) => `v${index}`) } },
  },
  slow: {
    type: 'object',
    properties: { text: { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(60)}!` } },
  },
  nonsense: { type: 5, properties: [null], required: {}, enum: 'no', allOf: 3 },
  nothing: null,
  loops: { type: 'object' },
  floods: { type: 'object' },
  asking: { type: 'object' },
  polled: { type: 'object' },
}

const icons = [{ src: 'https://evil.example/icon.svg' }, { src: 'javascript:window.hacked=1' }]

const tools = Object.entries(SCHEMAS).map(([name, inputSchema]) => ({
  name,
  title: ALL,
  description: ALL,
  icons,
  inputSchema,
}))

const RESULT = {
  resultType: 'complete',
  _meta: { 'mayfly/degraded': { feature: ALL, reason: ALL, remedy: ALL } },
  content: [
    ...PAYLOADS.map((text) => ({ type: 'text', text })),
    {
      type: 'image',
      mimeType: 'image/svg+xml',
      data: btoa('<svg xmlns="http://www.w3.org/2000/svg" onload="parent.hacked=1"/>'),
    },
    { type: 'image', mimeType: 'image/png', data: 'x" onerror="window.hacked=1' },
    { type: 'image', mimeType: 'text/html', data: btoa('<script>parent.hacked=1</script>') },
    { type: 'resource_link', uri: 'javascript:window.hacked=1', name: ALL },
    { type: 'resource_link', uri: 'data:text/html,<script>opener.hacked=1</script>', name: ALL },
    { type: 'resource', resource: { uri: 'javascript:window.hacked=1', text: ALL } },
    { type: ALL, [ALL]: ALL },
    null,
    7,
  ],
  structuredContent: { [ALL]: ALL },
}

const QUESTION = {
  resultType: 'input_required',
  requestState: 'x',
  inputRequests: {
    [ALL]: {
      method: 'elicitation/create',
      params: { mode: 'url', url: 'javascript:window.hacked=1', message: ALL },
    },
    form: { method: 'elicitation/create', params: { message: ALL, requestedSchema: SCHEMAS.markup } },
    odd: { method: ALL, params: [ALL] },
    ...Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`q${index}`, { method: 'roots/list' }])),
  },
}

/** It has no text, and asking for it throws. */
const UNREADABLE = { toString: 1, valueOf: 1 }

const EVENTS = [
  { name: ALL, description: ALL, delivery: [ALL, 'webhook', null], inputSchema: SCHEMAS.markup },
  { name: UNREADABLE, description: UNREADABLE, delivery: UNREADABLE, inputSchema: UNREADABLE },
  { name: 'x'.repeat(100_000), delivery: 'webhook', inputSchema: DEEP },
  null,
]

/** A task that never ends, and wants to be polled without a pause. */
const TASK = {
  status: 'working',
  statusMessage: `${ALL} (${'9'.repeat(400)}/0)`,
  createdAt: ALL,
  lastUpdatedAt: {},
  ttlMs: -1,
  pollIntervalMs: -1e300,
}

export interface HostileServer extends AsyncDisposable {
  readonly url: string
  /** The methods of all messages. */
  readonly methods: string[]
  /** Paths of all requests. */
  readonly asked: string[]
}

export async function startHostileServer(): Promise<HostileServer> {
  const asked: string[] = []
  const methods: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    void answer(request, response, methods)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  return {
    url,
    asked,
    methods,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, methods: string[]): Promise<void> {
  let text = ''
  for await (const chunk of request) text += chunk
  if (request.method === 'GET') {
    response.end('another page')
    return
  }
  // What would mean something to the browser, were it passed on.
  response.setHeader('set-cookie', 'evil=1')
  response.setHeader('refresh', '0; url=https://evil.example/')
  response.setHeader('link', '<https://evil.example/style.css>; rel=stylesheet')
  response.setHeader('x-evil', PAYLOADS[0])
  const { id, method, params } = (text === '' ? {} : JSON.parse(text)) as {
    id?: unknown
    method?: string
    params?: Json
  }
  methods.push(String(method))
  if (params?.name === 'floods') return flood(response, id)
  if (method === 'subscriptions/listen') return flood(response, id, CHANGES)
  response.setHeader('content-type', 'application/json')
  const message = JSON.stringify({ jsonrpc: '2.0', id, result: resultFor(method, params) })
  response.end(message.replace(`"${DEEP}"`, deepText))
}

function resultFor(method: string | undefined, params: Json | undefined): unknown {
  if (method === 'server/discover') {
    const serverInfo = {
      name: ALL,
      title: ALL,
      version: ALL,
      icons,
      websiteUrl: 'javascript:window.hacked=1',
    }
    const capabilities = {
      tools: { listChanged: true },
      prompts: {},
      resources: { listChanged: true, subscribe: true },
      events: {},
    }
    return {
      resultType: 'complete',
      capabilities,
      instructions: ALL,
      _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
    }
  }
  // A list without an end.
  if (method === 'prompts/list')
    return { resultType: 'complete', prompts: [{ name: ALL }], nextCursor: 'again' }
  if (method === 'tools/list')
    return { resultType: 'complete', tools: [...tools, null, 5, { name: {} }, { name: UNREADABLE }] }
  if (method === 'events/list') return { resultType: 'complete', events: EVENTS }
  if (method === 'resources/list')
    return { resultType: 'complete', resources: [{ uri: 'javascript:window.hacked=1', name: ALL }] }
  if (method === 'resources/templates/list') {
    const uriTemplate = `x://${'{a'.repeat(2_000)}{${ALL}}{?kind}`
    return { resultType: 'complete', resourceTemplates: [{ uriTemplate, name: ALL }] }
  }
  if (params?.name === 'asking' || params?.name === 'polled')
    return { ...TASK, resultType: 'task', taskId: `${params.name} ${ALL}` }
  if (method === 'tasks/get') {
    const isAsking = String(params?.taskId).startsWith('asking')
    const { inputRequests } = QUESTION
    return { ...TASK, ...params, ...(isAsking && { status: 'input_required', inputRequests }) }
  }
  return params?.name === 'loops' ? QUESTION : RESULT
}

const CHANGES = ['tools/list_changed', 'resources/list_changed', 'resources/updated', ALL].map((name) => ({
  jsonrpc: '2.0',
  method: `notifications/${name}`,
  params: { uri: 'javascript:window.hacked=1', notifications: { [ALL]: ALL } },
}))

/** Events without an end, as fast as they are taken. */
function flood(response: ServerResponse, id: unknown, messages?: readonly object[]): void {
  response.setHeader('content-type', 'text/event-stream')
  const usual = { jsonrpc: '2.0', method: 'notifications/message', params: { data: ALL, id } }
  const events = (messages ?? [usual]).map((message) => `data: ${JSON.stringify(message)}\n\n`)
  const event = events.join('').repeat(100)
  const push = (): void => {
    if (response.destroyed) return
    if (response.write(event)) setImmediate(push)
    else response.once('drain', push)
  }
  push()
}
