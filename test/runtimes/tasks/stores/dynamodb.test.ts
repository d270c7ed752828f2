/** The suite of every store, over a DynamoDB that runs here, with AWS's client; and what its table is left with. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KeptItem } from '../../../../adapters/_dynamodb/client.ts'
import { type DynamoClient, dynamoTaskStore, dynamoTaskTable } from '../../../../adapters/dynamodb.ts'
import type { StoredTask } from '../../../../src/tasks/store.ts'
import { eventually } from '../../../_eventually.ts'
import { startProxy } from './_proxy.ts'
import { taskStoreSuite } from './suite.ts'

/** Of a package of their own: casts, since they are not there for the compiler. */
const require = createRequire(new URL('dynalite/package.json', import.meta.url))

interface Client extends DynamoClient {
  createTable(input: ReturnType<typeof dynamoTaskTable>): Promise<unknown>
  scan(input: { TableName: string }): Promise<{ Items: KeptItem[] }>
  describeTable(input: { TableName: string }): Promise<{ Table: { TableStatus: string } }>
  destroy(): void
}

async function startDynamo(): Promise<{ port: number; stop(): void }> {
  const dynalite = require('dynalite') as (options: object) => Server
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0 }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, stop: () => void server.close() }
}

function connect(port: number): Client {
  const { DynamoDB } = require('@aws-sdk/client-dynamodb') as { DynamoDB: new (options: object) => Client }
  return new DynamoDB({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
}

const TABLE = 'mayfly-tasks'

async function createTable(client: Client): Promise<void> {
  await client.createTable(dynamoTaskTable(TABLE))
  await eventually(async () =>
    expect((await client.describeTable({ TableName: TABLE })).Table.TableStatus).toBe('ACTIVE'),
  )
}

taskStoreSuite('DynamoDB', async () => {
  const dynamo = await startDynamo()
  const { port, cut, silent, stop } = await startProxy(dynamo.port)
  const client = connect(port)
  await createTable(client)
  client.destroy()
  return {
    async connect(options) {
      const client = connect(port)
      return { store: dynamoTaskStore(client, { table: TABLE, ...options }), close: () => client.destroy() }
    },
    outages: { cut, silent },
    stop() {
      stop()
      dynamo.stop()
    },
  }
})

describe('DynamoDB', () => {
  let dynamo: Awaited<ReturnType<typeof startDynamo>>
  let client: Client
  beforeAll(async () => {
    dynamo = await startDynamo()
    client = connect(dynamo.port)
    await createTable(client)
  })
  afterAll(() => {
    client.destroy()
    dynamo.stop()
  })
  const newTask = (more: Partial<StoredTask> = {}): StoredTask => ({
    id: crypto.randomUUID(),
    owner: crypto.randomUUID(),
    version: 1,
    isOpen: true,
    dueAt: null,
    expiresAt: null,
    state: '{}',
    ...more,
  })
  const items = async (prefix: string): Promise<KeptItem[]> =>
    (await client.scan({ TableName: TABLE })).Items.filter(({ pk }) => pk!.S!.startsWith(`${prefix}#`))

  it('without its table, the store says what to do', async () => {
    const store = dynamoTaskStore(client, { table: 'forgotten', prefix: 'a' })
    const refusal =
      'The DynamoDB table "forgotten" of the tasks, or its index "due", is missing: create it with dynamoTaskTable().'
    await expect(store.read('a')).rejects.toThrow(refusal)
    await expect(store.create(newTask(), 1)).rejects.toThrow(refusal)
    await expect(store.due(1, 1)).rejects.toThrow(refusal)
  })

  it('tells DynamoDB in seconds when a task may be deleted; an owner without open tasks has no item', async () => {
    const store = dynamoTaskStore(client, { table: TABLE, prefix: 'ttl' })
    const task = newTask({ expiresAt: Date.now() + 1500 })
    await store.create(task, 1)
    const [one, other] = await items('ttl')
    const [kept, owner] = one!.pk!.S!.startsWith('ttl#task') ? [one, other] : [other, one]
    expect(Number(kept!.ttl!.N) * 1000).toBeGreaterThanOrEqual(task.expiresAt!)
    expect(Number(kept!.ttl!.N) * 1000).toBeLessThan(task.expiresAt! + 1000)
    expect(owner).toMatchObject({ count: { N: '1' } })
    await store.replace({ ...task, version: 2, isOpen: false })
    expect(await items('ttl')).toHaveLength(1)
  })

  it('a client that sends a request again, since it has lost the answer, is told what became of the first', async () => {
    const again =
      <Input, Output>(send: (input: Input) => Promise<Output>) =>
      async (input: Input): Promise<Output> => {
        await send(input)
        return send(input)
      }
    const twice: DynamoClient = {
      getItem: again((input) => client.getItem(input)),
      putItem: again((input) => client.putItem(input)),
      updateItem: again((input) => client.updateItem(input)),
      deleteItem: again((input) => client.deleteItem(input)),
      query: again((input) => client.query(input)),
    }
    const store = dynamoTaskStore(twice, { table: TABLE, prefix: 'twice' })
    const task = newTask()
    expect(await store.create(task, 1)).toBe(true)
    expect(await store.create({ ...newTask(), owner: task.owner }, 1)).toBe(false)
    const ended = { ...task, version: 2, isOpen: false }
    expect(await store.replace(ended)).toBe(true)
    expect(await store.replace(ended)).toBe(false)
    expect(await store.create({ ...newTask(), owner: task.owner }, 1)).toBe(true)
  })

  it('a slot whose task was never created, or has ended unnoticed, is found when there is no other', async () => {
    const store = dynamoTaskStore(client, { table: TABLE, prefix: 'slots' })
    const owner = 'ann'
    const long = Date.now() - 120_000
    await client.putItem({
      TableName: TABLE,
      Item: {
        pk: { S: 'slots#owner#ann' },
        count: { N: '2' },
        'task#gone-1': { S: `/${long}` },
        'task#gone-2': { S: `${Date.now() + 60_000}/${long}` },
      },
      ConditionExpression: 'attribute_not_exists(#pk)',
      ExpressionAttributeNames: { '#pk': 'pk' },
      ReturnValues: 'ALL_OLD',
    })
    for (const isCreated of [true, true, false])
      expect(await store.create(newTask({ owner }), 2)).toBe(isCreated)
  })

  it('an owner has at most 3000 open tasks: the item of their slots has no room for more', async () => {
    const slots = Object.fromEntries(
      Array.from({ length: 3000 }, (_, index) => [
        `task#${String(index).padStart(64, 'x')}`,
        { S: `${Date.now() + 60_000}/${Date.now()}` },
      ]),
    )
    await client.putItem({
      TableName: TABLE,
      Item: { pk: { S: 'full#owner#ann' }, count: { N: '3000' }, ...slots },
      ConditionExpression: 'attribute_not_exists(#pk)',
      ExpressionAttributeNames: { '#pk': 'pk' },
      ReturnValues: 'ALL_OLD',
    })
    const store = dynamoTaskStore(client, { table: TABLE, prefix: 'full' })
    expect(await store.create(newTask({ owner: 'ann' }), 10_000)).toBe(false)
    expect(await store.create(newTask({ owner: 'ann' }), Number.POSITIVE_INFINITY)).toBe(true)
  })
})
