/** A rate limit: `burst` events at once, then `perSecond`. */

/** Returns true for events within the limit. Reads the clock when called, without a timer. */
export function createRate(burst: number, perSecond: number): () => boolean {
  let left = burst
  let at = Date.now()
  return () => {
    const now = Date.now()
    left = Math.min(burst, left + ((now - at) * perSecond) / 1000)
    at = now
    if (left < 1) return false
    left--
    return true
  }
}
