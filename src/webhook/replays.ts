/** Stores the ids of webhooks, so that each is accepted once. */

/** Claims each id once. A `SingleUseStore` can be used; share it if requests reach several processes. */
export interface WebhookStore {
  /** Returns true the first time it sees `id`, then false. May forget it after `expiresAt` (milliseconds since the epoch). */
  claim(id: string, expiresAt: number): boolean | Promise<boolean>
  /** Removes `id` if its event could not be published, so that its sender can send it again. */
  release?(id: string): void | Promise<void>
}

/** Ids in memory. With 300 seconds of tolerance, this suffices for 270 webhooks a second. */
const MAX_IDS = 100_000
/** Between two looks for expired ids: what comes meanwhile to a full store costs nothing. */
const SWEEP_MS = 1000

/** Creates a store for one process or isolate. When it is full, it rejects new ids instead of removing old ones. */
export const createMemoryStore = (): Required<WebhookStore> => createRecentStore(Number.POSITIVE_INFINITY)

/** When it is full, ids that were claimed more than `neededMs` ago make room, the oldest first. */
export function createRecentStore(neededMs: number): Required<WebhookStore> {
  /** The oldest claim first. */
  const ids = new Map<string, { readonly claimedAt: number; readonly expiresAt: number }>()
  let sweptAt = 0
  const makeRoom = (now: number): void => {
    if (Math.abs(now - sweptAt) >= SWEEP_MS) {
      sweptAt = now
      for (const [id, { expiresAt }] of ids) if (expiresAt < now) ids.delete(id)
    }
    for (const [id, { claimedAt }] of ids) {
      if (ids.size < MAX_IDS || now - claimedAt <= neededMs) return
      ids.delete(id)
    }
  }
  return {
    claim(id, expiresAt) {
      const now = Date.now()
      if ((ids.get(id)?.expiresAt ?? 0) >= now) return false
      ids.delete(id)
      if (ids.size >= MAX_IDS) makeRoom(now)
      if (ids.size >= MAX_IDS) throw new Error(`More than ${MAX_IDS} webhooks within the tolerance.`)
      ids.set(id, { claimedAt: now, expiresAt })
      return true
    },
    release: (id) => void ids.delete(id),
  }
}
