/**
 * The requests that every peer is sent, as real clients send them: all headers the protocol asks for, and the
 * `content-length`, `host` and `user-agent` an HTTP client adds.
 */

export type Era = 'modern' | 'legacy'
export type Method = 'tools/call' | 'tools/list'

/** How one peer is spoken to. */
export interface Dialect {
  readonly era: Era
  readonly protocolVersion: string
  readonly accept: string
}

/** What `new Request` is called with, for each request anew. */
export interface RequestTemplate {
  readonly url: string
  readonly init: { readonly method: string; readonly headers: Record<string, string>; readonly body: string }
}

/** What conforming clients send. */
export const ACCEPT = 'application/json, text/event-stream'

export const MODERN: Dialect = { era: 'modern', protocolVersion: '2026-07-28', accept: ACCEPT }
export const LEGACY: Dialect = { era: 'legacy', protocolVersion: '2025-11-25', accept: ACCEPT }

export const REQUEST_ID = 7

/** The arguments of each `tools/call`; every tool echoes `text`. */
export const CALL_ARGUMENTS = {
  text: 'The quick brown fox jumps over the lazy dog',
  channel: 'general',
  count: 3,
  tone: 'friendly',
} as const

export interface Params {
  readonly _meta?: Record<string, unknown>
  readonly [name: string]: unknown
}

const CLIENT_INFO = { name: 'bench', version: '1.0.0' }

export function callTemplate(dialect: Dialect, toolName: string): RequestTemplate {
  return template(dialect, 'tools/call', { name: toolName, arguments: CALL_ARGUMENTS })
}

export function listTemplate(dialect: Dialect): RequestTemplate {
  return template(dialect, 'tools/list', {})
}

export function toRequest({ url, init }: RequestTemplate, signal?: AbortSignal): Request {
  return new Request(url, signal === undefined ? init : { ...init, signal })
}

/**
 * A request of any method. `params._meta` is added to what the modern era sends with each request, and `headers` to the headers.
 */
export function template(
  dialect: Dialect,
  method: string,
  { _meta: meta = {}, ...params }: Params,
  headers: Record<string, string> = {},
): RequestTemplate {
  const isModern = dialect.era === 'modern'
  const allMeta = { ...(isModern && envelope(dialect)), ...meta }
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: REQUEST_ID,
    method,
    params: Object.keys(allMeta).length === 0 ? params : { ...params, _meta: allMeta },
  })
  const target = params.name ?? params.uri
  return {
    url: 'https://mcp.example.com/mcp',
    init: {
      method: 'POST',
      headers: {
        host: 'mcp.example.com',
        'user-agent': 'bench/1.0.0',
        accept: dialect.accept,
        'content-type': 'application/json',
        'content-length': String(new TextEncoder().encode(body).byteLength),
        'mcp-protocol-version': dialect.protocolVersion,
        ...(isModern && { 'mcp-method': method }),
        ...(isModern && typeof target === 'string' && { 'mcp-name': target }),
        ...headers,
      },
      body,
    },
  }
}

function envelope({ protocolVersion }: Dialect): Record<string, unknown> {
  return {
    'io.modelcontextprotocol/protocolVersion': protocolVersion,
    'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
}
