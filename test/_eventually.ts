import { vi } from 'vitest'

/** Long, since the machine may be busy with other things: it only ends a test that fails. */
const PATIENCE_MS = 20_000

/** Resolves when `claim` throws no more; rejects with what it threw last after 20 seconds. */
export function eventually<T>(claim: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(claim, { timeout: PATIENCE_MS, interval: 20 })
}
