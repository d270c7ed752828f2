/** When a stream that has ended is opened again: the server may name the time, but not wear the client out. */
import type { ReconnectionScheduler } from '@modelcontextprotocol/client'

const MIN_DELAY_MS = 50
const MAX_DELAY_MS = 30_000
/** Streams that end this soon one after the other are opened ever later. */
const SOON_MS = 5000

/** For one connection. */
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
