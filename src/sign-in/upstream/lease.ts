/**
 * Which process refreshes the tokens of a connection. Others cannot tell a process that is dead from one that waits for a slow provider, so
 * the one that waits says every few seconds that it is alive.
 */
import type { GrantEntry, GrantStore } from '../store/store.ts'
import { commit } from '../unit.ts'
import type { Lease, Stored } from './tokens.ts'

/**
 * A process that refreshes is taken for dead if another has seen the same beat of its lease for so long: its own time runs from before the
 * lease was written.
 */
export const LEASE_MS = 16_000
const BEAT_MS = 4000

interface Place {
  readonly store: GrantStore
  readonly key: string
}

export function write({ store, key }: Place, entry: GrantEntry, stored: Stored): Promise<boolean> {
  const { version, expiresAt } = entry
  return commit(store, [{ key, value: JSON.stringify(stored), expiresAt, ifVersion: version }])
}

/** Tells others that this process is alive, until the returned function is called. */
export function keepAlive(place: Place, id: string): () => void {
  let isWriting = false
  const beat = async (): Promise<void> => {
    if (isWriting) return
    isWriting = true
    try {
      const entry = await place.store.read(place.key)
      const stored = entry && (JSON.parse(entry.value) as Stored)
      if (entry === undefined || stored?.lease?.id !== id) return stop()
      await write(place, entry, { ...stored, lease: { id, beat: (stored.lease.beat ?? 0) + 1 } })
    } finally {
      isWriting = false
    }
  }
  // A lease lasts until three beats in a row were not written.
  const timer = setInterval(() => void beat().catch(() => {}), BEAT_MS)
  const stop = (): void => clearInterval(timer)
  return stop
}

/** What others have seen of leases, by the clock of this process. */
export interface Seen {
  /** Whether its process may be alive. */
  isAlive(lease: Lease): boolean
}

export function createSeen(): Seen {
  const first = new Map<string, number>()
  return {
    isAlive({ id, beat = 0 }) {
      const sight = `${id} ${beat}`
      const now = performance.now()
      if (!first.has(sight)) first.set(sight, now)
      return now - first.get(sight)! < LEASE_MS
    },
  }
}
