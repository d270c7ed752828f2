/** The rendezvous of Durable Objects on workerd, with objects that fail, are silent, or bring what is no answer. */
import { fileURLToPath } from 'node:url'
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWorkerd } from './_workerd.ts'

const WORKER = fileURLToPath(new URL('rendezvous/worker.ts', import.meta.url))
const OBJECTS = ['MayflyRendezvous', 'Failing', 'Throwing', 'Silent', 'Stalling', 'Babbling']

let worker: Miniflare
beforeAll(async () => {
  worker = await startWorkerd({ entryPoints: [WORKER] }, OBJECTS)
})
afterAll(() => worker?.dispose())

interface Outcome {
  readonly answer?: unknown
  readonly rejected?: string
  readonly ms: number
}

async function run(order: object): Promise<Outcome> {
  const startedAt = performance.now()
  const init = { method: 'POST', body: JSON.stringify(order) }
  const outcome = await (await worker.dispatchFetch('http://worker/', init)).json()
  return { ...(outcome as object), ms: performance.now() - startedAt }
}

const wait = (object: string, key: string, options: object = {}) =>
  run({ do: 'wait', object, key, waitMs: 1000, ...options })

describe('the rendezvous', () => {
  it('an answer meets its call; a second one is dropped [rendezvous.objects]', async () => {
    const waiting = wait('MayflyRendezvous', 'a', { waitMs: 10_000 })
    // Dropped until the wait has begun.
    let met: Outcome | undefined
    void waiting.then((outcome) => {
      met = outcome
    })
    while (met === undefined) {
      const delivered = await run({ do: 'deliver', object: 'MayflyRendezvous', key: 'a', answer: { n: 1 } })
      expect(delivered.rejected).toBeUndefined()
    }
    expect(met).toMatchObject({ answer: { n: 1 } })
  })

  it.each(OBJECTS)(
    '%s: a wait without an answer ends at its deadline, and rejects never [rendezvous.objects]',
    async (object) => {
      const { ms, ...outcome } = await wait(object, 'deadline')
      expect(outcome).toEqual({})
      expect(ms).toBeLessThan(3000)
    },
  )

  it.each(OBJECTS)(
    '%s: an aborted wait ends at once, before it begins too [rendezvous.objects]',
    async (object) => {
      for (const abortAfterMs of [0, 100]) {
        const { ms, ...outcome } = await wait(object, `aborted ${abortAfterMs}`, {
          waitMs: 60_000,
          abortAfterMs,
        })
        expect(outcome).toEqual({})
        expect(ms).toBeLessThan(3000)
      }
    },
  )

  it.each(['Failing', 'Throwing', 'Silent'])(
    '%s: delivering rejects in time, so that the client is not told that all is well [rendezvous.objects]',
    async (object) => {
      const { rejected, ms } = await run({ do: 'deliver', object, key: 'a', answer: 1 })
      expect(rejected).toContain('Error')
      expect(ms).toBeLessThan(6000)
    },
  )
})
