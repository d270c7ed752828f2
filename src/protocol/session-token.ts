/**
 * `Mcp-Session-Id` without sessions. A legacy client declares itself once, in `initialize`; the id hands that back to it
 * as a token, and each later request brings it along: sealed where the deployment has a secret, plain where it has none. It
 * holds only what the client said of itself, so it grants nothing: one that cannot be read is ignored, never a 404.
 */
import { fromBase64Url, toBase64Url } from '../definition/base64.ts'
import type { ClientCapabilities, Implementation } from '../definition/context.ts'
import type { Binding, Seal } from '../interaction/seal.ts'
import { isImplementation } from './envelope.ts'
import { isObject } from './json-rpc.ts'

export interface SessionToken {
  readonly protocolVersion: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
}

const PLAIN = 'mayfly1.'
const SEALED = 'mayfly2.'

/** Longer header values are refused by some proxies; a client that says more of itself gets no token. */
const MAX_LENGTH = 2048

/** Milliseconds a sealed token is good for; after that its client is served as one that declared nothing. */
const TTL_MS = 30 * 86_400_000

/** Opened tokens that are remembered, so that a client's next call pays nothing; the oldest is forgotten first. */
const MAX_REMEMBERED = 1000

export interface SessionTokens {
  /** The token for `session`; undefined where it would be too long for a header. */
  write(session: SessionToken, seal: Seal | undefined, principal: string): Promise<string | undefined>
  /** What a token holds; undefined where it is none of ours. A promise only for a sealed one not seen before. */
  read(
    token: string | null,
    seal: Seal | undefined,
    principal: string,
  ): SessionToken | undefined | Promise<SessionToken | undefined>
}

export function createSessionTokens(): SessionTokens {
  const remembered = new Map<string, SessionToken>()
  const open = async (token: string, seal: Seal, principal: string): Promise<SessionToken | undefined> => {
    const opened = await seal.open(token.slice(SEALED.length), bindingOf(principal))
    const session = opened.ok ? toSession(opened.value) : undefined
    if (session === undefined) return undefined
    if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
    remembered.set(`${principal} ${token}`, session)
    return session
  }
  return {
    async write({ protocolVersion, clientInfo, clientCapabilities }, seal, principal) {
      const facts = clientInfo && { name: clientInfo.name, version: clientInfo.version }
      const content = [protocolVersion, facts ?? null, clientCapabilities]
      const token =
        seal === undefined
          ? PLAIN + toBase64Url(new TextEncoder().encode(JSON.stringify(content)))
          : SEALED + (await seal.seal(content, bindingOf(principal), Date.now() + TTL_MS))
      return token.length > MAX_LENGTH ? undefined : token
    },
    read(token, seal, principal) {
      if (token === null || token.length > MAX_LENGTH) return undefined
      if (token.startsWith(PLAIN)) return readPlain(token.slice(PLAIN.length))
      if (!token.startsWith(SEALED) || seal === undefined) return undefined
      return remembered.get(`${principal} ${token}`) ?? open(token, seal, principal)
    },
  }
}

function bindingOf(principal: string): Binding {
  return { method: 'initialize', target: '', arguments: {}, principal }
}

function readPlain(text: string): SessionToken | undefined {
  const bytes = fromBase64Url(text)
  if (bytes === undefined) return undefined
  try {
    return toSession(JSON.parse(new TextDecoder().decode(bytes)))
  } catch {
    return undefined
  }
}

function toSession(content: unknown): SessionToken | undefined {
  if (!Array.isArray(content)) return undefined
  const [protocolVersion, clientInfo, clientCapabilities] = content as unknown[]
  if (typeof protocolVersion !== 'string' || !isObject(clientCapabilities)) return undefined
  if (!Object.values(clientCapabilities).every(isObject)) return undefined
  return {
    protocolVersion,
    clientInfo: isImplementation(clientInfo) ? clientInfo : undefined,
    clientCapabilities,
  }
}
