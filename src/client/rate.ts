/** How often something may happen: `burst` times at once, and again as time goes by. */

/** True as often as that; reads the clock when asked, and needs no timer. */
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
