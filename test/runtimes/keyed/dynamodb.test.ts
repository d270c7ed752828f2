/** The suite of every transactional store, with AWS's client over a DynamoDB that runs here; and what its table is left with. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynamoKeyedClient } from '../../../adapters/_dynamodb/client.ts'
import {
  dynamoEvents,
  dynamoEventTable,
  dynamoGrants,
  dynamoGrantTable,
  dynamoTaskTable,
} from '../../../adapters/dynamodb.ts'
import { eventually } from '../../_eventually.ts'
import { startProxy } from '../tasks/stores/_proxy.ts'
import { type Client, connectDynamo, type Dynamo, startDynamo, TABLE } from './_dynamo.ts'
import { keyedStoreSuite, newVersion } from './_suite.ts'

for (const [entries, create] of Object.entries({ grants: dynamoGrants, events: dynamoEvents }))
  keyedStoreSuite(`${entries} in DynamoDB`, async () => {
    const dynamo = await startDynamo()
    const { port, cut, silent, mute, stop } = await startProxy(dynamo.port)
    return {
      async connect(options) {
        const client = connectDynamo(port)
        return {
          store: create(client, { table: TABLE, timeoutMs: 20_000, ...options }),
          close: () => client.destroy(),
        }
      },
      outages: { cut, silent },
      mute,
      async stop() {
        // Otherwise no commit has met another one, and been tried again.
        expect(dynamo.met()).toBeGreaterThan(0)
        stop()
        await dynamo.stop()
      },
    }
  })

describe('DynamoDB', () => {
  let dynamo: Dynamo
  let client: Client
  beforeAll(async () => {
    dynamo = await startDynamo()
    client = connectDynamo(dynamo.port)
  })
  afterAll(async () => {
    client.destroy()
    await dynamo.stop()
  })

  it('without its table, or with one of tasks, the store says what to do', async () => {
    await client.createTable(dynamoTaskTable('of-tasks'))
    await eventually(async () =>
      expect((await client.describeTable({ TableName: 'of-tasks' })).Table.TableStatus).toBe('ACTIVE'),
    )
    for (const table of ['forgotten', 'of-tasks']) {
      for (const [entries, create, maker] of [
        ['grants', dynamoGrants, 'dynamoGrantTable'],
        ['events', dynamoEvents, 'dynamoEventTable'],
      ] as const) {
        const store = create(client, { table })
        const refusal = `The DynamoDB table "${table}" of ${entries} is missing, or has other keys: create it with ${maker}().`
        await expect(store.read('a')).rejects.toThrow(refusal)
        await expect(store.list({ prefix: '', limit: 1 })).rejects.toThrow(refusal)
      }
    }
    expect(() => dynamoGrantTable(undefined as never)).toThrow('dynamoGrantTable needs the name')
    expect(() => dynamoEventTable(undefined as never)).toThrow('dynamoEventTable needs the name')
  })

  it('grants and events of one prefix have other entries', async () => {
    const options = { table: TABLE, prefix: 'both' }
    const [grants, events] = [dynamoGrants(client, options), dynamoEvents(client, options)]
    expect(await grants.commit('v', [{ key: 'a', value: 'grant', ifVersion: null }])).toBe(true)
    expect(await events.commit('v', [{ key: 'a', value: 'event', ifVersion: null }])).toBe(true)
    expect((await grants.read('a'))?.value).toBe('grant')
    expect((await events.read('a'))?.value).toBe('event')
  })

  it('tells DynamoDB in seconds when an entry may be deleted, and a receipt', async () => {
    const store = dynamoGrants(client, { table: TABLE, prefix: 'ttl' })
    const expiresAt = Date.now() + 1500
    await store.commit('v', [
      { key: 'a', value: '', expiresAt },
      { key: 'b', value: '' },
    ])
    const items = (await client.scan({ TableName: TABLE })).Items.filter(({ pk }) => pk!.S === 'ttl#grants')
    const [receipt, a, b] = items.toSorted((one, other) => (one.sk!.S! < other.sk!.S! ? -1 : 1))
    expect(Number(a!.ttl!.N)).toBe(Math.ceil(expiresAt / 1000))
    expect(b!.ttl).toBeUndefined()
    expect(Number(receipt!.ttl!.N)).toBeGreaterThan(Date.now() / 1000 + 500)
  })

  it('a client that sends a request again, since it has lost the answer, is told what became of the first', async () => {
    const twice: DynamoKeyedClient = {
      getItem: (input) => client.getItem(input),
      query: (input) => client.query(input),
      async transactWriteItems(input) {
        await client.transactWriteItems(input)
        return client.transactWriteItems(input)
      },
    }
    const store = dynamoGrants(twice, { table: TABLE, prefix: 'twice' })
    expect(await store.commit('v', [{ key: 'a', value: '', ifVersion: null }])).toBe(true)
    expect(await store.commit('w', [{ key: 'a', ifVersion: 'v' }])).toBe(true)
    expect(await store.commit('x', [{ key: 'a', ifVersion: 'v' }]).catch(() => false)).toBe(false)
  })

  it.each(['TransactionConflict', 'ThrottlingError'])(
    '%s for ever → rejects in time, and is not taken for a refusal',
    async (Code) => {
      const busy: DynamoKeyedClient = {
        getItem: (input) => client.getItem(input),
        query: (input) => client.query(input),
        async transactWriteItems() {
          const CancellationReasons = [{ Code: 'None' }, { Code }]
          throw Object.assign(new Error('cancelled'), {
            name: 'TransactionCanceledException',
            CancellationReasons,
          })
        },
      }
      const store = dynamoGrants(busy, { table: TABLE, prefix: 'busy', timeoutMs: 300 })
      const startedAt = performance.now()
      await expect(store.commit(newVersion(), [{ key: 'a', value: '' }])).rejects.toThrow(
        /overloaded|cancelled/,
      )
      expect(performance.now() - startedAt).toBeLessThan(5000)
    },
  )
})
