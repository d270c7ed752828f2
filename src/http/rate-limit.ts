/**
 * Rate limits: how often one caller may call.
 */

import { type Bucket, fill } from '../definition/leaky-bucket.ts'
import { ABOVE_ZERO } from '../definition/option-kind.ts'
import { setNewest } from '../definition/set-newest.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'

export type RateVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false
      /** Seconds until the next call is allowed. */
      readonly retryAfterSeconds: number
    }

/** Counts calls by key. An in-memory limiter counts for one process or isolate, one on a shared store for all. */
export interface RateLimiter {
  /**
   * Counts one call of `key` and returns whether it is allowed. `server` is the name of the server and its stage, such as `mayfly_shop`, which
   * the names of keys in a shared place should contain.
   */
  limit(key: string, server?: string): RateVerdict | Promise<RateVerdict>
}

/** Options of `createMemoryRateLimiter`. */
export interface MemoryRateLimiterOptions {
  /** Calls that a caller may make in a burst, and per window. */
  calls: number
  /** The window in milliseconds. */
  windowMs: number
  /** Maximum callers remembered; the one with the oldest last call is forgotten first. Default 10 000. */
  maxKeys?: number
}

const OPTIONS: Names<MemoryRateLimiterOptions> = { calls: [1], windowMs: [ABOVE_ZERO], maxKeys: [1] }

/**
 * Creates a rate limiter that counts in this process or isolate. After a burst of `calls`, further calls are allowed evenly over the window
 * (a leaky bucket), so that no caller waits for a whole window.
 *
 * ```ts
 * new MCPServer({ …, http: { rateLimiter: createMemoryRateLimiter({ calls: 60, windowMs: 60_000 }) } })
 * ```
 *
 * @throws TypeError for a number that is not finite, a `windowMs` of 0 or less, and `calls` or `maxKeys` below 1.
 */
export function createMemoryRateLimiter(options: MemoryRateLimiterOptions): RateLimiter {
  requireOptions('createMemoryRateLimiter', options, OPTIONS, 'calls', 'windowMs')
  const { calls, windowMs, maxKeys = 10_000 } = options
  const intervalMs = windowMs / calls
  /** By key. The Map is ordered by each key's last call. */
  const buckets = new Map<string, Bucket>()
  return {
    limit: (key) => {
      const bucket = fill(buckets.get(key), calls, intervalMs)
      setNewest(buckets, key, bucket, maxKeys)
      if (bucket.waitMs === 0) return { ok: true }
      return { ok: false, retryAfterSeconds: Math.ceil(bucket.waitMs / 1000) }
    },
  }
}
