/** When to reopen an ended stream: the server may choose the delay, but cannot cause constant reconnecting. */
import type { ReconnectionScheduler } from '@modelcontextprotocol/client'

const MIN_DELAY_MS = 50
const MAX_DELAY_MS = 30_000
/** The delay grows while streams end within this time. */
const SOON_MS = 5000

/** Creates the scheduler of one connection. */
export function createReconnection(): ReconnectionScheduler {
  let openedAt = 0
  let soon = 0
  return (reconnect, delayMs) => {
    soon = Date.now() - openedAt < SOON_MS ? soon + 1 : 0
    const backedOff = soon === 0 ? MIN_DELAY_MS : 250 * 2 ** (soon - 1)
    const delay = Math.min(Math.max(delayMs, backedOff), MAX_DELAY_MS)
    openedAt = Date.now() + delay
    const timer = setTimeout(reconnect, delay)
    return () => clearTimeout(timer)
  }
}
