/** Clients that go away: what they were waiting for is told, and stops. */
import { describe, expect, it } from 'vitest'
import { CLIENTS, type Connection, MODERN_CLIENTS } from '../clients.ts'
import type { Endpoint } from '../contract.ts'
import { modernRequest, readStream } from '../wire.ts'

interface Observation {
  running: string[]
  aborted: string[]
}

async function observe(connection: Connection): Promise<Observation> {
  return (await connection.call('observe')).structuredContent as Observation
}

/** Resolves once the tool of call `id` runs. */
async function untilRuns(observer: Connection, id: string): Promise<void> {
  await expect.poll(async () => (await observe(observer)).running).toContain(id)
}

async function expectAborted(observer: Connection, id: string): Promise<void> {
  await expect.poll(async () => (await observe(observer)).aborted).toContain(id)
}

export function cancellation(endpoint: Endpoint): void {
  describe.each(MODERN_CLIENTS)('cancellation with $kind', ({ connect }) => {
    it('cancelling a call that streams aborts ctx.signal [streaming.cancel]', async () => {
      await using connection = await connect(endpoint())
      const id = crypto.randomUUID()
      const cancel = new AbortController()

      const call = connection.call(
        'watch',
        { id },
        { signal: cancel.signal, onProgress: () => cancel.abort() },
      )

      await expect(call).rejects.toThrow()
      await expectAborted(connection, id)
    })

    it('cancelling a call before it is answered at all aborts ctx.signal [streaming.disconnect]', async () => {
      await using connection = await connect(endpoint())
      const id = crypto.randomUUID()
      const cancel = new AbortController()

      const call = connection.call('wait', { id }, { signal: cancel.signal })
      call.catch(() => undefined)
      await untilRuns(connection, id)
      cancel.abort()

      await expect(call).rejects.toThrow()
      await expectAborted(connection, id)
    })

    it('cancelling one call leaves the others alone', async () => {
      await using connection = await connect(endpoint())
      const [gone, kept] = [crypto.randomUUID(), crypto.randomUUID()]
      const cancel = new AbortController()
      const answer = connection.call('steps', { id: kept, steps: 1 })

      const call = connection.call(
        'watch',
        { id: gone },
        { signal: cancel.signal, onProgress: () => cancel.abort() },
      )
      await expect(call).rejects.toThrow()
      await expectAborted(connection, gone)
      await connection.call('release', { id: kept, step: 1 })

      expect((await answer).content).toEqual([{ type: 'text', text: 'all steps done' }])
    })
  })

  // Its `notifications/cancelled` reaches a server that remembers no call; closing the connection does what it cannot.
  it.each(CLIENTS)(
    '$kind that closes in the middle of a call aborts ctx.signal [streaming.disconnect]',
    async ({ connect }) => {
      await using observer = await connect(endpoint())
      await using leaver = await connect(endpoint())
      const id = crypto.randomUUID()

      const call = leaver.call('wait', { id })
      call.catch(() => undefined)
      await untilRuns(observer, id)
      await leaver.client.close()

      await expectAborted(observer, id)
    },
  )

  it('a client that stops reading in the middle of a stream aborts ctx.signal [streaming.cancel]', async () => {
    await using observer = await CLIENTS[0]!.connect(endpoint())
    const id = crypto.randomUUID()
    const meta = { progressToken: 'p' }
    const response = await fetch(
      modernRequest(endpoint(), 'tools/call', { name: 'watch', arguments: { id } }, { meta }),
    )

    // Leaving the loop cancels the body.
    for await (const { message } of readStream(response)) if (message !== undefined) break

    await expectAborted(observer, id)
  })
}
