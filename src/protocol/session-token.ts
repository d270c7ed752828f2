/**
 * `Mcp-Session-Id` without sessions. A legacy client declares itself once, in `initialize`; the id hands that back to it
 * as a token, and each later request brings it along. It holds only what the client said of itself, so it grants
 * nothing: one that cannot be read is ignored, never a 404.
 */
import { fromBase64Url, toBase64Url } from '../definition/base64.ts'
import type { ClientCapabilities, Implementation } from '../definition/context.ts'
import { isImplementation } from './envelope.ts'
import { isObject } from './json-rpc.ts'

export interface SessionToken {
  readonly protocolVersion: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
}

const PREFIX = 'mayfly1.'

/** Longer header values are refused by some proxies; a client that says more of itself gets no token. */
const MAX_LENGTH = 2048

export function writeSessionToken({
  protocolVersion,
  clientInfo,
  clientCapabilities,
}: SessionToken): string | undefined {
  const facts = clientInfo && { name: clientInfo.name, version: clientInfo.version }
  const bytes = new TextEncoder().encode(JSON.stringify([protocolVersion, facts ?? null, clientCapabilities]))
  if (bytes.length > (MAX_LENGTH * 3) / 4 - PREFIX.length) return undefined
  return PREFIX + toBase64Url(bytes)
}

/** What the token holds, or undefined where it is not one of ours. */
export function readSessionToken(token: string | null): SessionToken | undefined {
  if (token === null || token.length > MAX_LENGTH || !token.startsWith(PREFIX)) return undefined
  const bytes = fromBase64Url(token.slice(PREFIX.length))
  if (bytes === undefined) return undefined
  try {
    const [protocolVersion, clientInfo, clientCapabilities] = JSON.parse(
      new TextDecoder().decode(bytes),
    ) as unknown[]
    if (typeof protocolVersion !== 'string' || !isObject(clientCapabilities)) return undefined
    if (!Object.values(clientCapabilities).every(isObject)) return undefined
    return {
      protocolVersion,
      clientInfo: isImplementation(clientInfo) ? clientInfo : undefined,
      clientCapabilities,
    }
  } catch {
    return undefined
  }
}
