/** One of several processes that share nothing but a secret and a Redis. Arguments: the library, and the URL of Redis. */
import { Redis } from 'ioredis'
import { serve } from 'mayfly-mcp/node'
import { type RedisClients, redisRendezvous } from 'mayfly-mcp/redis'
import { createClient } from 'redis'
import { createAskingServer } from '../../contract/asking-fixture.ts'

const [library, url] = process.argv.slice(2) as ['redis' | 'ioredis', string]

async function connect(): Promise<RedisClients> {
  if (library === 'ioredis') return { publisher: new Redis(url), subscriber: new Redis(url) }
  const [publisher, subscriber] = await Promise.all([
    createClient({ url }).connect(),
    createClient({ url }).connect(),
  ])
  return { publisher, subscriber }
}

const served = await serve(createAskingServer({ rendezvous: redisRendezvous(await connect()) }), { port: 0 })
process.send?.(served.url)
