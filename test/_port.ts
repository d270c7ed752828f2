/**
 * Ports for servers that are told theirs and need seconds to listen on it.
 *
 * A port the kernel hands out may be handed out again in those seconds, and a test would then talk to another test's
 * server. These are below the ephemeral range, each worker has its own thousand, and none comes twice.
 */
import { freePort } from '../deploy/port.ts'

const FIRST = 12_000
const PORTS_A_WORKER = 1000

let next = FIRST + Number(process.env.VITEST_POOL_ID ?? 0) * PORTS_A_WORKER + (process.pid % 500)

/** A port of 127.0.0.1 that nothing else in this test run gets. */
export async function testPort(): Promise<number> {
  for (;;) {
    const port = next++
    const isFree = await freePort(port).then(
      () => true,
      () => false,
    )
    if (isFree) return port
  }
}
