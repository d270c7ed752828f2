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

/** Creates a store for one process or isolate. When it is full, it rejects new ids instead of removing old ones. */
export function createMemoryStore(): Required<WebhookStore> {
  const expiries = new Map<string, number>()
  const forgetExpired = (now: number): void => {
    for (const [id, expiresAt] of expiries) if (expiresAt < now) expiries.delete(id)
  }
  return {
    claim(id, expiresAt) {
      const now = Date.now()
      if ((expiries.get(id) ?? 0) >= now) return false
      if (expiries.size >= MAX_IDS) forgetExpired(now)
      if (expiries.size >= MAX_IDS) throw new Error(`More than ${MAX_IDS} webhooks within the tolerance.`)
      expiries.set(id, expiresAt)
      return true
    },
    release: (id) => void expiries.delete(id),
  }
}
