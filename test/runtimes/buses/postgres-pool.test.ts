/** What postgresBus makes of a `Pool` of `pg`: streams that come and go one by one, over a real Postgres. */
import { Pool } from 'pg'
import { expect, it, vi } from 'vitest'
import { postgresBus } from '../../../adapters/postgres.ts'
import type { ChangeEvent } from '../../../src/index.ts'
import { eventually } from '../../_eventually.ts'
import { startPostgresServer } from './_servers.ts'

it('a lone stream after another listens on the same connection, which listens to nothing between [bus.delivery]', async () => {
  const server = await startPostgresServer()
  const pool = new Pool({ connectionString: server.url, max: 2 })
  const connected = vi.fn()
  pool.on('connect', connected)
  const bus = postgresBus({ client: pool, prefix: 'mayfly' })
  try {
    for (let stream = 0; stream < 20; stream++) {
      const heard: ChangeEvent[] = []
      const leave = await bus.subscribe((event) => heard.push(event))
      await bus.publish({ type: 'toolsListChanged' })
      await eventually(() => expect(heard).toEqual([{ type: 'toolsListChanged' }]))
      leave()
      await eventually(() => expect(pool.idleCount).toBe(pool.totalCount))
    }
    // One listens and one publishes.
    expect(connected.mock.calls.length).toBeLessThanOrEqual(2)
    for (const _ of [1, 2]) {
      const { rows } = await pool.query('SELECT pg_listening_channels()')
      expect(rows).toEqual([])
    }
    const connections = await Promise.all([pool.connect(), pool.connect()])
    for (const connection of connections) {
      expect(connection.listenerCount('notification')).toBe(0)
      connection.release()
    }
  } finally {
    await pool.end()
    await server.stop()
  }
})
