/**
 * A server that means harm, on a real socket. It speaks MCP well enough, in either era, for clients to get as far as what it
 * does to them: `answer` is asked first about each request, and what it leaves alone is answered as a harmless server would.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Era = 'modern' | 'legacy'

export interface JsonRpc {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly [name: string]: unknown }
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** A request as it came. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Exchange extends Seen {
  readonly response: ServerResponse
  /** The message of the body, where there is one. */
  readonly message: JsonRpc | undefined
  readonly server: HostileServer
  /** Ends the answer with a JSON-RPC result to the message. */
  result(value: object): void
  /** Ends the answer with a JSON body. */
  json(value: unknown, status?: number, headers?: { readonly [name: string]: string }): void
  /** Begins a stream of events; what it returns sends one. */
  events(): (message: unknown) => void
}

/** True where it has answered, or never will. */
export type Answer = (exchange: Exchange) => boolean | Promise<boolean>

export interface HostileServer extends AsyncDisposable {
  readonly url: string
  readonly origin: string
  /** Everything that came, in order. */
  readonly seen: readonly Seen[]
  /** The bytes of bodies that clients took. */
  readonly sentBytes: () => number
  /** Answers that have begun and not ended. */
  readonly openAnswers: () => number
}

export interface Harmless {
  readonly era?: Era
  readonly capabilities?: object
  /** Of `tools/list`. Default: `hello`, which greets. */
  readonly tools?: readonly unknown[]
}

export const HELLO = { name: 'hello', description: 'Greets', inputSchema: { type: 'object' } }

/** What every result that may be kept says. */
const MODERN = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
const SERVER_INFO = { name: 'hostile', version: '1.0.0' }

/** Listens on a loopback port of its own until it is disposed of. */
export async function startHostile(answer: Answer, harmless: Harmless = {}): Promise<HostileServer> {
  const seen: Seen[] = []
  let sent = 0
  let open = 0
  const http = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    // A client that has had enough goes away in the middle.
    response.on('error', () => {})
    request.on('error', () => {})
    open++
    response.once('close', () => open--)
    const count = response.write.bind(response)
    response.write = ((chunk: string | Uint8Array, ...rest: []) => {
      sent += chunk.length
      return count(chunk, ...rest)
    }) as typeof response.write
    const body = await readText(request)
    seen.push({ method, path, headers, body })
    const exchange = createExchange({ method, path, headers, body }, response, server)
    if (!(await answer(exchange)) && !response.writableEnded) answerHarmlessly(exchange, harmless)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const server: HostileServer = {
    origin,
    url: `${origin}/mcp`,
    seen,
    sentBytes: () => sent,
    openAnswers: () => open,
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  return server
}

function createExchange(seen: Seen, response: ServerResponse, server: HostileServer): Exchange {
  const message = parse(seen.body)
  const json: Exchange['json'] = (value, status = 200, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
  }
  return {
    ...seen,
    response,
    message,
    server,
    json,
    result: (value) => json({ jsonrpc: '2.0', id: message?.id, result: value }),
    events: () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return (event) => void response.write(`data: ${JSON.stringify(event)}\n\n`)
    },
  }
}

function answerHarmlessly(exchange: Exchange, { era = 'legacy', ...harmless }: Harmless): void {
  const { message, method, path, response } = exchange
  if (method === 'GET' || method === 'DELETE' || !path.startsWith('/mcp')) {
    response.writeHead(path.startsWith('/mcp') ? 405 : 404).end()
  } else if (message?.id === undefined || message.method === undefined) {
    response.writeHead(202).end()
  } else {
    const result = harmlessResult(message.method, era, harmless)
    if (result !== undefined) exchange.result(era === 'modern' ? { ...MODERN, ...result } : result)
    else
      exchange.json({
        jsonrpc: '2.0',
        id: message.id,
        error: { code: -32601, message: 'Method not found' },
      })
  }
}

function harmlessResult(
  method: string,
  era: Era,
  { capabilities = { tools: {} }, tools = [HELLO] }: Harmless,
): object | undefined {
  if (method === 'tools/list') return { tools }
  if (method === 'tools/call') return { content: [{ type: 'text', text: 'Hello' }] }
  if (method === 'server/discover' && era === 'modern') {
    const _meta = { 'io.modelcontextprotocol/serverInfo': SERVER_INFO }
    return { supportedVersions: ['2026-07-28'], capabilities, _meta }
  }
  if (method === 'initialize' && era === 'legacy') {
    return { protocolVersion: '2025-11-25', capabilities, serverInfo: SERVER_INFO }
  }
  if (method === 'ping' || method === 'logging/setLevel' || method === 'resources/subscribe') return {}
  return undefined
}

function parse(body: string): JsonRpc | undefined {
  try {
    return JSON.parse(body) as JsonRpc
  } catch {
    return undefined
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  try {
    for await (const chunk of request) text += chunk
  } catch {
    // The client disconnected.
  }
  return text
}
