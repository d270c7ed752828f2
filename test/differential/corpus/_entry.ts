/**
 * One request of the corpus, and short ways to write the usual ones. An entry is data: the same bytes go to every peer.
 */
import type { Peer } from '../peer.ts'

export interface CorpusEntry {
  /** Unique; `differences.ts` refers to it. */
  readonly id: string
  readonly httpMethod: string
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: string | Uint8Array<ArrayBuffer>
  /** For a stream that stays open: hang up after this many messages. */
  readonly reads?: number | undefined
  /** What the owner of the server publishes once the first message of such a stream has arrived. */
  readonly publishes?: readonly (readonly [keyof Peer['publish'], string])[] | undefined
}

export const URL_OF_ENDPOINT = 'https://mcp.example/mcp'
export const MODERN = '2026-07-28'
export const LEGACY = '2025-11-25'

/** `undefined` leaves out what would be sent by default. */
export interface Changes {
  readonly headers?: { readonly [name: string]: string | undefined }
  readonly meta?: { readonly [key: string]: unknown }
  readonly rpcId?: unknown
  readonly version?: string
  readonly reads?: CorpusEntry['reads']
  readonly publishes?: CorpusEntry['publishes']
}

export type Params = { readonly [name: string]: unknown }

const PREFIX = 'io.modelcontextprotocol/'

/** Keys of the modern envelope. */
export const KEY = {
  version: `${PREFIX}protocolVersion`,
  client: `${PREFIX}clientInfo`,
  capabilities: `${PREFIX}clientCapabilities`,
  logLevel: `${PREFIX}logLevel`,
} as const

const JSON_HEADERS = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
} as const

/** A POST of any body. */
export function posted(id: string, body: CorpusEntry['body'], headers: Changes['headers'] = {}): CorpusEntry {
  return {
    id,
    httpMethod: 'POST',
    url: URL_OF_ENDPOINT,
    headers: present({ ...JSON_HEADERS, ...headers }),
    ...(body !== undefined && { body }),
  }
}

/** A request of 2026-07-28 as a good client sends it, but for `changes`. */
export function modern(id: string, method: string, params: Params = {}, changes: Changes = {}): CorpusEntry {
  const { headers = {}, meta = {}, rpcId = 1, version = MODERN, ...stream } = changes
  const _meta = {
    [KEY.version]: version,
    [KEY.client]: { name: 'corpus', version: '1.0.0' },
    [KEY.capabilities]: {},
    ...meta,
  }
  const name = method === 'resources/read' ? params.uri : params.name
  const isNamed = ['tools/call', 'prompts/get', 'resources/read'].includes(method) && typeof name === 'string'
  const body = JSON.stringify({ jsonrpc: '2.0', id: rpcId, method, params: { ...params, _meta } })
  return {
    ...posted(id, body, {
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(isNamed && { 'mcp-name': toHeaderValue(name) }),
      ...headers,
    }),
    ...stream,
  }
}

/** A request of 2025-11-25, or of `changes.version`. */
export function legacy(id: string, method: string, params?: Params, changes: Changes = {}): CorpusEntry {
  const { headers = {}, meta, rpcId = 1, version = LEGACY, ...stream } = changes
  const withMeta = meta === undefined ? params : { ...params, _meta: meta }
  const body = JSON.stringify({ jsonrpc: '2.0', id: rpcId, method, params: withMeta })
  return { ...posted(id, body, { 'mcp-protocol-version': version, ...headers }), ...stream }
}

/** The same request in both eras: `<id>@modern` and `<id>@legacy`. */
export function inBothEras(id: string, method: string, params: Params = {}): readonly CorpusEntry[] {
  return [modern(`${id}@modern`, method, params), legacy(`${id}@legacy`, method, params)]
}

/** A header value in the Base64 form of 2026-07-28 where it cannot be sent as it is. */
export function toHeaderValue(value: string): string {
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?base64?')
    ? value
    : inBase64(value)
}

export function inBase64(value: string): string {
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`
}

function present(headers: { readonly [name: string]: string | undefined }): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
