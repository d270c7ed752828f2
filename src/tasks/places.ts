/**
 * The places for runs in this process. A task whose last run died with its process runs alone at first, so that a task that ends its
 * process takes no other with it, and is known by it.
 */

/** Milliseconds for which a task runs alone after a crash. Doubled with each crash in a row. */
const ALONE_MS = 5000

/** Milliseconds that such a task waits for others to end, while none begins. Then it runs beside those. */
const PATIENCE_MS = 5000

/** Milliseconds after the longest run in which it leaves. */
const LEAVE_MS = 60_000

/** The place of one run. */
export interface Place {
  /** Whether it runs alone, and will for this many milliseconds more. */
  isAlone(forMs: number): boolean
  leave(): void
}

export interface Places {
  /** Whether no run at all can begin now. */
  isShut(): boolean
  /** @param crashes of the task, in a row. Undefined: the run cannot begin now. */
  enter(crashes: number): Place | undefined
  /** For a call that has become a task, and runs already: never refused. */
  join(): Place
}

/** @param maxRuns at once. @param maxRunMs The longest run. */
export function createPlaces(maxRuns: number, maxRunMs: number): Places {
  /** When each place is given up: its run is over by then, or died without leaving, as in an object of an isolate that goes on. */
  const inside = new Map<object, number>()
  const count = (): number => {
    const now = Date.now()
    for (const [place, until] of inside) if (until <= now) inside.delete(place)
    return inside.size
  }
  /** Until when the task that runs under suspicion has this process for itself. */
  let aloneUntil = 0
  /** Since when a task waits to be alone. */
  let wantedAt = Number.NEGATIVE_INFINITY
  /** Until when others go first: they were refused while a task was alone. */
  let othersUntil = 0
  let wereRefused = false

  const occupy = (until: number): Place => {
    const key = {}
    inside.set(key, Date.now() + maxRunMs + LEAVE_MS)
    return {
      isAlone: (forMs) => aloneUntil === until && Date.now() + forMs < until,
      leave() {
        if (!inside.delete(key)) return
        if (until === aloneUntil) endAlone()
      },
    }
  }
  const endAlone = (): void => {
    aloneUntil = 0
    othersUntil = wereRefused ? Date.now() + PATIENCE_MS : 0
    wereRefused = false
  }
  const isAloneNow = (now: number): boolean => {
    if (aloneUntil !== 0 && aloneUntil <= now) endAlone()
    return aloneUntil !== 0
  }
  const enterAlone = (crashes: number, now: number): Place | undefined => {
    if (count() > 0) {
      if (now < othersUntil) return undefined
      // Asked for again, or for the first time in a while.
      if (now - wantedAt > 2 * PATIENCE_MS) wantedAt = now
      if (now - wantedAt < PATIENCE_MS) return undefined
    }
    wantedAt = Number.NEGATIVE_INFINITY
    const until = now + Math.min(ALONE_MS * 2 ** (crashes - 1), maxRunMs)
    const hasCompany = count() > 0
    aloneUntil = until
    const place = occupy(until)
    return hasCompany ? { ...place, isAlone: () => false } : place
  }

  return {
    isShut() {
      return isAloneNow(Date.now()) || count() >= maxRuns
    },
    enter(crashes) {
      const now = Date.now()
      if (isAloneNow(now)) {
        wereRefused ||= crashes === 0
        return undefined
      }
      if (crashes > 0) return enterAlone(crashes, now)
      return count() >= maxRuns || now - wantedAt < PATIENCE_MS ? undefined : occupy(0)
    },
    join: () => occupy(0),
  }
}
