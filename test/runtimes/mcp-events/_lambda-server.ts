/** A server on Lambda that stores its events in DynamoDB: a queue and a schedule cause the deliveries that are due later. */
import { createRequire } from 'node:module'
import type { FetchServer } from 'mayfly-mcp'
import { dynamoEvents } from 'mayfly-mcp/dynamodb'
import { type SqsClient, sqsRunner } from 'mayfly-mcp/lambda'
import { createNotes } from './_server.ts'

type Client = Parameters<typeof dynamoEvents>[0]

let opened: Client | undefined

/** AWS's client, which is not in the package. Opened by the first call, since the build loads this file, too. */
function open(): Client {
  if (opened !== undefined) return opened
  const require = createRequire(process.env.AWS_PACKAGES!)
  const { DynamoDB } = require('@aws-sdk/client-dynamodb') as { DynamoDB: new (options: object) => Client }
  opened = new DynamoDB({
    endpoint: process.env.DYNAMODB_URL,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  return opened
}

const client: Client = {
  getItem: (input) => open().getItem(input),
  query: (input) => open().query(input),
  transactWriteItems: (input) => open().transactWriteItems(input),
}

const queueUrl = process.env.TASKS_QUEUE_URL ?? 'http://127.0.0.1:1/'

/** A queue that the test reads. */
const sqs: SqsClient = {
  sendMessage: (input) => fetch(queueUrl, { method: 'POST', body: JSON.stringify(input) }),
  changeMessageVisibility: async () => {},
}

const runner = sqsRunner(sqs, { queueUrl })
const table = process.env.EVENTS_TABLE ?? 'events'
const server = createNotes({ store: dynamoEvents(client, { table }), runner })

export const queue = runner.handler

const app: FetchServer = {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== '/deliver') return server.fetch(request, env, context)
    if (request.headers.get('authorization') !== `Bearer ${process.env.CRON_SECRET}`)
      return new Response(null, { status: 401 })
    return Response.json(await server.events.run({ env }))
  },
}
export default app
