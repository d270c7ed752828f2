/**
 * API keys in a KV namespace of Cloudflare. An entry for each key, which never changes, and entries of their own for what was revoked and
 * when a key was last used: KV has no conditional write, so two writers of one entry could undo each other.
 */
import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import type { OutageOptions } from '../src/events/outage.ts'
import { fromRecord, type KeyStore, type StoredKey, toRecord } from '../src/keys/store.ts'
import { USED_EVERY_MS } from '../src/keys/uses.ts'
import { createStoreAsk } from './_tasks/store-ask.ts'

/** The used part of a KV binding; inlined, so that the types need no platform package. */
export interface KVNamespace {
  get(name: string): Promise<string | null>
  put(name: string, value: string, options?: { metadata?: unknown }): Promise<void>
  list(options: { prefix: string; limit?: number; cursor?: string | null }): Promise<{
    readonly keys: readonly { readonly name: string; readonly metadata?: unknown }[]
    readonly list_complete: boolean
    readonly cursor?: string
  }>
}

/** Options of `kvKeyStore`. */
export interface KVKeyStoreOptions extends Pick<OutageOptions, 'timeoutMs'> {
  /** Prefix of the entries, if several servers share one namespace. Default `mayfly`. */
  readonly prefix?: string
}

const OPTIONS: Names<KVKeyStoreOptions> = { prefix: 'string', timeoutMs: [0] }

const MAX_PAGE = 1000

/**
 * Creates a store of API keys in a KV namespace, for `apiKeys` of `mayfly-mcp/keys`. Other locations see a new or revoked key after up to a
 * minute: use a Durable Object or a database where that is too late.
 *
 * ```ts
 * apiKeys({ store: (env: Env) => kvKeyStore(env.KEYS) })
 * ```
 *
 * @throws TypeError without a binding.
 */
export function kvKeyStore(namespace: KVNamespace, options: KVKeyStoreOptions = {}): KeyStore {
  if (typeof namespace?.get !== 'function' || typeof namespace.list !== 'function')
    throw new TypeError(
      'kvKeyStore needs the binding of a KV namespace: add it to kv_namespaces of the wrangler configuration.',
    )
  refuseUnknown('kvKeyStore', options, OPTIONS)
  const { prefix = 'mayfly' } = options
  const ask = createStoreAsk(options, 'KV')
  const nameOf = (kind: 'key' | 'revoked' | 'used', id: string): string => `${prefix}:${kind}:${id}`
  const get = (kind: 'key' | 'revoked' | 'used', id: string) => ask(() => namespace.get(nameOf(kind, id)))
  // The value is also the metadata, which a list contains.
  const put = (kind: 'key' | 'revoked' | 'used', id: string, value: string) =>
    ask(() => namespace.put(nameOf(kind, id), value, { metadata: { value: JSON.parse(value) } }))

  return {
    async create(key) {
      const record = toRecord(key)
      if ((await get('key', key.id)) !== null) return false
      await put('key', key.id, record)
      return true
    },
    async read(id) {
      const [record, revokedAt] = await Promise.all([get('key', id), get('revoked', id)])
      return record === null ? undefined : fromRecord(record, { revokedAt })
    },
    async list({ limit, after }) {
      const page = await ask(() =>
        namespace.list({
          prefix: nameOf('key', ''),
          limit: Math.min(limit, MAX_PAGE),
          ...(after !== undefined && { cursor: after }),
        }),
      )
      const ids = page.keys.map(({ name }) => name.slice(nameOf('key', '').length))
      const [revoked, used] = await Promise.all([
        metadataOf(namespace, nameOf('revoked', ''), ask),
        metadataOf(namespace, nameOf('used', ''), ask),
      ])
      const keys = page.keys.map(({ metadata }, index): StoredKey => {
        const id = ids[index]!
        return fromRecord(valueIn(metadata), { revokedAt: revoked.get(id), lastUsedAt: used.get(id) })
      })
      return { keys, ...(!page.list_complete && page.cursor !== undefined && { next: page.cursor }) }
    },
    async revoke(id, revokedAt) {
      if ((await get('key', id)) === null) return false
      if ((await get('revoked', id)) === null) await put('revoked', id, String(revokedAt))
      return true
    },
    async use(id, lastUsedAt) {
      // `read` does not know, and KV is billed by the write.
      const known = Number((await get('used', id)) ?? 0)
      if (lastUsedAt - known >= USED_EVERY_MS) await put('used', id, String(lastUsedAt))
    },
  }
}

/** Of all entries that begin so, up to 100 000, by the rest of their names. */
async function metadataOf(
  namespace: KVNamespace,
  prefix: string,
  ask: ReturnType<typeof createStoreAsk>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  let cursor: string | undefined
  for (let pages = 0; pages < 100; pages++) {
    const after = cursor
    const page = await ask(() => namespace.list({ prefix, ...(after !== undefined && { cursor: after }) }))
    for (const { name, metadata } of page.keys) found.set(name.slice(prefix.length), valueIn(metadata))
    cursor = page.list_complete ? undefined : page.cursor
    if (cursor === undefined) break
  }
  return found
}

function valueIn(metadata: unknown): string {
  return JSON.stringify((metadata as { readonly value?: unknown } | null | undefined)?.value ?? '')
}
