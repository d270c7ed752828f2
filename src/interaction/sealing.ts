/**
 * Sealed state: data that travels through the client and must come back unchanged (MCP 2026-07-28, "Multi Round-Trip Requests", server
 * requirements 4 and 5). AES-256-GCM; the key is derived from the secret by HKDF-SHA-256 (RFC 5869).
 *
 * A token is `1.` and base64url of: key id (4 bytes), nonce (12 bytes), ciphertext with tag. Its binding is inside the ciphertext, so that
 * only the log says why it was refused. Sealing limits how long and where a token can be used; it cannot make it single-use.
 */
import { fromBase64Url, toBase64Url } from '../definition/base64.ts'
import type { Era } from '../definition/context.ts'
import { digest } from '../definition/digest.ts'

/** What a token is valid for. */
export interface Binding {
  readonly era: Era
  readonly method: string
  /** The tool, prompt or URI. */
  readonly target: string
  /** The arguments of the call. */
  readonly arguments: unknown
  /** The caller; empty for an anonymous one. */
  readonly principal: string
}

export type Opened =
  | { readonly ok: true; readonly value: unknown; readonly id: string; readonly expiresAt: number }
  /** `reason` is for the log: the client learns only that the state is not valid. */
  | { readonly ok: false; readonly reason: string }

export interface Seal {
  seal(value: unknown, binding: Binding, expiresAt: number): Promise<string>
  open(token: string, binding: Binding): Promise<Opened>
}

const PREFIX = '1.'
const KEY_ID_BYTES = 4
const NONCE_BYTES = 12
/** Smaller states are not compressed. */
const COMPRESS_ABOVE_BYTES = 512
const PLAIN = 0
const DEFLATED = 1

interface Key {
  readonly id: Uint8Array
  readonly key: CryptoKey
}

/**
 * Creates a seal from checked secrets. Keys are derived at the first use, for one server and one stage.
 *
 * @param stage Called at the first use. Undefined: production.
 */
export function createSealing(
  secrets: readonly string[],
  serverId: string,
  stage: () => string | undefined,
): Seal {
  let derived: Promise<readonly Key[]> | undefined
  const keys = (): Promise<readonly Key[]> => {
    if (derived === undefined) {
      const place = stage()
      derived = Promise.all(secrets.map((secret) => deriveKey(secret, serverId, place)))
    }
    return derived
  }
  return {
    async seal(value, binding, expiresAt) {
      const [current] = await keys()
      const content = await pack([expiresAt, await bindingParts(binding), value])
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, current!.key, content)
      return PREFIX + toBase64Url(concatenate(current!.id, nonce, new Uint8Array(sealed)))
    },
    async open(token, binding) {
      const bytes = token.startsWith(PREFIX) ? fromBase64Url(token.slice(PREFIX.length)) : undefined
      if (bytes === undefined || bytes.length < KEY_ID_BYTES + NONCE_BYTES + 16)
        return refuse('it is malformed or truncated')
      const id = bytes.subarray(0, KEY_ID_BYTES)
      const key = (await keys()).find((candidate) => candidate.id.every((byte, index) => byte === id[index]))
      if (key === undefined)
        return refuse('it was sealed with another secret, by another server or at another stage')
      const nonce = bytes.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES)
      let content: ArrayBuffer
      try {
        content = await crypto.subtle.decrypt(
          { name: 'AES-GCM', iv: nonce },
          key.key,
          bytes.subarray(KEY_ID_BYTES + NONCE_BYTES),
        )
      } catch {
        return refuse('it was tampered with')
      }
      const [expiresAt, bound, value] = await unpack(new Uint8Array(content))
      const actual = await bindingParts(binding)
      const foreign = BOUND_TO.find((_name, index) => bound[index] !== actual[index])
      if (foreign !== undefined) return refuse(`it was made for another ${foreign}`)
      if (expiresAt < Date.now()) return refuse('it has expired')
      return { ok: true, value, id: toBase64Url(nonce), expiresAt }
    },
  }
}

const BOUND_TO = ['era', 'method', 'tool, prompt or resource', 'set of arguments', 'principal'] as const

function refuse(reason: string): Opened {
  return { ok: false, reason }
}

async function deriveKey(secret: string, serverId: string, stage: string | undefined): Promise<Key> {
  const material = await crypto.subtle.importKey('raw', utf8(secret), 'HKDF', false, [
    'deriveBits',
    'deriveKey',
  ])
  const hkdf = (purpose: string) => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: utf8('mayfly-mcp/seal/1'),
    // Before the first ":", which neither a purpose nor a stage contains: an id may contain anything.
    info: utf8(`${purpose}${stage === undefined ? '' : `@${stage}`}:${serverId}`),
  })
  const [key, id] = await Promise.all([
    crypto.subtle.deriveKey(hkdf('key'), material, { name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]),
    crypto.subtle.deriveBits(hkdf('id'), material, KEY_ID_BYTES * 8),
  ])
  return { id: new Uint8Array(id), key }
}

/** In the order of `BOUND_TO`. */
async function bindingParts(binding: Binding): Promise<readonly string[]> {
  const { era, method, target, principal } = binding
  return [era, method, target, await digest(canonicalJson(binding.arguments)), principal]
}

/** Sorts keys, so that a client may send the same arguments in another order. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, node: unknown) =>
    node !== null && typeof node === 'object' && !Array.isArray(node)
      ? Object.fromEntries(Object.entries(node).sort(([a], [b]) => (a < b ? -1 : 1)))
      : node,
  )
}

type Content = readonly [expiresAt: number, bound: readonly string[], value: unknown]

async function pack(content: Content): Promise<Uint8Array<ArrayBuffer>> {
  const plain = utf8(JSON.stringify(content))
  // Vercel's edge-runtime cannot compress.
  return plain.length <= COMPRESS_ABOVE_BYTES || typeof CompressionStream === 'undefined'
    ? concatenate(Uint8Array.of(PLAIN), plain)
    : concatenate(Uint8Array.of(DEFLATED), await through(plain, new CompressionStream('deflate-raw')))
}

async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Content> {
  const body = bytes.subarray(1)
  const plain = bytes[0] === DEFLATED ? await through(body, new DecompressionStream('deflate-raw')) : body
  return JSON.parse(new TextDecoder().decode(plain)) as Content
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer())
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function concatenate(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}
