/**
 * Handles a Redis connection that is lost or silent. Both libraries queue commands until it is back, which may be never.
 */

import type { OutageOptions, Report } from '../../src/events/outage.ts'
import { within } from '../../src/events/outage.ts'

/** Sends a command, and settles within the time limit. */
export type Ask = <Reply>(command: () => Reply | PromiseLike<Reply>) => Promise<Reply>

/** The event methods of a client, if it has them. */
interface Emitter {
  on?(event: string, listener: (error: unknown) => void): unknown
  listenerCount?(event: string): number
}

/**
 * Reports a lost connection once until it is back. Without an `error` listener, the library `redis` ends the process; if there already
 * is one, nothing is added.
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
 * Sends commands with the limit `timeoutMs` (milliseconds, default 2000). While Redis does not answer, one command per such period
 * tests whether it is back, and all others are refused at once: so commands do not pile up, and later requests need not wait.
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
