/**
 * Speaks both eras to a server under test: builds requests as conforming clients send them, reads JSON and SSE answers.
 */
import { createParser } from 'eventsource-parser'
import { MCPServer, type MCPServerConfig, type RequestPlatform } from '../../src/index.ts'

export const VERSION = '2026-07-28'
export const ENDPOINT = 'https://mcp.example/mcp'
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const

export const CLIENT = { name: 'unit', version: '1.0.0' }

type Fields = { readonly [name: string]: unknown }

/** A JSON-RPC message as it came over the wire. */
export interface WireMessage {
  jsonrpc: string
  id?: string | number
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { code: number; message: string; data?: unknown }
}

export interface Answer {
  status: number
  headers: Headers
  isStream: boolean
  /** What came before the final message. */
  notifications: WireMessage[]
  /** The final message; undefined where the body is empty. */
  message: WireMessage | undefined
  result: WireMessage['result']
  error: WireMessage['error']
}

export interface SendOptions {
  id?: string | number
  /** Merged over the client's own; undefined leaves a header out. */
  headers?: { readonly [name: string]: string | undefined }
  /** Merged into `_meta`; undefined leaves a key out. */
  meta?: Fields
  url?: string
  signal?: AbortSignal
  platform?: RequestPlatform
}

/** A server that logs nothing, unless the test says otherwise. */
export function createServer(config: Partial<MCPServerConfig> = {}): MCPServer {
  return new MCPServer({ id: 'test', name: 'Test', version: '1.0.0', log: false, ...config })
}

export function post(body: BodyInit | object, options: SendOptions = {}): Request {
  const { url = ENDPOINT, headers = {}, signal } = options
  const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream
  const sent: Record<string, string> = {}
  for (const [name, value] of Object.entries({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  })) {
    if (value !== undefined) sent[name] = value
  }
  return new Request(url, {
    method: 'POST',
    headers: sent,
    body: isRaw ? (body as BodyInit) : JSON.stringify(body),
    ...(signal && { signal }),
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  })
}

const NAMED = new Set(['tools/call', 'prompts/get', 'resources/read'])

export function modernRequest(method: string, params: Fields = {}, options: SendOptions = {}): Request {
  const { id = 1, headers, meta } = options
  const name = params.name ?? params.uri
  const _meta = {
    [META.protocolVersion]: VERSION,
    [META.clientInfo]: CLIENT,
    [META.clientCapabilities]: {},
    ...(params._meta as Fields | undefined),
    ...meta,
  }
  return post(
    { jsonrpc: '2.0', id, method, params: { ...params, _meta } },
    {
      ...options,
      headers: {
        'mcp-protocol-version': VERSION,
        'mcp-method': method,
        ...(NAMED.has(method) && typeof name === 'string' && { 'mcp-name': name }),
        ...headers,
      },
    },
  )
}

export function legacyRequest(method: string, params: Fields = {}, options: SendOptions = {}): Request {
  const { id = 1, headers } = options
  return post(
    { jsonrpc: '2.0', id, method, params },
    { ...options, headers: { 'mcp-protocol-version': '2025-11-25', ...headers } },
  )
}

export async function send(
  server: Pick<MCPServer, 'handle'>,
  request: Request,
  platform: RequestPlatform = {},
): Promise<Answer> {
  return readAnswer(await server.handle(request, platform))
}

export function modern(
  server: Pick<MCPServer, 'handle'>,
  method: string,
  params: Fields = {},
  options: SendOptions = {},
): Promise<Answer> {
  return send(server, modernRequest(method, params, options), options.platform)
}

export function legacy(
  server: Pick<MCPServer, 'handle'>,
  method: string,
  params: Fields = {},
  options: SendOptions = {},
): Promise<Answer> {
  return send(server, legacyRequest(method, params, options), options.platform)
}

/** A client's first message: no session yet, and no version but in it. */
export function initializeRequest(
  params: Fields = {},
  headers: { readonly [name: string]: string } = {},
): Request {
  return post(
    {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT, ...params },
    },
    { headers },
  )
}

export function initialize(
  server: Pick<MCPServer, 'handle'>,
  params: Fields = {},
  headers: { readonly [name: string]: string } = {},
): Promise<Answer> {
  return send(server, initializeRequest(params, headers))
}

/** `tools/call` in the modern era. */
export function callTool(
  server: Pick<MCPServer, 'handle'>,
  name: string,
  args?: unknown,
  options: SendOptions = {},
): Promise<Answer> {
  return modern(server, 'tools/call', { name, ...(args !== undefined && { arguments: args }) }, options)
}

/** A promise that the test settles. */
export function deferred<Value = void>(): {
  promise: Promise<Value>
  resolve: (value: Value) => void
  reject: (reason: unknown) => void
} {
  let resolve!: (value: Value) => void
  let reject!: (reason: unknown) => void
  const promise = new Promise<Value>((...settle) => {
    ;[resolve, reject] = settle
  })
  return { promise, resolve, reject }
}

/** The text of a result's first content block. */
export function textOf({ result }: Answer): string | undefined {
  return (result?.content as { text?: string }[] | undefined)?.[0]?.text
}

/** The items of a list result. */
export function itemsIn({ result }: Answer, list = 'tools'): Record<string, unknown>[] {
  return (result?.[list] ?? []) as Record<string, unknown>[]
}

/** The `name` (or any other member) of each item of a list result. */
export function namesIn(answer: Answer, list = 'tools', member = 'name'): unknown[] {
  return itemsIn(answer, list).map((item) => item[member])
}

export async function readAnswer(response: Response): Promise<Answer> {
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  const text = await response.text()
  const messages = isStream ? messagesIn(text) : text === '' ? [] : [JSON.parse(text) as WireMessage]
  const message = messages.at(-1)
  return {
    status: response.status,
    headers: response.headers,
    isStream,
    notifications: messages.slice(0, -1),
    message,
    result: message?.result,
    error: message?.error,
  }
}

function messagesIn(text: string): WireMessage[] {
  const messages: WireMessage[] = []
  createParser({ onEvent: ({ data }) => messages.push(JSON.parse(data)) }).feed(text)
  return messages
}

export type StreamItem = { comment: string } | WireMessage

/** Reads an SSE response piece by piece. */
export class StreamReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #items: StreamItem[] = []
  readonly #decoder = new TextDecoder()
  readonly #parser = createParser({
    onEvent: ({ data }) => this.#items.push(JSON.parse(data)),
    onComment: (comment) => this.#items.push({ comment }),
  })

  constructor(response: Response) {
    this.#reader = response.body!.getReader()
  }

  /** The next message or comment; undefined once the stream has ended. */
  async next(): Promise<StreamItem | undefined> {
    while (this.#items.length === 0) {
      const { done, value } = await this.#reader.read()
      if (done) return undefined
      this.#parser.feed(this.#decoder.decode(value, { stream: true }))
    }
    return this.#items.shift()
  }

  cancel(): Promise<void> {
    return this.#reader.cancel()
  }
}
