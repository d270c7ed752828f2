/** With both clients, over a real Redis. */
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { redisKeyStore } from '../../../adapters/redis.ts'
import { startRedisServer } from '../buses/_servers.ts'
import { keyStoreSuite } from './_suite.ts'

keyStoreSuite('Redis', async () => {
  const server = await startRedisServer()
  const io = new Redis(server.url).on('error', () => {})
  const node = await createClient({ url: server.url })
    .on('error', () => {})
    .connect()
  const options = { onError() {} }
  return {
    here: redisKeyStore(io, options),
    there: redisKeyStore(node, options),
    cut: () => server.kill(),
    async stop() {
      io.disconnect()
      node.destroy()
      await server.stop()
    },
  }
})
