/** Where API keys are stored: by their ids, with hashes in place of the keys. */
import { expiriesOf, verdictOf } from '../auth/verdict.ts'
import { textOf } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import { idWithin } from './key.ts'

/** What a store has of a key. Times are milliseconds since the epoch. */
export interface StoredKey {
  /** 12 letters and digits, which the key shows: `mk_<id>_…`. */
  readonly id: string
  /** SHA-256 of the key as base64url. A slow hash would add nothing: the secret has 178 random bits, which cannot be guessed. */
  readonly hash: string
  readonly name: string
  /** Whose calls they are, `ctx.auth.clientId`. Default: `name`. */
  readonly owner?: string
  readonly scopes: readonly string[]
  /** The `id` of the server that it is for. A key without it is accepted nowhere. */
  readonly server?: string
  /** The stage of that server, its `MAYFLY_STAGE`. Undefined: production. */
  readonly stage?: string
  readonly createdAt: number
  /** Default: it does not expire. */
  readonly expiresAt?: number
  readonly revokedAt?: number
  /** Up to an hour late. Undefined: unknown. */
  readonly lastUsedAt?: number
}

export interface KeyPage {
  /** May be empty before the last page. */
  readonly keys: readonly StoredKey[]
  /** For `after` of the next page. Undefined: this is the last one. */
  readonly next?: string
}

/** Where keys are stored. Each function rejects if the store is down. */
export interface KeyStore {
  /** Stores a new key. Resolves with false if the id exists. */
  create(key: StoredKey): Promise<boolean>
  /** Resolves with undefined for an unknown id. A row that is not a `StoredKey` lets no one in: its caller gets 503, and the log the reason. */
  read(id: string): Promise<StoredKey | undefined>
  /** About `limit` keys, in an order of the store's own. A key that is stored meanwhile may be in two pages or none. */
  list(options: { readonly limit: number; readonly after?: string | undefined }): Promise<KeyPage>
  /** Sets `revokedAt` if it is not set. No later call may undo it. Resolves with false for an unknown id. */
  revoke(id: string, revokedAt: number): Promise<boolean>
  /** Sets `lastUsedAt`, and nothing else. Undefined: it is not stored. */
  use?(id: string, lastUsedAt: number): Promise<unknown>
  /** What is wrong with what is stored, for the operator. The other keys are served. */
  readonly fault?: string | undefined
  /** Whether the keys exist only in one process. Default false. */
  readonly isLocal?: boolean
  /** The variable with its keys: they change with the next deployment. */
  readonly variable?: string
}

/** Maximum bytes of a key in a store: what the metadata of an entry in Cloudflare's KV may have, less the times. */
export const MAX_RECORD_BYTES = 900

/** RFC 6749 §3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/
const MAX_NAME_CHARACTERS = 100

/** The members of a key that never change, as JSON. @throws TypeError for a value that cannot be stored. */
export function toRecord(key: StoredKey): string {
  const { id, hash, name, owner, scopes, server, stage, createdAt, expiresAt } = key
  const record = {
    id,
    hash,
    name,
    ...(owner !== undefined && owner !== name && { owner }),
    scopes,
    ...(server !== undefined && { server }),
    ...(stage !== undefined && { stage }),
    createdAt,
    ...(expiresAt !== undefined && { expiresAt }),
  }
  toStoredKey(record)
  const text = JSON.stringify(record)
  if (new TextEncoder().encode(text).length > MAX_RECORD_BYTES)
    throw new TypeError(`An API key with its name and scopes must have at most ${MAX_RECORD_BYTES} bytes.`)
  return text
}

/** Reads what `toRecord` returned, with the times that change. @throws Error for any other text. */
export function fromRecord(
  text: string,
  times: { revokedAt?: unknown; lastUsedAt?: unknown } = {},
): StoredKey {
  return toStoredKey({ ...(JSON.parse(text) as object), ...timesIn(times) })
}

function timesIn(times: { [name: string]: unknown }): object {
  const known = Object.entries(times).filter(([, at]) => at !== undefined && at !== null && at !== '')
  return Object.fromEntries(known.map(([name, at]) => [name, Number(at)]))
}

/**
 * A row that says in another spelling that its key was revoked, such as `revoked_at` or `active: false`, is a revoked key.
 *
 * @throws TypeError for a value that is not a stored key: a key whose scopes or expiry cannot be read must let no one in.
 */
export function toStoredKey(value: unknown): StoredKey {
  if (!isObject(value)) throw new TypeError('A stored API key is not an object.')
  const { id, hash, name, owner, scopes = [], server, stage, createdAt = 0 } = value
  const { expiresAt, revokedAt, lastUsedAt } = value
  const where = `The stored API key ${JSON.stringify(name ?? id ?? '')}`
  const check = (isRight: boolean, what: string): void => {
    if (!isRight) throw new TypeError(`${where} ${what}.`)
  }
  check(typeof id === 'string' && idWithin(id) === id, 'needs an "id" of 12 letters and digits')
  check(typeof hash === 'string' && /^[\w-]{43}$/.test(hash), 'needs a "hash": SHA-256 as base64url')
  check(isName(name), `needs a "name" of up to ${MAX_NAME_CHARACTERS} characters, without control characters`)
  check(owner === undefined || isName(owner), 'has an "owner" that is not a name')
  check(server === undefined || isName(server), 'has a "server" that is not a name')
  check(stage === undefined || isName(stage), 'has a "stage" that is not a name')
  const isScoped = Array.isArray(scopes) && scopes.every((one) => typeof one === 'string' && SCOPE.test(one))
  check(isScoped, 'has "scopes" that are not a list of strings without spaces')
  for (const [member, at] of Object.entries({ createdAt, expiresAt, revokedAt, lastUsedAt }))
    check(at === undefined || (typeof at === 'number' && at >= 0), `has no time in "${member}"`)
  const [other] = expiriesOf(value).find(([member]) => member !== 'expiresAt') ?? []
  check(other === undefined, `has "${other}": name it "expiresAt", in milliseconds since the epoch`)
  const verdict = verdictOf(value)
  check(
    verdict !== 'unclear',
    'does not say whether it is valid: "revokedAt" does, in milliseconds since the epoch',
  )
  const ended = revokedAt ?? (verdict === 'bad' ? 0 : undefined)
  return {
    id,
    hash,
    name,
    owner: owner ?? name,
    scopes,
    ...(server !== undefined && { server }),
    ...(stage !== undefined && { stage }),
    createdAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(ended !== undefined && { revokedAt: ended }),
    ...(lastUsedAt !== undefined && { lastUsedAt }),
  } as StoredKey
}

function isName(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= MAX_NAME_CHARACTERS &&
    !/\p{C}/u.test(value)
  )
}

/** For two entries with one id, of which neither is accepted: it is not known which one is meant. */
export function sameId({ id, name }: StoredKey, other: StoredKey): string {
  return `The stored API keys ${JSON.stringify(name)} and ${JSON.stringify(other.name)} have one id, mk_${id}, so neither is accepted: remove one.`
}

/** @throws TypeError unless it is a store. */
export function requireStore(where: string, store: unknown): asserts store is KeyStore {
  if (isObject(store) && typeof store.read === 'function') return
  throw new TypeError(
    `${where} needs a store of keys: postgresKeyStore(…), redisKeyStore(…), dynamoKeyStore(…), kvKeyStore(…), fileKeyStore(…) or environmentKeyStore.`,
  )
}

/** For an error of a store. */
export function storeError(error: unknown): string {
  return `The store of API keys failed: ${textOf(error)}`
}
