import { vi } from 'vitest'

/** Long, since the machine may be busy with other things: it only ends a test that fails. */
const PATIENCE_MS = 20_000

/** Resolves when `claim` throws no more; rejects with what it threw last, by default after 20 seconds. */
export function eventually<T>(claim: () => T | Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  return vi.waitFor(claim, { timeout: patienceMs, interval: 20 })
}
