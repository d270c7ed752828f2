/** AWS's client of a DynamoDB that runs here; without the server, for processes of their own. */
import { createRequire } from 'node:module'
import type { DynamoKeyedClient, KeptItem } from '../../../adapters/_dynamodb/client.ts'

/** Of a package of their own: casts, since they are not there for the compiler. */
export const require = createRequire(new URL('../tasks/stores/dynalite/package.json', import.meta.url))

export interface Client extends DynamoKeyedClient {
  createTable(input: object): Promise<unknown>
  describeTable(input: { TableName: string }): Promise<{ Table: { TableStatus: string } }>
  putItem(input: object): Promise<unknown>
  deleteItem(input: object): Promise<unknown>
  scan(input: { TableName: string }): Promise<{ Items: KeptItem[] }>
  destroy(): void
}

export const TABLE = 'mayfly-grants'

export function connectDynamo(port: number): Client {
  const { DynamoDB } = require('@aws-sdk/client-dynamodb') as { DynamoDB: new (options: object) => Client }
  return new DynamoDB({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
}
