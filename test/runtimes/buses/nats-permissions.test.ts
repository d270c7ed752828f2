/** natsBus at a server that does not permit it to publish, or to subscribe. */
import { connect } from '@nats-io/transport-node'
import { expect, it, vi } from 'vitest'
import { natsBus } from '../../../adapters/nats.ts'
import { MCPServer } from '../../../src/index.ts'
import { eventually } from '../../_eventually.ts'
import { startNatsServer } from './_servers.ts'

const CHANGE = { type: 'toolsListChanged' } as const

/** A bus whose user has these permissions, and what the operator sees. */
async function start(permissions: string) {
  const users = `authorization { users = [ { user: u, password: p, permissions: { ${permissions} } } ] }`
  const nats = await startNatsServer(users)
  const client = await connect({ servers: nats.url, user: 'u', pass: 'p', maxReconnectAttempts: -1 })
  const onError = vi.fn()
  const bus = natsBus({ client, prefix: 'mayfly', onError })
  return {
    bus,
    onError,
    client,
    async [Symbol.asyncDispose]() {
      await client.close()
      await nats.stop()
    },
  }
}

it('publishing that the server forbids rejects, with one report, and other subjects are another matter [bus.outage]', async () => {
  await using fixture = await start('publish: { deny: ["mayfly.>", "other"] }, subscribe: ">"')
  const { bus, onError, client } = fixture
  client.publish('other', '')
  await client.flush()
  expect(onError).not.toHaveBeenCalled()

  const all = await Promise.allSettled(Array.from({ length: 20 }, () => bus.publish(CHANGE)))
  for (let time = 0; time < 3; time++)
    await expect(bus.publish(CHANGE)).rejects.toThrow('Permissions Violation for Publish')

  expect(all.map(({ status }) => status)).toEqual(all.map(() => 'rejected'))
  expect(onError).toHaveBeenCalledOnce()
  // Who listens hears what others publish.
  await (await bus.subscribe(() => {}))()
})

it('as the bus of a server: its notifications resolve, with one report [bus.outage]', async () => {
  await using fixture = await start('publish: { deny: "mayfly.>" }, subscribe: ">"')
  const { bus, onError } = fixture
  const server = new MCPServer({ id: 's', name: 'S', version: '1', log: false, bus, onError })
  for (let time = 0; time < 3; time++) await server.tools.notifyListChanged()
  expect(onError).toHaveBeenCalledOnce()
})

it('what is permitted is published, and a permission to publish alone subscribes to nothing [bus.outage]', async () => {
  await using fixture = await start('publish: ">", subscribe: { deny: "mayfly.>" }')
  const { bus, onError } = fixture
  await bus.publish(CHANGE)
  await expect(bus.subscribe(() => {})).rejects.toThrow('Permissions Violation for Subscription')
  await eventually(() => expect(onError).toHaveBeenCalledOnce())
})
