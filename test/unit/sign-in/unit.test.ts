/** One request's reads and writes. */
import { describe, expect, it } from 'vitest'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import type { GrantStore } from '../../../src/sign-in/store/store.ts'
import { inOneUnit, SignInBusyError } from '../../../src/sign-in/unit.ts'

const noClient = async (): Promise<undefined> => undefined

async function storeWith(entries: { readonly [key: string]: string }): Promise<GrantStore> {
  const store = createMemoryGrants()
  await store.commit(
    'first',
    Object.entries(entries).map(([key, value]) => ({ key, value })),
  )
  return store
}

describe('a unit', () => {
  it('writes nothing before its end, and reads what it will write', async () => {
    const store = await storeWith({ a: '1' })
    await inOneUnit(store, noClient, async (unit) => {
      unit.put('a', '2')
      unit.delete('b')
      expect(await unit.read('a')).toBe('2')
      expect((await store.read('a'))?.value).toBe('1')
    })
    expect((await store.read('a'))?.value).toBe('2')
  })

  it('that throws writes nothing', async () => {
    const store = await storeWith({ a: '1' })
    const work = inOneUnit(store, noClient, async (unit) => {
      unit.put('a', '2')
      throw new Error('no')
    })
    await expect(work).rejects.toThrow('no')
    expect((await store.read('a'))?.value).toBe('1')
  })

  it('runs again when something that it read has changed, also if it does not write that', async () => {
    for (const key of ['a', 'b']) {
      const store = await storeWith({ a: '1', b: '1' })
      let runs = 0
      await inOneUnit(store, noClient, async (unit) => {
        runs++
        await unit.read(key)
        if (runs === 1) await store.commit('other', [{ key, value: 'changed' }])
        unit.put('a', `run ${runs}`)
      })
      expect([runs, (await store.read('a'))?.value]).toEqual([2, 'run 2'])
    }
  })

  it('runs again when what was not there has appeared', async () => {
    const store = await storeWith({})
    let runs = 0
    await inOneUnit(store, noClient, async (unit) => {
      runs++
      const before = await unit.read('a')
      if (runs === 1) await store.commit('other', [{ key: 'a', value: 'theirs' }])
      unit.put('a', `${before} and ours`)
    })
    expect((await store.read('a'))?.value).toBe('theirs and ours')
  })

  it('does not run again for what it only peeked at', async () => {
    const store = await storeWith({ a: '1' })
    let runs = 0
    await inOneUnit(store, noClient, async (unit) => {
      runs++
      await unit.peek('a')
      await store.commit('other', [{ key: 'a', value: 'changed' }])
      unit.put('b', 'x')
    })
    expect(runs).toBe(1)
  })

  it('gives up after eight attempts', async () => {
    const store = await storeWith({ a: '1' })
    let runs = 0
    const work = inOneUnit(store, noClient, async (unit) => {
      await unit.read('a')
      await store.commit(`other ${++runs}`, [{ key: 'a', value: String(runs) }])
      unit.put('a', 'ours')
    })
    await expect(work).rejects.toThrow(SignInBusyError)
    expect(runs).toBe(8)
  })

  it('takes no entry that a store could refuse for its size', async () => {
    const store = await storeWith({})
    await expect(
      inOneUnit(store, noClient, async (unit) => unit.put('a', 'ä'.repeat(40_000))),
    ).rejects.toThrow(RangeError)
  })

  it('the library finds clients by their URL, and no refresh token before the last one', async () => {
    const grant = {
      refreshTokenId: 'now',
      previousRefreshTokenId: 'before',
      previousRefreshTokenWrappedKey: 'key',
    }
    const store = await storeWith({ 'grant:p:g': JSON.stringify(grant) })
    const client = async (id: string) => ({ clientId: id })
    await inOneUnit(store, client, async ({ library }) => {
      expect(await library.get('client:https://a.example/m', { type: 'json' })).toEqual({
        clientId: 'https://a.example/m',
      })
      expect(await library.get('client:other', { type: 'json' })).toBeNull()
      expect(await library.get('grant:p:g', { type: 'json' })).toEqual({ refreshTokenId: 'now' })
      await library.put('x', 'y', { expirationTtl: 60 })
    })
    const { expiresAt } = (await store.read('x'))!
    expect(Math.abs(expiresAt! - Date.now() - 60_000)).toBeLessThan(5000)
  })
})
