/** The subscriptions of legacy clients on a real Redis, with both libraries: one caller takes no more than a share. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisStoreClient, redisSubscriptions } from '../../../adapters/redis.ts'
import { subscriptionShares } from '../../contract/subscription-shares.ts'
import { connect, type Instance, type Library, startInstance } from './_redis.ts'

let redis: Instance
beforeAll(async () => {
  redis = await startInstance()
})
afterAll(() => redis?.stop())

describe.each<Library>(['redis', 'ioredis'])('redisSubscriptions, %s', (library) => {
  let client: RedisStoreClient
  let close: () => unknown
  let stores = 0
  beforeAll(async () => {
    const { counter, close: end } = await connect(library, redis.url)
    client = counter as unknown as RedisStoreClient
    close = end
  })
  afterAll(() => close?.())

  subscriptionShares(
    (options) => redisSubscriptions({ client, prefix: `${library} ${++stores}`, ...options }),
    async () => {
      const accounts = (await redis.command('KEYS', `{${library} ${stores}:*`)) as string[]
      expect(accounts.length).toBeGreaterThan(4)
      await redis.command('DEL', ...accounts)
    },
  )

  it('leaves no key without an expiry [shares.subscriptions]', async () => {
    const keys = (await redis.command('KEYS', '*')) as string[]
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) expect(Number(await redis.command('PTTL', key)), key).toBeGreaterThan(0)
  })
})
