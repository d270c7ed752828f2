/** Limiters that count for more than one process: Cloudflare's binding on workerd, and a real Redis with both client libraries. */
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { expect, it } from 'vitest'
import { type RedisCounter, redisRateLimiter } from '../../../adapters/redis.ts'
import { cloudflare } from '../../../deploy/targets/cloudflare/target.ts'
import { modernRequest } from '../../contract/wire.ts'
import { serveArtefact } from '../_artefact.ts'
import { startRedis } from '../node/_processes.ts'

/** The binding's windows are the minutes of the clock: resolves where this one lasts for another 20 seconds at least. */
async function untilAWindowLasts(): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000)
  if (leftMs < 20_000) await new Promise((resolve) => setTimeout(resolve, leftMs))
}

it('on workerd the binding counts, and the fourth call is 429 [limits.rate]', async () => {
  await untilAWindowLasts()
  const served = await serveArtefact('server.ts', cloudflare, import.meta.dirname)
  try {
    const statuses = []
    for (let call = 0; call < 5; call++) {
      statuses.push((await fetch(modernRequest(served.url, 'server/discover'))).status)
    }
    // The first call of all was the one that found the server ready.
    expect(statuses).toEqual([200, 200, 429, 429, 429])
    const refused = await fetch(modernRequest(served.url, 'server/discover'))
    expect(refused.headers.get('retry-after')).toBe('60')
  } finally {
    await served.stop()
  }
})

it('in Redis two processes count together, whichever library they use, and the count expires [limits.rate]', async () => {
  const redis = await startRedis()
  const node = await createClient({ url: redis.url.href }).connect()
  const io = new Redis(redis.url.href)
  try {
    const limiterOf = (client: RedisCounter) => redisRateLimiter({ client, calls: 4, windowMs: 3_600_000 })
    const verdicts = []
    for (let call = 0; call < 3; call++) {
      verdicts.push(await limiterOf(node).limit('ann'), await limiterOf(io).limit('ann'))
    }
    expect(verdicts.map(({ ok }) => ok)).toEqual([true, true, true, true, false, false])
    expect(verdicts.at(-1)).toMatchObject({ retryAfterSeconds: expect.any(Number) })
    expect(await limiterOf(node).limit('bob')).toEqual({ ok: true })
    const [key] = (await node.keys('mayfly:rate:*:ann')) as [string]
    expect(await node.pTTL(key)).toBeGreaterThan(0)
  } finally {
    node.destroy()
    io.disconnect()
    await redis.stop()
  }
})
