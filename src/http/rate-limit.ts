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
 * Counts in this process or isolate. Calls are let in evenly once the first `calls` are used up (a leaky bucket), so no caller waits
 * for a window to end.
 *
 * ```ts
 * new MCPServer({ …, http: { rateLimiter: createMemoryRateLimiter({ calls: 60, windowMs: 60_000 }) } })
 * ```
 *
 * @throws TypeError for a number that is not finite, a window of no time, and less than one call or caller.
 */
export function createMemoryRateLimiter({
  calls,
  windowMs,
  maxKeys = 10_000,
}: MemoryRateLimiterOptions): RateLimiter {
  check('calls', calls, 1)
  check('windowMs', windowMs, Number.MIN_VALUE)
  check('maxKeys', maxKeys, 1)
  const intervalMs = windowMs / calls
  /** By key, how many calls had not leaked away by then. The Map's order is that of their last calls. */
  const buckets = new Map<string, { level: number; at: number }>()
  return {
    limit: (key) => {
      const now = Date.now()
      const bucket = buckets.get(key) ?? { level: 0, at: now }
      const leaked = Math.max(now - bucket.at, 0) / intervalMs
      const level = Math.max(bucket.level - leaked, 0)
      const isFull = level > calls - 1 + ROUNDING
      buckets.delete(key)
      if (buckets.size >= maxKeys) buckets.delete(buckets.keys().next().value!)
      buckets.set(key, { level: isFull ? level : level + 1, at: now })
      if (!isFull) return { ok: true }
      return { ok: false, retryAfterSeconds: Math.ceil(((level - calls + 1) * intervalMs) / 1000) }
    },
  }
}

/** Of a quotient: a caller who waited as long as it was told to is not a billionth of a call early. */
const ROUNDING = 1e-9

function check(option: string, value: number, least: number): void {
  if (Number.isFinite(value) && value >= least) return
  throw new TypeError(
    `"${option}" of a rate limiter must be a number ${least < 1 ? 'above 0' : 'of 1 or more'}.`,
  )
}
