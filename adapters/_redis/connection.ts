/**
 * What a connection to Redis may do: break, and be silent. Both libraries keep commands until it is back, which may be never.
 */

import type { OutageOptions, Report } from '../../src/events/outage.ts'
import { within } from '../../src/events/outage.ts'

/** Sends a command, and settles in time. */
export type Ask = <Reply>(command: () => Reply | PromiseLike<Reply>) => Promise<Reply>

/** What is used of a client's events, where it has any. */
interface Emitter {
  on?(event: string, listener: (error: unknown) => void): unknown
  listenerCount?(event: string): number
}

/**
 * Reports that a connection is lost, once until it is back. Without a listener for that, the library `redis` ends the process; where
 * there is one already, it is left to that.
 */
export function watchConnection(client: object, report: Report): void {
  const emitter = client as Emitter
  if (emitter.listenerCount?.('error') !== 0) return
  let isLost = false
  emitter.on?.('error', (error) => {
    if (!isLost) report(error)
    isLost = true
  })
  emitter.on?.('ready', () => {
    isLost = false
  })
}

/**
 * Asks within `timeoutMs`. While Redis does not answer, one command in that time finds out whether it is back, and the others are
 * refused at once: nothing piles up in the client, and no request waits for what others have waited for in vain.
 */
export function createAsk({ timeoutMs = 2000 }: OutageOptions): Ask {
  let silentUntil = 0
  return async (command) => {
    const now = Date.now()
    if (now < silentUntil)
      throw new Error(`Redis did not answer within ${timeoutMs} ms, and is not asked again for a moment.`)
    if (silentUntil > 0) silentUntil = now + timeoutMs
    const reply = Promise.resolve(command())
    let isSettled = false
    reply.then(
      () => {
        isSettled = true
        silentUntil = 0
      },
      () => {
        isSettled = true
      },
    )
    try {
      return await within(reply, timeoutMs, 'Redis server')
    } catch (error) {
      if (!isSettled) silentUntil = Date.now() + timeoutMs
      throw error
    }
  }
}
