/** When to reopen an ended stream: the server may choose the delay, but cannot cause constant reconnecting. */

import type { ReconnectionScheduler } from '@modelcontextprotocol/client'
import { backoffMs } from '../definition/backoff.ts'

const MIN_DELAY_MS = 50
const DELAYS = { firstMs: 250, maxMs: 30_000 }
/** The delay grows while streams end within this time. */
const SOON_MS = 5000

/** Creates the scheduler of one connection. */
export function createReconnection(): ReconnectionScheduler {
  let openedAt = 0
  let soon = 0
  return (reconnect, delayMs) => {
    soon = Date.now() - openedAt < SOON_MS ? soon + 1 : 0
    const backedOff = soon === 0 ? MIN_DELAY_MS : backoffMs(soon, DELAYS)
    const delay = Math.min(Math.max(delayMs, backedOff), DELAYS.maxMs)
    openedAt = Date.now() + delay
    const timer = setTimeout(reconnect, delay)
    return () => clearTimeout(timer)
  }
}
