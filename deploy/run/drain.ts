/** Ends a local HTTP server without cutting its running requests. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** Half a second less than `mayfly dev` and `preview` give a server that they stop (`process-group.ts`). */
export const DRAIN_MS = 6500

/** Accepts nothing more, and resolves when the running requests have ended, at most after `graceMs`. */
export async function drain(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close')
  // Otherwise a connection stays open after its last answer, in case the client sends more.
  server.keepAliveTimeout = 1
  server.close()
  await Promise.race([closed, delay(graceMs, undefined, { ref: false })])
  server.closeAllConnections()
  await closed
}
