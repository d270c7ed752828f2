/**
 * `Mcp-Session-Id` without sessions. A legacy client declares itself once, in `initialize`; the id hands that back to it
 * as a token, and each later request brings it along: sealed where the deployment has a secret, plain where it has none, and
 * only so. It holds only what the client said of itself, so it grants nothing: one that cannot be read is ignored, never a 404.
 */
import { fromBase64Url, toBase64Url } from '../definition/base64.ts'
import type { ClientCapabilities, Implementation } from '../definition/context.ts'
import type { Binding, Seal } from '../interaction/seal.ts'
import { isImplementation } from './envelope.ts'
import { isObject, parseJson } from './json-rpc.ts'
import { LEGACY_VERSIONS } from './versions.ts'

export interface Declared {
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

/** Opened tokens that are remembered for a secret, so that a client's next call pays nothing; the oldest is forgotten first. */
const MAX_REMEMBERED = 1000

/** A plain token is a client's text, and read as strictly as a body; its length bounds the rest. */
const LIMITS = { maxDepth: 32, maxMembers: MAX_LENGTH, maxStringCharacters: MAX_LENGTH }

export interface DeclaredTokens {
  /** The token for what a client declared; undefined where it would be too long for a header. */
  write(declared: Declared, seal: Seal | undefined, principal: string): Promise<string | undefined>
  /** What a token holds; undefined for a foreign token. A promise only for a sealed one not seen before. */
  read(
    token: string | null,
    seal: Seal | undefined,
    principal: string,
  ): Declared | undefined | Promise<Declared | undefined>
}

interface Remembered {
  readonly declared: Declared
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export function createDeclaredTokens(): DeclaredTokens {
  // A token that was opened with a secret is not known to the next one.
  const bySeal = new WeakMap<Seal, Map<string, Remembered>>()
  const rememberedFor = (seal: Seal): Map<string, Remembered> => {
    const remembered = bySeal.get(seal) ?? new Map<string, Remembered>()
    bySeal.set(seal, remembered)
    return remembered
  }
  const open = async (token: string, seal: Seal, principal: string): Promise<Declared | undefined> => {
    const opened = await seal.open(token.slice(SEALED.length), bindingOf(principal))
    const declared = opened.ok ? toDeclared(opened.value) : undefined
    if (!opened.ok || declared === undefined) return undefined
    const remembered = rememberedFor(seal)
    if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
    remembered.set(`${principal} ${token}`, { declared, expiresAt: opened.expiresAt })
    return declared
  }
  return {
    async write({ protocolVersion, clientInfo, clientCapabilities }, seal, principal) {
      const content = [protocolVersion, clientInfo ? nameOf(clientInfo) : null, clientCapabilities]
      const token =
        seal === undefined
          ? PLAIN + toBase64Url(new TextEncoder().encode(JSON.stringify(content)))
          : SEALED + (await seal.seal(content, bindingOf(principal), Date.now() + TTL_MS))
      return token.length > MAX_LENGTH ? undefined : token
    },
    read(token, seal, principal) {
      if (token === null || token.length > MAX_LENGTH) return undefined
      if (seal === undefined) return readPlain(token)
      if (!token.startsWith(SEALED)) return undefined
      const known = rememberedFor(seal).get(`${principal} ${token}`)
      return known !== undefined && known.expiresAt >= Date.now()
        ? known.declared
        : open(token, seal, principal)
    },
  }
}

function bindingOf(principal: string): Binding {
  return { era: 'legacy', method: 'initialize', target: '', arguments: {}, principal }
}

function readPlain(token: string): Declared | undefined {
  const bytes = token.startsWith(PLAIN) ? fromBase64Url(token.slice(PLAIN.length)) : undefined
  try {
    return toDeclared(parseJson(new TextDecoder().decode(bytes), LIMITS))
  } catch {
    return undefined
  }
}

function toDeclared(content: unknown): Declared | undefined {
  if (!Array.isArray(content)) return undefined
  const [named, clientInfo, clientCapabilities] = content as unknown[]
  const protocolVersion = LEGACY_VERSIONS.find((version) => version === named)
  if (protocolVersion === undefined) return undefined
  if (!isObject(clientCapabilities) || !Object.values(clientCapabilities).every(isObject)) return undefined
  return {
    protocolVersion,
    clientInfo: isImplementation(clientInfo) ? nameOf(clientInfo) : undefined,
    clientCapabilities,
  }
}

/** What a token keeps of a client. */
function nameOf({ name, version }: Implementation): Implementation {
  return { name, version }
}
