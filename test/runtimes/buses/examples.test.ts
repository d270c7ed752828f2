/** The examples, in two processes that `mayfly dev` starts on a platform's runtime, over real servers: a change on one is heard on the other. */
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { eventually } from '../../_eventually.ts'
import { CLIENTS, connectV2, MODERN } from '../../contract/clients.ts'
import type { Served } from '../../contract/contract.ts'
import { serveDev } from '../_dev-server.ts'
import { type BusServer, startNatsServer, startPostgresServer, startRedisServer } from './_servers.ts'

const EXAMPLES = fileURLToPath(new URL('../../../examples/notifications/', import.meta.url))

const SERVERS: { readonly [name: string]: readonly [setting: string, start: () => Promise<BusServer>] } = {
  redis: ['REDIS_URL', startRedisServer],
  postgres: ['DATABASE_URL', startPostgresServer],
  nats: ['NATS_URL', startNatsServer],
}

it.each([
  ['redis', 'node'],
  ['postgres', 'node'],
  ['nats', 'node'],
  ['redis', 'deno'],
  ['postgres', 'bun'],
  ['postgres', 'supabase'],
])('examples/notifications/%s.ts, in two processes on %s [bus.delivery]', async (name, target) => {
  const [setting, start] = SERVERS[name]!
  const server = await start()
  const processes: Served[] = []
  try {
    for (let one = 0; one < 2; one++)
      processes.push(await serveDev(`${name}.ts`, target, EXAMPLES, { [setting]: server.url }))
    const [here, there] = processes as [Served, Served]
    await using listener = await connectV2({ pin: MODERN }, there.url)
    await using publisher = await CLIENTS[0]!.connect(here.url)
    const heard: string[] = []
    const { client } = listener
    const hear = (uri: string) => void heard.push(uri)
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => hear(params.uri))
    client.setNotificationHandler('notifications/tools/list_changed', () => hear('tools'))
    const filter = { toolsListChanged: true, resourceSubscriptions: ['note://today'] }

    const { honoredFilter } = await client.listen(filter)
    await publisher.call('touch')

    expect(honoredFilter).toEqual(filter)
    await eventually(() => expect(heard).toEqual(['note://today', 'tools']))
  } finally {
    for (const { stop } of processes) await stop()
    await server.stop()
  }
})
