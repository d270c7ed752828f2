/** Where a stateless server stores the subscriptions of its legacy clients. */
import { ABOVE_ZERO } from '../definition/option-kind.ts'
import type { StoreOwner } from '../definition/store-owner.ts'
import type { Names } from '../definition/unknown-option.ts'

/**
 * The URIs of each session. A session that was neither changed nor listed for the store's time to live is forgotten. Each method may
 * reject; the client is then asked to try again.
 */
export interface SubscriptionStore {
  /** Adds a URI; adding it again has no effect. `holder`: whose session it is, for stores that limit what one caller holds. */
  add(session: string, uri: string, holder: SubscriptionHolder): unknown
  remove(session: string, uri: string): unknown
  list(session: string): readonly string[] | Promise<readonly string[]>
  /** Forgets a session. */
  clear(session: string): unknown
  /** Called by the server that takes it, before anything else: the names of keys should contain `owner.name()`. */
  attach?(owner: StoreOwner): void
}

/** The caller of a session. */
export interface SubscriptionHolder {
  /** A digest of its principal or address; empty for callers who cannot be told apart. */
  readonly caller: string
  /** The part of what the others leave that it may hold: above 0, and 1 for all. */
  readonly share: number
}

/** Options of every store. */
export interface SubscriptionStoreOptions {
  /** Milliseconds after which a session is deleted if its client neither subscribes nor opens its stream. Default 86 400 000, a day. */
  readonly ttlMs?: number
  /**
   * Maximum characters of all URIs, with 100 more for each. Default 10 000 000, about 20 MB. Beyond a caller's share (`http.callerShare`) its
   * own least recently used sessions are removed, beyond the maximum those of all.
   */
  readonly maxCharacters?: number
}

/** The names of these options. */
export const SUBSCRIPTION_OPTIONS: Names<SubscriptionStoreOptions> = {
  ttlMs: [ABOVE_ZERO],
  maxCharacters: [ABOVE_ZERO],
}

export const DEFAULT_TTL_MS = 86_400_000
export const DEFAULT_MAX_CHARACTERS = 10_000_000
export const CHARACTERS_PER_URI = 100

interface Stored {
  readonly caller: string
  readonly uris: Set<string>
  characters: number
  expiresAt: number
}

/** Creates a store within one process. Unused sessions are removed when others are added, without a timer. */
export function createMemoryStore({
  ttlMs = DEFAULT_TTL_MS,
  maxCharacters = DEFAULT_MAX_CHARACTERS,
}: SubscriptionStoreOptions = {}): SubscriptionStore {
  /** Least recently used first; of each caller, too. */
  const sessions = new Map<string, Stored>()
  const callers = new Map<string, { readonly sessions: Set<string>; characters: number }>()
  let characters = 0
  const count = (stored: Stored, added: number): void => {
    stored.characters += added
    callers.get(stored.caller)!.characters += added
    characters += added
  }
  const put = (session: string, stored: Stored): void => {
    const own = callers.get(stored.caller) ?? { sessions: new Set(), characters: 0 }
    callers.set(stored.caller, own)
    own.sessions.add(session)
    sessions.set(session, stored)
  }
  const take = (session: string, { caller }: Stored): void => {
    sessions.delete(session)
    callers.get(caller)!.sessions.delete(session)
  }
  const forget = (session: string): void => {
    const stored = sessions.get(session)
    if (stored === undefined) return
    count(stored, -stored.characters)
    take(session, stored)
    if (callers.get(stored.caller)!.sessions.size === 0) callers.delete(stored.caller)
  }
  const use = (session: string): Stored | undefined => {
    const stored = sessions.get(session)
    if (stored === undefined) return undefined
    if (stored.expiresAt <= Date.now()) {
      forget(session)
      return undefined
    }
    stored.expiresAt = Date.now() + ttlMs
    take(session, stored)
    put(session, stored)
    return stored
  }
  /** The oldest of these, but never the session that was just used, which is the last. */
  const forgetOldest = (of: { readonly size: number; keys(): Iterable<string> }): boolean => {
    const [oldest] = of.size > 1 ? of.keys() : []
    if (oldest !== undefined) forget(oldest)
    return oldest !== undefined
  }
  const makeRoom = ({ caller, share }: SubscriptionHolder): void => {
    for (const [session, { expiresAt }] of sessions) {
      if (expiresAt > Date.now()) break
      forget(session)
    }
    const own = callers.get(caller)!
    while (own.characters > share * (maxCharacters - characters + own.characters))
      if (!forgetOldest(own.sessions)) break
    while (characters > maxCharacters) if (!forgetOldest(sessions)) break
  }
  return {
    add(session, uri, holder) {
      let stored = use(session)
      if (stored === undefined || stored.caller !== holder.caller) {
        // An address may change.
        const { uris = new Set<string>(), characters: known = 0 } = stored ?? {}
        if (stored !== undefined) forget(session)
        stored = { caller: holder.caller, uris, characters: 0, expiresAt: Date.now() + ttlMs }
        put(session, stored)
        count(stored, known)
      }
      if (!stored.uris.has(uri)) count(stored, uri.length + CHARACTERS_PER_URI)
      stored.uris.add(uri)
      makeRoom(holder)
    },
    remove(session, uri) {
      const stored = use(session)
      if (stored?.uris.delete(uri)) count(stored, -uri.length - CHARACTERS_PER_URI)
    },
    list: (session) => [...(use(session)?.uris ?? [])],
    clear: forget,
  }
}
