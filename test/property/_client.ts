/** Requests of both eras against a server in process, and what comes back of them. */
import { EventSourceParserStream } from 'eventsource-parser/stream'

export interface JsonObject {
  readonly [name: string]: unknown
}

export interface Answer {
  readonly status: number
  readonly notifications: readonly JsonObject[]
  readonly result?: JsonObject
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

export interface RequestParts {
  readonly params?: JsonObject
  readonly meta?: JsonObject
  readonly headers?: { readonly [name: string]: string }
  readonly clientName?: string
  readonly signal?: AbortSignal
}

const PREFIX = 'io.modelcontextprotocol/'

export function modernRequest(method: string, parts: RequestParts = {}): Request {
  const { params = {}, meta = {}, headers = {}, clientName = 'property', signal } = parts
  const name = method === 'resources/read' ? params.uri : params.name
  const _meta = {
    [`${PREFIX}protocolVersion`]: '2026-07-28',
    [`${PREFIX}clientInfo`]: { name: clientName, version: '1' },
    [`${PREFIX}clientCapabilities`]: {},
    ...meta,
  }
  return post(
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': inBase64(name) }),
      ...headers,
    },
    signal,
  )
}

export function legacyRequest(method: string, parts: RequestParts = {}): Request {
  const { params = {}, meta, headers = {}, signal } = parts
  return post(
    { jsonrpc: '2.0', id: 1, method, params: { ...params, ...(meta !== undefined && { _meta: meta }) } },
    { 'mcp-protocol-version': '2025-11-25', ...headers },
    signal,
  )
}

function post(body: object, headers: { readonly [name: string]: string }, signal?: AbortSignal): Request {
  return new Request('https://mcp.example/mcp', {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  })
}

export function inBase64(value: string): string {
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`
}

/** Every JSON-RPC message of a response. */
export async function messagesOf(response: Response): Promise<JsonObject[]> {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('application/json')) {
    const text = await response.text()
    // A HEAD has the headers of what it would have been.
    if (text === '') return []
    const value = JSON.parse(text) as JsonObject | JsonObject[]
    return Array.isArray(value) ? value : [value]
  }
  if (type !== 'text/event-stream') {
    await response.text()
    return []
  }
  const messages: JsonObject[] = []
  const events = response
    .body!.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
  for await (const { data } of events) messages.push(JSON.parse(data) as JsonObject)
  return messages
}

/** The answer to one request, with the notifications before it. */
export async function answerOf(response: Response): Promise<Answer> {
  const messages = await messagesOf(response)
  const notifications = messages.filter(({ method }) => typeof method === 'string')
  const answer = messages.find(({ method }) => method === undefined) as
    | Pick<Answer, 'result' | 'error'>
    | undefined
  return {
    status: response.status,
    notifications,
    ...(answer?.result !== undefined && { result: answer.result }),
    ...(answer?.error !== undefined && { error: answer.error }),
  }
}
