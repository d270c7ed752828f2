/** Where a stateless server stores the subscriptions of its legacy clients. */
import type { Names } from '../definition/unknown-option.ts'

/**
 * The URIs of each session. A session that was neither changed nor listed for the store's time to live is forgotten. Each method may
 * reject; the client is then asked to try again.
 */
export interface SubscriptionStore {
  /** Adds a URI; adding it again has no effect. */
  add(session: string, uri: string): unknown
  remove(session: string, uri: string): unknown
  list(session: string): readonly string[] | Promise<readonly string[]>
  /** Forgets a session. */
  clear(session: string): unknown
}

/** Options of every store. */
export interface SubscriptionStoreOptions {
  /** Milliseconds after which a session is deleted if its client neither subscribes nor opens its stream. Default 86 400 000, a day. */
  readonly ttlMs?: number
}

/** The names of these options. */
export const SUBSCRIPTION_OPTIONS: Names<SubscriptionStoreOptions> = { ttlMs: 1 }

export const DEFAULT_TTL_MS = 86_400_000

/** Maximum characters of all URIs, with 100 more for each: at most about 20 MB. The least recently used sessions are removed first. */
const MAX_CHARACTERS = 10_000_000
const CHARACTERS_PER_URI = 100

interface Stored {
  readonly uris: Set<string>
  expiresAt: number
}

/** Creates a store within one process. Unused sessions are removed when others are added, without a timer. */
export function createMemoryStore({
  ttlMs = DEFAULT_TTL_MS,
}: SubscriptionStoreOptions = {}): SubscriptionStore {
  /** Least recently used first. */
  const sessions = new Map<string, Stored>()
  let characters = 0
  const forget = (session: string): void => {
    for (const { length } of sessions.get(session)?.uris ?? []) characters -= length + CHARACTERS_PER_URI
    sessions.delete(session)
  }
  const use = (session: string): Stored | undefined => {
    const stored = sessions.get(session)
    if (stored === undefined) return undefined
    if (stored.expiresAt <= Date.now()) {
      forget(session)
      return undefined
    }
    stored.expiresAt = Date.now() + ttlMs
    sessions.delete(session)
    sessions.set(session, stored)
    return stored
  }
  const makeRoom = (): void => {
    for (const [session, { expiresAt }] of sessions) {
      if (expiresAt > Date.now() && characters <= MAX_CHARACTERS) return
      forget(session)
    }
  }
  return {
    add(session, uri) {
      const stored = use(session) ?? { uris: new Set(), expiresAt: Date.now() + ttlMs }
      sessions.set(session, stored)
      if (!stored.uris.has(uri)) characters += uri.length + CHARACTERS_PER_URI
      stored.uris.add(uri)
      makeRoom()
    },
    remove(session, uri) {
      if (use(session)?.uris.delete(uri)) characters -= uri.length + CHARACTERS_PER_URI
    },
    list: (session) => [...(use(session)?.uris ?? [])],
    clear: forget,
  }
}
