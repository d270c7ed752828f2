/** The suite of every transactional store, over a Durable Object in a real workerd; and what it is left with. */
import { fileURLToPath } from 'node:url'
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DurableObjectNamespace } from '../../../adapters/_cloudflare/durable-object.ts'
import { durableObjectEvents } from '../../../adapters/cloudflare-events.ts'
import { durableObjectGrants } from '../../../adapters/cloudflare-grants.ts'
import { eventually } from '../../_eventually.ts'
import { startWorkerd, urlOf } from '../cloudflare/_workerd.ts'
import { keyedStoreSuite, newVersion } from './_suite.ts'
import { storeInWorker } from './_workerd.ts'

const ENTRY = fileURLToPath(new URL('../cloudflare/keyed/worker.ts', import.meta.url))
const start = () => startWorkerd({ entryPoints: [ENTRY] }, ['Grants', 'Events', 'Other'])

for (const object of ['Grants', 'Events'])
  keyedStoreSuite(`${object} in a Durable Object`, async () => {
    const workerd = await start()
    const url = await urlOf(workerd)
    const outage = (is: string) => ({
      begin: () => fetch(new URL(`/outage?is=${is}`, url)),
      end: () => fetch(new URL('/outage?is=', url)),
    })
    return {
      connect: async ({ prefix, timeoutMs = 30_000 }) => ({
        store: storeInWorker(url, { object, name: prefix, timeoutMs }),
        close() {},
      }),
      outages: { throws: outage('throws'), silent: outage('silent') },
      mute: outage('mute'),
      stop: () => workerd.dispose(),
    }
  })

describe('the object', () => {
  let workerd: Miniflare
  let url: URL
  beforeAll(async () => {
    workerd = await start()
    url = await urlOf(workerd)
  })
  afterAll(() => workerd?.dispose())
  const kept = async (name: string) =>
    (await (await fetch(new URL(`/?name=${name}`, url))).json()) as { keys: string[]; alarm: number | null }

  it('deletes what has expired by its alarm, though nobody asks; what does not expire stays', async () => {
    const store = storeInWorker(url, { name: 'alarm' })
    expect((await kept('alarm')).alarm).toBeNull()
    const expiresAt = Date.now() + 500
    await store.commit('v', [
      { key: 'short', value: '', expiresAt },
      { key: 'for ever', value: '' },
    ])
    const { keys, alarm } = await kept('alarm')
    expect(keys).toEqual(['\u0001v', 'for ever', 'short'])
    expect(alarm).toBeGreaterThan(Date.now())
    expect(alarm).toBeLessThan(Date.now() + 15_000)
    await eventually(async () => expect((await kept('alarm')).keys).toEqual(['\u0001v', 'for ever']), 60_000)
    // For the receipt.
    expect((await kept('alarm')).alarm).toBeGreaterThan(Date.now() + 500_000)
  })

  it('an alarm for later is no reason to keep what expires sooner', async () => {
    const store = storeInWorker(url, { name: 'sooner' })
    await store.commit('v', [{ key: 'long', value: '', expiresAt: Date.now() + 3_600_000 }])
    await store.commit('w', [{ key: 'short', value: '', expiresAt: Date.now() + 500 }])
    expect((await kept('sooner')).alarm).toBeLessThan(Date.now() + 15_000)
  })

  it('an object that is no longer in memory has its entries', async () => {
    const store = storeInWorker(url, { name: 'evicted' })
    const version = newVersion()
    await store.commit(version, [{ key: 'a', value: 'b' }])
    await workerd.unsafeEvictDurableObject('worker', 'Grants', { name: 'evicted/grants' })
    expect(await store.read('a')).toEqual({ value: 'b', version })
    expect(await store.commit(version, [{ key: 'a', value: 'b' }])).toBe(true)
  })

  it.each([
    ['Other', 'MayflyGrants'],
    // Its object has the entries of the other one.
    ['EventsAsGrants', 'MayflyGrants'],
    ['GrantsAsEvents', 'MayflyEvents'],
  ])('of another class, %s, is told to be %s', async (object, expected) => {
    const store = storeInWorker(url, { object, name: 'x' })
    await expect(store.read('a')).rejects.toThrow(`bind ${expected}`)
  })

  it('without a binding → TypeError', () => {
    const none = undefined as unknown as DurableObjectNamespace
    expect(() => durableObjectGrants(none)).toThrow('bind MayflyGrants')
    expect(() => durableObjectEvents(none)).toThrow('bind MayflyEvents')
  })
})
