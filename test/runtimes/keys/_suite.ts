/** What every store of API keys promises, over the real thing, with connections as of two processes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { digest } from '../../../src/definition/digest.ts'
import { storeFor } from '../../../src/keys/audience.ts'
import { createKeyText } from '../../../src/keys/key.ts'
import { createKeyAdmin, type KeyStore, type StoredKey } from '../../../src/keys.ts'
import { modernRequest } from '../../unit/_client.ts'
import { discover } from '../../unit/auth/_issuer.ts'
import { keyed } from '../../unit/keys/_keys.ts'

export interface Stores {
  readonly here: KeyStore
  readonly there: KeyStore
  stop(): Promise<unknown>
  /** Takes the store down until `stop`. */
  cut?(): Promise<unknown>
  /** Whether a list contains when keys were last used. Default true. */
  readonly isConditional?: boolean
}

const NOW = 1_800_000_000_000

async function newKey(more: Partial<StoredKey> = {}): Promise<StoredKey> {
  const { id, text } = createKeyText()
  return { id, hash: await digest(text), name: 'ci', owner: 'ci', scopes: [], createdAt: NOW, ...more }
}

async function listAll(
  store: KeyStore,
  limit: number,
): Promise<{ keys: Map<string, StoredKey>; pages: number }> {
  const keys = new Map<string, StoredKey>()
  let after: string | undefined
  for (let pages = 1; ; pages++) {
    const page = await store.list({ limit, after })
    for (const key of page.keys) keys.set(key.id, key)
    after = page.next
    if (after === undefined) return { keys, pages }
    expect(pages).toBeLessThan(1000)
  }
}

export function keyStoreSuite(name: string, start: () => Promise<Stores>): void {
  describe(`API keys in ${name}`, () => {
    let stores: Stores
    let here: KeyStore
    let there: KeyStore
    beforeAll(async () => {
      stores = await start()
      ;({ here, there } = stores)
    })
    afterAll(() => stores?.stop())

    it('what one process stores, another reads as it was [keys.stores]', async () => {
      const keys = [
        await newKey(),
        await newKey({
          name: `O'Reilly "x" \\ $1 ümläut 漢字 🦋`,
          owner: 'ann:{}[]*%',
          scopes: ['a:b', '*', "'"],
        }),
        await newKey({ expiresAt: NOW + 1, createdAt: 0 }),
        await newKey({ id: '000000000000' }),
        await newKey({ id: 'constructor0' }),
      ]
      for (const key of keys) expect(await here.create(key)).toBe(true)
      for (const key of keys) for (const store of [here, there]) expect(await store.read(key.id)).toEqual(key)
    })

    it('an id is used once', async () => {
      const key = await newKey()
      expect(await here.create(key)).toBe(true)
      expect(await there.create({ ...key, name: 'other' })).toBe(false)
      expect(await here.read(key.id)).toEqual(key)
    })

    it('an unknown id is unknown: read, revoked and used, and none of that creates it', async () => {
      const { id } = await newKey()
      expect(await here.read(id)).toBeUndefined()
      expect(await here.revoke(id, NOW)).toBe(false)
      await here.use!(id, NOW)
      expect(await there.read(id)).toBeUndefined()
      expect((await listAll(here, 100)).keys.has(id)).toBe(false)
      const later = await newKey({ id })
      expect(await here.create(later)).toBe(true)
      expect((await there.read(id))?.revokedAt).toBeUndefined()
    })

    it('what is revoked stays revoked, as first: no use of the key undoes it [keys.stores]', async () => {
      const key = await newKey()
      await here.create(key)
      await Promise.all([
        here.use!(key.id, NOW + 1),
        there.revoke(key.id, NOW + 2),
        there.use!(key.id, NOW + 3),
      ])
      expect(await here.revoke(key.id, NOW + 4)).toBe(true)
      await there.use!(key.id, NOW + 5)
      for (const store of [here, there])
        expect(await store.read(key.id)).toMatchObject({ ...key, revokedAt: NOW + 2 })
      expect((await listAll(there, 100)).keys.get(key.id)).toMatchObject({ revokedAt: NOW + 2 })
    })

    it('last use is listed, and an older one does not replace it', async () => {
      const key = await newKey()
      await here.create(key)
      await here.use!(key.id, NOW)
      await there.use!(key.id, NOW - 10_000_000)
      expect((await listAll(there, 100)).keys.get(key.id)).toEqual({ ...key, lastUsedAt: NOW })
      await there.use!(key.id, NOW + 10_000_000)
      expect((await listAll(here, 100)).keys.get(key.id)).toEqual({ ...key, lastUsedAt: NOW + 10_000_000 })
    })

    it('many that are made at once by two processes are all there, in pages [keys.stores]', async () => {
      const keys = await Promise.all(
        Array.from({ length: 60 }, (_, index) => newKey({ name: `many ${index}` })),
      )
      const made = await Promise.all(keys.map((key, index) => (index % 2 ? here : there).create(key)))
      expect(made.every(Boolean)).toBe(true)
      for (const limit of [7, 1000]) {
        const { keys: listed } = await listAll(here, limit)
        expect(keys.filter(({ id }) => !listed.has(id))).toEqual([])
        expect(listed.get(keys[0]!.id)).toEqual(keys[0])
      }
    })

    it('a key of the most bytes is stored; a larger one is refused', async () => {
      const key = await newKey({ name: '漢'.repeat(100), owner: '漢'.repeat(99) })
      await here.create(key)
      expect(await there.read(key.id)).toEqual(key)
      expect((await listAll(there, 1000)).keys.get(key.id)).toEqual(key)
      await expect(here.create(await newKey({ scopes: ['s'.repeat(900)] }))).rejects.toThrow(TypeError)
    })

    it('a server accepts its keys until they are revoked, and stores their use', async () => {
      const admin = createKeyAdmin(here, { server: 'test' })
      const { key, id } = await admin.create({ name: 'deploy', scopes: ['shop'] })
      const server = keyed(there, { cacheMs: 0, scopes: ['shop'] })
      expect((await discover(server, key)).status).toBe(200)
      expect((await discover(server, `${key}x`)).status).toBe(401)
      await expect
        .poll(async () => (await listAll(here, 1000)).keys.get(id)?.lastUsedAt, { timeout: 20_000 })
        .toBeGreaterThan(NOW - 10 ** 12)
      expect(await admin.revoke(id)).toBe(true)
      expect((await discover(server, key)).status).toBe(401)
    })

    it('a key of another server or stage is neither accepted, listed nor revoked [keys.audience]', async () => {
      const shop = createKeyAdmin(here, { server: 'shop' })
      const staging = createKeyAdmin(here, { server: 'test', stage: 'staging' })
      const own = createKeyAdmin(here, { server: 'test' })
      const [ofShop, ofStaging, ofTest] = [
        await shop.create({ name: 'ann' }),
        await staging.create({ name: 'ann' }),
        await own.create({ name: 'ann' }),
      ]
      const server = keyed(there, { cacheMs: 0 })
      const statusesIn = async (env: object) =>
        Promise.all(
          [ofShop, ofStaging, ofTest].map(async ({ key }) => {
            const headers = { authorization: `Bearer ${key}` }
            return (await server.fetch(modernRequest('server/discover', {}, { headers }), env)).status
          }),
        )
      expect(await statusesIn({})).toEqual([401, 401, 200])
      expect(await statusesIn({ MAYFLY_STAGE: 'staging' })).toEqual([401, 200, 401])
      expect(await statusesIn({ MAYFLY_STAGE: 'preview' })).toEqual([401, 401, 401])
      const listed = (await listAll(storeFor(there, { server: 'test', stage: 'staging' }), 1000)).keys
      expect([ofShop, ofStaging, ofTest].map(({ id }) => listed.has(id))).toEqual([false, true, false])
      for (const { id } of [ofShop, ofStaging]) expect(await own.revoke(id)).toBe(false)
      expect(await statusesIn({ MAYFLY_STAGE: 'staging' })).toEqual([401, 200, 401])
      expect(await staging.revoke(ofStaging.id)).toBe(true)
      expect(await statusesIn({ MAYFLY_STAGE: 'staging' })).toEqual([401, 401, 401])
    })

    it('while it is down: 503 in time, and 401 for what is no key [keys.outage]', async () => {
      if (stores.cut === undefined) return
      const { key } = await createKeyAdmin(here, { server: 'test' }).create({ name: 'ci' })
      await stores.cut()
      const server = keyed(there, { cacheMs: 0 }, { onError() {} })
      const startedAt = Date.now()
      expect((await discover(server, key)).status).toBe(503)
      expect(Date.now() - startedAt).toBeLessThan(15_000)
      expect((await discover(server, 'mk_no_key')).status).toBe(401)
    })
  })
}
