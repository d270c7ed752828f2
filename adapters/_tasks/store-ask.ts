/** Calls to task stores, with their time limits. */

import { isA } from '../../src/definition/error-text.ts'
import { withTimeout } from '../../src/definition/timeout.ts'
import type { OutageOptions } from '../../src/events/outage.ts'
import { type Ask, createAsk } from '../_bus/ask.ts'

/** Milliseconds without any answer after which a store counts as down. */
export const STORE_TIMEOUT_MS = 5000

/** Milliseconds that a call may take while others are answered, since thousands of concurrent tasks wait for each other. */
const MAX_CALL_MS = 30_000

/** Like `createAsk`, with the limit `timeoutMs` (default 5000) for a silent store. */
export function createStoreAsk({ timeoutMs = STORE_TIMEOUT_MS }: OutageOptions, name: string): Ask {
  const ask = createAsk({ timeoutMs }, name, { wait: createIdleTimeout() })
  return async (command) => {
    try {
      return await ask(command)
    } catch (cause) {
      // Some clients reject with an error without a message.
      if (isA(cause, Error) && cause.message !== '') throw cause
      throw new Error(`The ${name} server does not answer.`, { cause })
    }
  }
}

/** Rejects if the store answered no call for `timeoutMs`, or if this call takes over `maxCallMs`. */
function createIdleTimeout(): typeof withTimeout {
  let answeredAt = 0
  return async (work, timeoutMs, what) => {
    const startedAt = Date.now()
    const maxCallMs = Math.max(timeoutMs, MAX_CALL_MS)
    const reply = Promise.resolve(work)
    let isSettled = false
    reply.then(
      () => {
        isSettled = true
        answeredAt = Date.now()
      },
      () => {
        isSettled = true
      },
    )
    for (let waitMs = timeoutMs; ; ) {
      try {
        return await withTimeout(reply, waitMs, what)
      } catch (error) {
        if (isSettled) throw error
        const now = Date.now()
        const silenceMs = now - Math.max(startedAt, answeredAt)
        if (silenceMs >= timeoutMs) throw new Error(`The ${what} did not answer within ${timeoutMs} ms.`)
        waitMs = Math.min(timeoutMs - silenceMs, startedAt + maxCallMs - now)
        if (waitMs <= 0) throw new Error(`The ${what} is overloaded: a call took over ${maxCallMs} ms.`)
      }
    }
  }
}
