/** Makes, lists and revokes API keys. */
import { digest } from '../definition/digest.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import { type Names, refuseUnknown, requireOptions } from '../definition/unknown-option.ts'
import { storeFor, toAudience } from './audience.ts'
import { createKeyText, idWithin } from './key.ts'
import { type KeyStore, requireStore, type StoredKey, toRecord, toStoredKey } from './store.ts'

/** Options of `createKeyAdmin`. */
export interface KeyAdminOptions {
  /** The `id` of the server that its keys are for, or the `server` of its `apiKeys`. */
  server: string
  /** The stage of that server, its `MAYFLY_STAGE`. Default: production. */
  stage?: string | undefined
}

/** Options of `create`. */
export interface NewKeyOptions {
  /** What people call the key, up to 100 characters; not unique. */
  name: string
  /** Whose calls they are, `ctx.auth.clientId`: all keys of one owner are one caller. Default: `name`. */
  owner?: string
  /** Default: none. */
  scopes?: readonly string[]
  /** Milliseconds since the epoch. Default: it does not expire. */
  expiresAt?: number
}

/** A key without its hash. */
export type KeyInfo = Omit<StoredKey, 'hash'>

export interface CreatedKey extends KeyInfo {
  /** The key itself, which is not stored and cannot be shown again. */
  readonly key: string
}

/** Options of `list`. */
export interface KeyListOptions {
  /** From 1 to 1000. Default 100. A page may have fewer, or a few more. */
  limit?: number
  /** `next` of the page before. */
  after?: string
}

export interface KeyAdmin {
  /** @throws TypeError for an invalid name, scope or time. */
  create(options: NewKeyOptions): Promise<CreatedKey>
  /** One page of the server's keys, also revoked and expired ones. Keys without a server are in it, too. */
  list(options?: KeyListOptions): Promise<{ readonly keys: readonly KeyInfo[]; readonly next?: string }>
  /** Takes the id of a key. Servers refuse the key after `cacheMs` of `apiKeys` at the latest. Resolves with false for an unknown id. */
  revoke(id: string): Promise<boolean>
}

const ADMIN: Names<KeyAdminOptions> = { server: 'string', stage: 'string' }
const NEW_KEY: Names<NewKeyOptions> = { name: 'string', owner: 'string', scopes: 'strings', expiresAt: [0] }
const LIST: Names<KeyListOptions> = { limit: [1, 1000], after: 'string' }

/**
 * Makes, lists and revokes the keys of a server in a store, for your own pages and scripts: `mayfly keys` does the same in a terminal.
 *
 * ```ts
 * const { key } = await createKeyAdmin(store, { server: 'shop' }).create({ name: 'ci', scopes: ['deploy'] })
 * ```
 *
 * @throws TypeError unless it gets a store and a server, and for an invalid stage.
 */
export function createKeyAdmin(given: KeyStore, options: KeyAdminOptions): KeyAdmin {
  requireStore('createKeyAdmin', given)
  requireOptions('createKeyAdmin', options, ADMIN, 'server')
  const store = storeFor(given, toAudience(options.server, options.stage))
  const ask = <Value>(work: Promise<Value>): Promise<Value> =>
    withTimeout(work, ANSWER_TIMEOUT_MS, 'store of API keys')
  return {
    async create(options) {
      const { key, ...stored } = await createStoredKey(options)
      // A client that repeats a request without an answer finds its own key.
      const isStored =
        (await ask(store.create(stored))) || (await ask(store.read(stored.id)))?.hash === stored.hash
      if (!isStored) throw new Error('The id of the new API key exists: try again.')
      return { ...toInfo({ ...stored, ...store.audience }), key }
    },
    async list(options = {}) {
      refuseUnknown('list', options, LIST)
      const { keys, next } = await ask(store.list({ limit: options.limit ?? 100, after: options.after }))
      return { keys: keys.map(toInfo), ...(next !== undefined && { next }) }
    },
    async revoke(text) {
      const id = idWithin(String(text))
      return id !== undefined && (await ask(store.revoke(id, Date.now())))
    },
  }
}

/** A new key, and what is stored of it. @throws TypeError for invalid options. */
export async function createStoredKey(options: NewKeyOptions): Promise<StoredKey & { readonly key: string }> {
  requireOptions('create', options, NEW_KEY, 'name')
  const { name, owner, scopes = [], expiresAt } = options
  const { id, text } = createKeyText()
  const stored = toStoredKey({
    id,
    hash: await digest(text),
    name,
    ...(owner !== undefined && { owner }),
    scopes: [...new Set(scopes)],
    createdAt: Date.now(),
    ...(expiresAt !== undefined && { expiresAt: Math.floor(expiresAt) }),
  })
  if (expiresAt !== undefined && expiresAt <= Date.now())
    throw new TypeError('"expiresAt" of create must be in the future, in milliseconds since the epoch.')
  toRecord(stored)
  return { ...stored, key: text }
}

function toInfo({ hash: _, ...info }: StoredKey): KeyInfo {
  return info
}
