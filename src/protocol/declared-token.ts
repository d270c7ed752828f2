/**
 * `Mcp-Session-Id` without sessions. A legacy client declares its capabilities only in `initialize`. The session id is this declaration as
 * a token, which the client sends with each later request. The token is sealed if the deployment has a secret, otherwise plain; the other
 * form is ignored. It contains only what the client declared, so it grants nothing. An unreadable token is ignored and never causes a 404.
 */

import { fromBase64Url, toBase64Url } from '../definition/base64.ts'
import type { ClientCapabilities, Implementation } from '../definition/context.ts'
import { isObject } from '../definition/is-object.ts'
import { setNewest } from '../definition/set-newest.ts'
import type { Binding, Seal } from '../interaction/seal.ts'
import { isImplementation } from './envelope.ts'
import { parseJson } from './json-rpc.ts'
import { LEGACY_VERSIONS } from './versions.ts'

export interface Declared {
  readonly protocolVersion: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
}

const PLAIN = 'mayfly1.'
const SEALED = 'mayfly2.'

/** Some proxies refuse longer header values; a client whose declaration is longer gets no token. */
const MAX_LENGTH = 2048

/** Milliseconds for which a sealed token is valid; after that, its client is treated as if it declared nothing. */
const TTL_MS = 30 * 86_400_000

/** Maximum opened tokens cached per secret, so that later calls do not have to open them again; the oldest is removed first. */
const MAX_REMEMBERED = 1000

/** A plain token is untrusted text, parsed as strictly as a body; its length bounds the rest. */
const LIMITS = { maxDepth: 32, maxMembers: MAX_LENGTH, maxStringCharacters: MAX_LENGTH }

export interface DeclaredTokens {
  /** The token for a client's declaration; undefined if it would be too long for a header. */
  write(declared: Declared, seal: Seal | undefined, principal: string): Promise<string | undefined>
  /** The content of a token; undefined if it cannot be read. A promise only for a sealed token not seen before. */
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
  // Per seal, so that a token opened with one secret is not known to another.
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
    const { expiresAt } = opened
    setNewest(rememberedFor(seal), `${principal} ${token}`, { declared, expiresAt }, MAX_REMEMBERED)
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

/** The members of `clientInfo` that a token keeps. */
function nameOf({ name, version }: Implementation): Implementation {
  return { name, version }
}
