/**
 * Shares of what is limited for all callers: streams, sessions, calls, bytes. One caller leaves room for others: it may hold at most a part
 * of the places that the others leave. Callers who cannot be told apart count as one, which may hold all places as long as no other is known.
 */

/** Why there is no place: the caller holds its share, or all places are taken. */
export type Full = 'share' | 'all'

export interface Place {
  /** Takes more for the same caller. */
  grow(amount: number): Full | undefined
  /** Frees the place. Further calls are ignored. */
  free(): void
}

/** What holds a place that may be taken away. */
export interface Holder {
  /** Since when it is idle, in milliseconds since the epoch; undefined if it must not be taken away now. */
  idleSince(): number | undefined
  /** Ends it, and frees its place before it returns. */
  evict(): void
}

export interface Shares {
  /**
   * Takes a place. If there is none, the longest idle holder is evicted: one of the same caller if it holds its share, otherwise one of
   * the caller that holds most.
   *
   * @param caller Undefined: a caller who cannot be told from others. @param amount How many places.
   */
  take(caller: string | undefined, amount?: number, holder?: Holder): Place | Full
}

interface Caller {
  readonly key: string | undefined
  held: number
  readonly holders: Set<Holder>
}

/**
 * @param places How many there are. @param share The part of the places left by others that one caller may hold: 1 is all. A caller who
 * holds none may always take one, if there is one.
 */
export function createShares(places: number, share: number): Shares {
  const callers = new Map<string | undefined, Caller>()
  let held = 0
  /** Whether a caller that can be told from others was seen. */
  let hasKnown = false

  const fullFor = (caller: Caller, amount: number): Full | undefined => {
    const isShared = caller.key !== undefined || hasKnown
    const left = places - (held - caller.held)
    if (isShared && caller.held > 0 && caller.held + amount > share * left) return 'share'
    if (held + amount > places) return 'all'
    // The others may end: it needs no more room than it would have alone.
    return isShared && amount > 1 && caller.held + amount > share * places ? 'share' : undefined
  }

  const add = (caller: Caller, amount: number): void => {
    caller.held += amount
    held += amount
    if (caller.held > 0) callers.set(caller.key, caller)
    else callers.delete(caller.key)
  }

  const evictOne = (full: Full, own: Caller): boolean => {
    let [longest, since, most] = [undefined as Holder | undefined, Number.POSITIVE_INFINITY, 0]
    for (const { held: count, holders } of full === 'share' ? [own] : callers.values()) {
      if (count < most) continue
      for (const holder of holders) {
        const idle = holder.idleSince()
        if (idle === undefined || (count === most && idle >= since)) continue
        ;[longest, since, most] = [holder, idle, count]
      }
    }
    const before = held
    longest?.evict()
    return held < before
  }

  return {
    take(key, amount = 1, holder) {
      hasKnown ||= key !== undefined
      const caller = callers.get(key) ?? { key, held: 0, holders: new Set() }
      for (let full = fullFor(caller, amount); full !== undefined; full = fullFor(caller, amount))
        if (!evictOne(full, caller)) return full
      add(caller, amount)
      if (holder !== undefined) caller.holders.add(holder)
      let own = amount
      return {
        grow(more) {
          const full = fullFor(caller, more)
          if (full !== undefined) return full
          own += more
          add(caller, more)
          return undefined
        },
        free() {
          if (own === 0) return
          add(caller, -own)
          own = 0
          if (holder !== undefined) caller.holders.delete(holder)
        },
      }
    },
  }
}

/** What a client that gets no place is answered. */
interface FullAnswer {
  readonly status: number
  readonly message: string
  readonly headers: { readonly 'retry-after': string }
}

/** @param what The places in the plural. @param limit The option that limits them, or an empty string. */
export function fullAnswer(full: Full, what: string, limit: string, retryAfterSeconds: number): FullAnswer {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  return full === 'all'
    ? { status: 503, message: `Too many ${what}${limit && ` ("${limit}")`}: try again later.`, headers }
    : {
        status: 429,
        message: `Too many ${what} of one caller ("http.callerShare"): end some first.`,
        headers,
      }
}
