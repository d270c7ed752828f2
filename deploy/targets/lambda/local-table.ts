/** The local task table: dynalite, which implements DynamoDB's protocol in memory. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dynamoTaskTable } from '../../../adapters/dynamodb.ts'

const TABLE = 'tasks'

type LocalTable = Record<
  'TASKS_TABLE' | 'AWS_ENDPOINT_URL_DYNAMODB' | 'AWS_REGION' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY',
  string
>

/** @param module The file of dynalite. Resolves with the variables that direct AWS's client to it. */
export async function startLocalTable(module: string): Promise<LocalTable> {
  const dynalite = createRequire(import.meta.url)(module) as (options: object) => Server
  const server = dynalite({ createTableMs: 0 }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.CreateTable',
      // dynalite checks only the format.
      'x-amz-date': '20260101T000000Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify(dynamoTaskTable(TABLE)),
  })
  if (!response.ok) throw new Error(`the local table cannot be created: ${await response.text()}`)
  return {
    TASKS_TABLE: TABLE,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  }
}
