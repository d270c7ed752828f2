/** With AWS's client, over a DynamoDB that runs here; in a table of its own, and in one of tasks. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import {
  type DynamoClient,
  dynamoKeyStore,
  dynamoKeyTable,
  dynamoTaskTable,
} from '../../../adapters/dynamodb.ts'
import { eventually } from '../../_eventually.ts'
import { keyStoreSuite } from './_suite.ts'

/** Of a package of their own: casts, since they are not there for the compiler. */
const require = createRequire(new URL('../tasks/stores/dynalite/package.json', import.meta.url))

interface Client extends DynamoClient {
  createTable(input: object): Promise<unknown>
  describeTable(input: { TableName: string }): Promise<{ Table: { TableStatus: string } }>
  destroy(): void
}

for (const [name, description] of [
  ['a table of DynamoDB', dynamoKeyTable('keys')],
  ['a table of tasks of DynamoDB', dynamoTaskTable('keys')],
] as const)
  keyStoreSuite(name, async () => {
    const dynalite = require('dynalite') as (options: object) => Server
    const server = dynalite({ createTableMs: 0 }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { DynamoDB } = require('@aws-sdk/client-dynamodb') as { DynamoDB: new (options: object) => Client }
    const connect = () =>
      new DynamoDB({
        endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        region: 'local',
        credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      })
    const clients = [connect(), connect()] as const
    const [here, there] = [
      dynamoKeyStore(clients[0], { table: 'keys' }),
      dynamoKeyStore(clients[1], { table: 'keys' }),
    ]
    await expect(here.read('0'.repeat(12))).rejects.toThrow('create it with dynamoKeyTable()')
    await clients[0].createTable(description)
    await eventually(async () =>
      expect((await clients[0].describeTable({ TableName: 'keys' })).Table.TableStatus).toBe('ACTIVE'),
    )
    const close = async (): Promise<void> => {
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    }
    return {
      here,
      there,
      cut: close,
      async stop() {
        for (const client of clients) client.destroy()
        await close()
      },
    }
  })
