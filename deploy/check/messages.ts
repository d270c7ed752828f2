/** The requests of probes, complete unless a probe omits something on purpose. */

export const MODERN = '2026-07-28'
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const
export const BOTH_TYPES = 'application/json, text/event-stream'

export type Era = 'modern' | 'legacy'
export type JsonObject = { readonly [name: string]: unknown }

const META = 'io.modelcontextprotocol/'
export const SERVER_INFO = `${META}serverInfo`
export const SUBSCRIPTION_ID = `${META}subscriptionId`

const CLIENT = { name: 'mayfly-check', version: '1' }

export interface Call {
  readonly method: string
  readonly params?: JsonObject
  /** Default: an id that no other request of this run has. */
  readonly id?: string | number
  /** Modern: the version in header and body. Default 2026-07-28. */
  readonly version?: string
  /** Modern: members of `_meta` instead of the complete ones. */
  readonly meta?: JsonObject
  /** Replace or add headers; undefined removes one. */
  readonly headers?: { readonly [name: string]: string | undefined }
}

export interface Message {
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  readonly id: string | number
}

/** The result of `initialize` that later legacy requests must send. */
export interface Session {
  readonly id?: string
  readonly version: string
}

export function modernMessage(call: Call, freshId: string): Message {
  const { method, params = {}, id = freshId, version = MODERN } = call
  const { meta = completeMeta(version) } = call
  const name = params.name ?? params.uri
  return {
    id,
    headers: merge(
      {
        'content-type': 'application/json',
        accept: BOTH_TYPES,
        'mcp-protocol-version': version,
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
      },
      call.headers,
    ),
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }),
  }
}

export function legacyMessage(call: Call, freshId: string, session: Session | undefined): Message {
  const { method, params, id = freshId } = call
  return {
    id,
    headers: merge({ ...legacyHeaders(session) }, call.headers),
    body: JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) }),
  }
}

export function initializeMessage(version: string, freshId: string): Message {
  const params = { protocolVersion: version, capabilities: {}, clientInfo: CLIENT }
  return legacyMessage({ method: 'initialize', params }, freshId, undefined)
}

export function legacyHeaders(session: Session | undefined): { [name: string]: string } {
  return {
    'content-type': 'application/json',
    accept: BOTH_TYPES,
    // 2025-03-26 does not have this header.
    ...(session && session.version > '2025-03-26' && { 'mcp-protocol-version': session.version }),
    ...(session?.id !== undefined && { 'mcp-session-id': session.id }),
  }
}

function completeMeta(version: string): JsonObject {
  return {
    [`${META}protocolVersion`]: version,
    [`${META}clientInfo`]: CLIENT,
    [`${META}clientCapabilities`]: {},
  }
}

export const VERSION_META = `${META}protocolVersion`

function merge(
  headers: { readonly [name: string]: string },
  changes: Call['headers'] = {},
): { [name: string]: string } {
  const merged = Object.entries({ ...headers, ...changes })
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== undefined))
}
