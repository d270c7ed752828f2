/** Handles an unreachable or silent server behind a client. The clients queue commands until it is back, which may be never. */

import { withTimeout } from '../../src/definition/timeout.ts'
import type { OutageOptions } from '../../src/events/outage.ts'

/** Sends a command, and settles within the time limit. */
export type Ask = <Reply>(command: () => Reply | PromiseLike<Reply>) => Promise<Reply>

export interface AskOptions {
  /** The limit for the first answer, for a client that connects with its first command. Default `timeoutMs`. */
  readonly firstMs?: number
  /** Rejects when a reply is late. Default: after the limit. */
  readonly wait?: typeof withTimeout
}

/**
 * Sends commands with the limit `timeoutMs` (milliseconds, default 2000). While the server does not answer, one command per such period
 * tests whether it is back, and all others are refused immediately, so that commands do not pile up and later requests do not wait.
 *
 * @param name The server's name, for errors.
 */
export function createAsk(
  { timeoutMs: usualMs = 2000 }: OutageOptions,
  name: string,
  { firstMs = usualMs, wait = withTimeout }: AskOptions = {},
): Ask {
  let silentUntil = 0
  let timeoutMs = firstMs
  return async (command) => {
    const now = Date.now()
    if (now < silentUntil)
      throw new Error(
        `${name} did not answer within ${timeoutMs} ms; further commands are refused for a moment.`,
      )
    if (silentUntil > 0) silentUntil = now + timeoutMs
    const reply = Promise.resolve(command())
    let isSettled = false
    reply.then(
      () => {
        isSettled = true
        silentUntil = 0
        timeoutMs = usualMs
      },
      () => {
        isSettled = true
      },
    )
    try {
      return await wait(reply, timeoutMs, `${name} server`)
    } catch (error) {
      if (!isSettled) silentUntil = Date.now() + timeoutMs
      throw error
    }
  }
}
