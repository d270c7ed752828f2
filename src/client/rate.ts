/** A rate limit: `burst` events immediately, then `perSecond`. */
import { type Bucket, fill } from '../definition/leaky-bucket.ts'

/** Returns true for events within the limit. */
export function createRate(burst: number, perSecond: number): () => boolean {
  let bucket: Bucket | undefined
  return () => {
    bucket = fill(bucket, burst, 1000 / perSecond)
    return bucket.waitMs === 0
  }
}
