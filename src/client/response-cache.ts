/**
 * Caches what a server allows (`ttlMs`), limited by characters. The official store counts entries, each of which may be as large as a
 * response, and also stores entries that it never returns.
 */
import { type CacheEntry, type CacheKey, InMemoryResponseCacheStore } from '@modelcontextprotocol/client'

/** The only method whose result depends on a parameter; each kind of list has one result. */
const READ = 'resources/read'
const MAX_READS = 512

interface CachedRead {
  readonly key: CacheKey
  readonly length: number
}

export class ResponseCache extends InMemoryResponseCacheStore {
  readonly #maxCharacters: number
  readonly #keepsPrivate: boolean
  /** The contents of resources, oldest first. */
  readonly #reads = new Map<string, CachedRead>()
  #characters = 0

  /**
   * @param maxCharacters The limit for the contents of all resources together.
   * @param keepsPrivate Whether all requests have one token, so that what is private may be returned again.
   */
  constructor(maxCharacters: number, keepsPrivate: boolean) {
    super({ maxEntries: 0 })
    this.#maxCharacters = maxCharacters
    this.#keepsPrivate = keepsPrivate
  }

  override set(key: CacheKey, entry: Omit<CacheEntry, 'stamp'>): number {
    const { expiresAt = 0, ...stale } = entry
    const mayReturn = this.#keepsPrivate || entry.scope === 'public'
    // A list without a time is not returned, but has the schemas of its tools.
    if (key.method !== READ) return super.set(key, mayReturn ? entry : stale)
    this.delete(key)
    const { value } = entry
    // The stamp of an entry that is not stored is never compared.
    if (!mayReturn || expiresAt <= Date.now() || value.length > this.#maxCharacters) return 0
    this.#reads.set(nameOf(key), { key, length: value.length })
    this.#characters += value.length
    for (const [, { key: oldest }] of this.#reads) {
      if (this.#characters <= this.#maxCharacters && this.#reads.size <= MAX_READS) break
      this.delete(oldest)
    }
    return super.set(key, entry)
  }

  override delete(key: CacheKey): void {
    const name = nameOf(key)
    this.#characters -= this.#reads.get(name)?.length ?? 0
    this.#reads.delete(name)
    super.delete(key)
  }

  override evict(method: string): void {
    if (method === READ) this.#forget()
    super.evict(method)
  }

  override clear(): void {
    this.#forget()
    super.clear()
  }

  #forget(): void {
    this.#reads.clear()
    this.#characters = 0
  }
}

const nameOf = ({ method, params, partition }: CacheKey): string =>
  JSON.stringify([method, params, partition])
