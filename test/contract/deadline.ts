/** What becomes of a call that never ends, shortly before the platform would end it. */
import { expect, it } from 'vitest'
import type { Served } from './contract.ts'
import { modernRequest, readWholeStream } from './wire.ts'

/**
 * Serves the fixture where a call may take no longer than `maxDurationMs`, and shows that the client is told so before.
 *
 * @param named what the error calls the limit.
 */
export function deadline(
  target: string,
  start: () => Promise<Served>,
  { maxDurationMs, named, streams = true }: { maxDurationMs: number; named: string; streams?: boolean },
): void {
  it.each(streams ? ['application/json', 'application/json, text/event-stream'] : ['application/json'])(
    `on ${target} a tool that never ends is ended before the platform does it, Accept: %s [streaming.deadline]`,
    async (accept) => {
      const served = await start()
      try {
        const params = { name: 'wait', arguments: { id: crypto.randomUUID() } }
        const startedAt = performance.now()

        const response = await fetch(modernRequest(served.url, 'tools/call', params, { headers: { accept } }))

        const answer = response.headers.get('content-type')?.startsWith('text/event-stream')
          ? (await readWholeStream(response)).at(-1)?.message
          : await response.json()
        expect(performance.now() - startedAt).toBeLessThan(maxDurationMs)
        expect(response.status).toBe(200)
        expect(answer).toMatchObject({
          id: 1,
          error: {
            code: -32603,
            message: expect.stringContaining(named),
            data: { limit: 'deadline', name: named },
          },
        })
      } finally {
        await served.stop()
      }
    },
  )
}
