/**
 * What the servers behind said last, by server and credentials: fresh for a time, then served while it is renewed, and kept while a
 * server is down.
 */
import { withTimeout } from '../definition/timeout.ts'
import { type Budget, type Forget, SHARE } from './byte-budget.ts'

export interface ListCacheOptions {
  /** Milliseconds for which a value is fresh. */
  readonly ttlMs: number
  /** Milliseconds to wait after a failure before the next attempt. */
  readonly retryMs: number
  /** Maximum milliseconds of one attempt. */
  readonly timeoutMs: number
  /** Maximum values; the one that was used longest ago is forgotten first, of a caller with half of them its own. */
  readonly maxEntries: number
  /** Limits their bytes, together with what else it counts. */
  readonly budget: Budget
  /** Called with the bytes of a value that is too large to be kept. It is read again for each request. */
  readonly onTooLarge: (bytes: number) => void
}

/** A value, and what it costs to keep it. */
export interface Sized {
  readonly bytes: number
  /** The caller that it is kept for; undefined for all. */
  readonly owner: string | undefined
}

export interface Reading<Value> {
  /** The caller that it is kept for. Undefined: all. */
  readonly owner?: string | undefined
  readonly load: (previous: Value | undefined) => Promise<Value>
  /** Keeps the invocation alive while a value is renewed. */
  readonly waitUntil: (promise: Promise<unknown>) => void
  /** Called once per outage. */
  readonly onFailed: (error: unknown) => void
  /** Maximum milliseconds to wait for a first value. */
  readonly waitMs: number
}

/** Milliseconds for which a changed value is waited for: a server that says so often must not delay the others. */
const RENEWAL_WAIT_MS = 2000

interface Entry<Value> {
  readonly key: string
  readonly owner: string | undefined
  /** How often the server said that it has changed, and how many of these changes the value has seen. */
  changes: number
  seen: number
  value: Value | undefined
  loadedAt: number
  failedAt: number | undefined
  /** The attempt that is running. It may never settle where the platform drops what an ended request began. */
  loading:
    | { readonly promise: Promise<Value | undefined>; readonly since: number; readonly changes: number }
    | undefined
  /** Removes it from the cache. */
  readonly forget: Forget
}

export class ListCache<Value extends Sized> {
  readonly #options: ListCacheOptions
  readonly #entries = new Map<string, Entry<Value>>()

  constructor(options: ListCacheOptions) {
    this.#options = options
  }

  /** The value, or undefined if there is none yet: the server failed, or did not answer in time. Never rejects. */
  async read(key: string, reading: Reading<Value>): Promise<Value | undefined> {
    const entry = this.#entry(key, reading.owner)
    // What was being read may be older than a change: then it is read once more.
    for (let turn = 0; turn < 2; turn++) {
      const now = Date.now()
      const isOutdated = entry.seen < entry.changes
      const { value } = entry
      if (value !== undefined && !isOutdated && now - entry.loadedAt < this.#options.ttlMs) return value
      // Only the first attempt is waited for: a server that is down must not delay the others.
      const isAwaited = (value === undefined || isOutdated) && entry.failedAt === undefined
      const mayTry = entry.failedAt === undefined || now - entry.failedAt >= this.#options.retryMs
      const isRunning = entry.loading !== undefined && now - entry.loading.since < this.#options.timeoutMs
      if (mayTry && !isRunning) this.#load(entry, now, reading)
      const { loading } = entry
      if (!isAwaited || loading === undefined) return value
      const waitMs = value === undefined ? reading.waitMs : Math.min(reading.waitMs, RENEWAL_WAIT_MS)
      const found = await withTimeout(loading.promise, waitMs, 'server').catch(() => entry.value)
      if (loading.changes >= entry.changes) return found
    }
    return entry.value
  }

  /** The value has changed at its source: those who were told wait for the next one. */
  expire(key: string): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) entry.changes++
  }

  #load(entry: Entry<Value>, since: number, { load, waitUntil, onFailed }: Reading<Value>): void {
    const { changes } = entry
    const attempt = async (): Promise<Value | undefined> => {
      try {
        const value = await load(entry.value)
        entry.loadedAt = Date.now()
        entry.seen = changes
        entry.failedAt = undefined
        this.#keep(entry, value)
        return value
      } catch (error) {
        if (entry.failedAt === undefined) onFailed(error)
        entry.failedAt = Date.now()
        return entry.value
      } finally {
        if (entry.loading === loading) entry.loading = undefined
      }
    }
    const loading = { promise: attempt(), since, changes }
    entry.loading = loading
    waitUntil(loading.promise)
  }

  #keep(entry: Entry<Value>, value: Value): void {
    const { budget, onTooLarge } = this.#options
    entry.value = undefined
    // Forgotten while it was read.
    if (this.#entries.get(entry.key) !== entry) return
    if (budget.keep(entry.forget, value.bytes, value.owner)) entry.value = value
    else onTooLarge(value.bytes)
  }

  #entry(key: string, owner: string | undefined): Entry<Value> {
    const entry = this.#entries.get(key) ?? this.#create(key, owner)
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#options.budget.touch(entry.forget)
    if (this.#entries.size > this.#options.maxEntries) this.#forgetOldest(entry)
    return entry
  }

  /** Of the caller's own, if it has its share already. */
  #forgetOldest(added: Entry<Value>): void {
    const all = [...this.#entries.values()]
    const own = all.filter((one) => one !== added && one.owner === added.owner)
    const [oldest] = own.length >= this.#options.maxEntries * SHARE ? own : all
    if (oldest !== undefined) this.#options.budget.forget(oldest.forget)
  }

  #create(key: string, owner: string | undefined): Entry<Value> {
    const forget = (): void => void this.#entries.delete(key)
    return {
      key,
      owner,
      changes: 0,
      seen: 0,
      value: undefined,
      loadedAt: 0,
      failedAt: undefined,
      loading: undefined,
      forget,
    }
  }
}
