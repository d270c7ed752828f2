/**
 * A leaky bucket, for rate limits: a number of calls at once, then one for each interval. It has no timer.
 */

export interface Bucket {
  /** The calls in the bucket at the time `at`. */
  readonly level: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Milliseconds until the next call fits, if the last one did not; 0 if it did. */
  readonly waitMs: number
}

/** Tolerance for rounding: a caller that waited exactly as long as it was told to must not be refused. */
const ROUNDING = 1e-9

/** The bucket after one more call, which counts only if it fits. Undefined is an empty bucket. */
export function fill(bucket: Bucket | undefined, calls: number, intervalMs: number): Bucket {
  const now = Date.now()
  const leaked = bucket === undefined ? 0 : Math.max(now - bucket.at, 0) / intervalMs
  const level = Math.max((bucket?.level ?? 0) - leaked, 0)
  return level > calls - 1 + ROUNDING
    ? { level, at: now, waitMs: (level - calls + 1) * intervalMs }
    : { level: level + 1, at: now, waitMs: 0 }
}
