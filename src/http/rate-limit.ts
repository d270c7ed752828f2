/**
 * How often one caller may call.
 */

export type RateVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false
      /** Seconds after which the next call may come. */
      readonly retryAfterSeconds: number
    }

/** Counts calls by key. In memory it counts for one process or isolate; a shared store counts for all. */
export interface RateLimiter {
  /** Counts one call of `key`. */
  limit(key: string): RateVerdict | Promise<RateVerdict>
}

export interface MemoryRateLimiterOptions {
  /** Calls that a caller may make at once, and in each window. */
  calls: number
  /** Milliseconds. */
  windowMs: number
  /** Callers remembered; the one that was longest silent is forgotten first. Default 10 000. */
  maxKeys?: number
}

/**
 * Counts in this process or isolate. Calls are let in evenly once the first `calls` are used up (the generic cell rate algorithm),
 * so nobody waits for a window to end.
 *
 * ```ts
 * new MCPServer({ …, http: { rateLimiter: createMemoryRateLimiter({ calls: 60, windowMs: 60_000 }) } })
 * ```
 *
 * @throws TypeError for numbers that are not above 0.
 */
export function createMemoryRateLimiter({
  calls,
  windowMs,
  maxKeys = 10_000,
}: MemoryRateLimiterOptions): RateLimiter {
  for (const [option, value] of Object.entries({ calls, windowMs, maxKeys })) {
    if (!(value > 0)) throw new TypeError(`"${option}" of a rate limiter must be a number above 0.`)
  }
  const intervalMs = windowMs / calls
  /** By key, when all calls so far would have been let in, evenly. The Map's order is that of their last calls. */
  const arrivals = new Map<string, number>()
  return {
    limit: (key) => {
      const now = Date.now()
      const arrival = Math.max(arrivals.get(key) ?? 0, now)
      const aheadMs = arrival - now
      if (aheadMs > windowMs - intervalMs) {
        return { ok: false, retryAfterSeconds: Math.ceil((aheadMs - (windowMs - intervalMs)) / 1000) }
      }
      arrivals.delete(key)
      if (arrivals.size >= maxKeys) arrivals.delete(arrivals.keys().next().value!)
      arrivals.set(key, arrival + intervalMs)
      return { ok: true }
    },
  }
}
