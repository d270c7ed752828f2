/** Requests that are right but for what an attack changes. */
import { type HttpParts, http } from './_attack.ts'

const META = 'io.modelcontextprotocol/'
export const VERSION = '2026-07-28'

export interface RightRequest {
  readonly token: string
  readonly method?: string
  readonly params?: { readonly [name: string]: unknown }
  readonly meta?: { readonly [name: string]: unknown }
  /** Added, or in place of those of the same name; undefined leaves one out. */
  readonly headers?: { readonly [name: string]: string | undefined }
  readonly body?: string | Uint8Array
  readonly http?: HttpParts
}

/** A modern request, complete. */
export function request({
  token,
  method = 'tools/list',
  params = {},
  meta = {},
  headers = {},
  body,
  http: parts = {},
}: RightRequest): Uint8Array {
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      ...params,
      _meta: {
        [`${META}protocolVersion`]: VERSION,
        [`${META}clientCapabilities`]: { elicitation: { form: {} } },
        ...meta,
      },
    },
  }
  const name = params.name ?? params.uri
  const all: { [name: string]: string | undefined } = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
    ...headers,
  }
  const lines = Object.entries(all).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  )
  return http({
    ...parts,
    headers: [...lines, ...(parts.headers ?? [])],
    body: body ?? JSON.stringify(message),
  })
}
