/** A Lambda function whose tasks a queue runs: `handler` serves, `tasks` takes the messages. */
import { SQS } from '@aws-sdk/client-sqs'
import { lambda, sqsRunner } from 'mayfly-mcp/lambda'
import { createJobs } from './_job.ts'
import { did, remoteStore } from './_remote-store.ts'

const { STORE_URL, QUEUE_URL } = process.env

const client = new SQS({
  endpoint: new URL(QUEUE_URL).origin,
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
})
const runner = sqsRunner(client, { queueUrl: QUEUE_URL })
const server = createJobs(remoteStore(STORE_URL), runner, async (what) => {
  await did(STORE_URL, what)
  await did(STORE_URL, `${process.pid} ${what}`)
})
const serve = lambda(server)

export const handler = (event, context) =>
  event.go === undefined ? serve(event, context) : server.tasks.send(event.go, 'go', true)
export const tasks = runner.handler
