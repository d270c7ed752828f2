/** When to reopen an ended stream: the server may choose the delay, but cannot cause constant reconnecting. */

import type { ReconnectionScheduler } from '@modelcontextprotocol/client'
import { backoffMs } from '../definition/backoff.ts'

const MIN_DELAY_MS = 50
const DELAYS = { firstMs: 250, maxMs: 30_000 }
/** The delay grows while streams end within this time. */
export const SOON_MS = 5000

/** Milliseconds before a stream is reopened, after this many in a row that ended soon. */
export const reopeningMs = (soon: number): number => (soon === 0 ? MIN_DELAY_MS : backoffMs(soon, DELAYS))

/** Creates the scheduler of one connection. */
export function createReconnection(): ReconnectionScheduler {
  let openedAt = 0
  let soon = 0
  return (reconnect, delayMs) => {
    soon = Date.now() - openedAt < SOON_MS ? soon + 1 : 0
    const delay = Math.min(Math.max(delayMs, reopeningMs(soon)), DELAYS.maxMs)
    openedAt = Date.now() + delay
    const timer = setTimeout(reconnect, delay)
    return () => clearTimeout(timer)
  }
}
