/** Events over real engines: two servers with one store emit and deliver at the same time. */
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresEvents } from '../../../adapters/postgres.ts'
import { redisEvents } from '../../../adapters/redis.ts'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { createEventServer, URL_A, URL_B } from '../../unit/mcp-events/_events.ts'
import { startPostgresServer } from '../buses/_servers.ts'
import { startRedis } from '../node/_processes.ts'

const STORES: { readonly [engine: string]: () => Promise<KeyedStore> } = {
  async Redis() {
    const server = await startRedis()
    const client = new Redis(Number(server.url.port), { maxRetriesPerRequest: null })
    onTestFinished(async () => {
      client.disconnect()
      await server.stop()
    })
    return redisEvents(client, { onError() {} })
  },
  async Postgres() {
    const server = await startPostgresServer()
    const pool = new Pool({ connectionString: server.url, max: 5 })
    onTestFinished(async () => {
      await pool.end()
      await server.stop()
    })
    return postgresEvents(pool, { createTable: true, onError() {} })
  },
}

const EVENTS = 20

describe.each(Object.entries(STORES))('%s', (_engine, start) => {
  it('each event reaches each subscription once and in order, and none after the end', async () => {
    const store = await start()
    const one = createEventServer({}, store)
    const two = createEventServer({ deliver: one.endpoints }, store)
    for (const url of [URL_A, URL_B, `${URL_B}/2`])
      expect((await one.subscribe({ arguments: { severity: 'P1' } }, 'alice', { url })).result).toBeDefined()
    await one.subscribe({ arguments: { severity: 'P2' } })

    for (let index = 0; index < EVENTS; index += 2)
      await Promise.all([one.emit({}, `e${index}`), two.emit({}, `e${index + 1}`)])
    await two.emit({}, 'e0')
    await one.server.events.run()
    const received = () => one.endpoints.received
    expect(received()).toHaveLength(3 * EVENTS)
    for (const url of [URL_A, URL_B, `${URL_B}/2`]) {
      const own = received().filter((post) => post.url === url)
      const numbers = own.map(({ body }) => Number(body.cursor.split('.')[1]))
      expect(numbers).toEqual(Array.from({ length: EVENTS }, (_none, index) => index + 1))
    }
    await two.unsubscribe({ arguments: { severity: 'P1' } })
    await one.emit({}, 'late')
    expect(received().filter(({ url }) => url === URL_A)).toHaveLength(EVENTS)
    expect(one.errors).toEqual([])
  }, 60_000)
})
