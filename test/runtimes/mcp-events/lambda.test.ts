/** Events on AWS's runtime client with DynamoDB: the events client of the AI SDK subscribes and receives; a queue and a schedule try again. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { eventually } from '../../_eventually.ts'
import { startDynamo, TABLE } from '../keyed/_dynamo.ts'
import { buildFunction } from '../lambda/_function.ts'
import { startEventsApp } from './_ai-sdk.ts'
import { SECRET, startEndpoint } from './_endpoint.ts'
import { TOKEN } from './_token.ts'
import { callTool, createWire } from './_wire.ts'

interface Message {
  readonly MessageBody: string
  readonly DelaySeconds: number
}

/** What is sent to a queue. */
async function startQueue() {
  const messages: Message[] = []
  const http = createServer(async (request, response) => {
    messages.push(JSON.parse(await text(request)) as Message)
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    messages,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    close: () => http.close(),
  }
}

it('a function with DynamoDB: the AI SDK receives events, the queue tries again, and the schedule too', async () => {
  const dynamo = await startDynamo()
  const queue = await startQueue()
  const app = await startEventsApp()
  const endpoint = await startEndpoint()
  const env = {
    AWS_PACKAGES: fileURLToPath(new URL('../tasks/stores/dynalite/package.json', import.meta.url)),
    DYNAMODB_URL: `http://127.0.0.1:${dynamo.port}`,
    EVENTS_TABLE: TABLE,
    TASKS_QUEUE_URL: queue.url,
    CRON_SECRET: 'a-secret-of-thirty-two-characters',
  }
  try {
    using built = await buildFunction('events/server.ts')
    await using running = await built.start({ trigger: 'function-url', env })
    const client = await app.connect(running.url, TOKEN)
    const { id } = await client.experimental_events.subscribe(
      app.subscription('note.created', { tag: 'tea' }),
    )
    for (const tag of ['coffee', 'tea'])
      await client.callTool({ name: 'add_note', arguments: { text: `about ${tag}`, tag } })
    // A buffered response waits for the deliveries of its call.
    expect(app.received).toMatchObject([{ name: 'note.created', data: { text: 'about tea', tag: 'tea' } }])
    await client.experimental_events.unsubscribe({ id })
    expect(app.faults).toEqual([])

    const send = createWire(running.url)
    const delivery = { mode: 'webhook', url: endpoint.url.href, secret: SECRET }
    await send('events/subscribe', { name: 'note.created', arguments: {}, delivery })
    endpoint.answer = () => ({ status: 503, headers: { 'retry-after': '1' } })
    await callTool(send, 'add_note', { text: 'again' })
    const { MessageBody: body, DelaySeconds } = queue.messages.at(-1)!
    // Five seconds, give or take a fifth: a shorter wait is not granted.
    expect(DelaySeconds).toBeGreaterThanOrEqual(4)
    expect(DelaySeconds).toBeLessThanOrEqual(7)

    await using ofQueue = await built.start({ trigger: 'function-url', handler: 'index.queueHandler', env })
    await eventually(async () => {
      const record = {
        messageId: 'm',
        receiptHandle: 'r',
        body,
        attributes: { ApproximateReceiveCount: '1' },
      }
      await ofQueue.environments.invoke({ Records: [record] })
      expect(endpoint.received.length).toBeGreaterThanOrEqual(2)
    }, 60_000)
    endpoint.answer = () => ({ status: 204 })
    await using ofCron = await built.start({ trigger: 'function-url', handler: 'index.cronHandler', env })
    const before = endpoint.received.length
    await eventually(async () => {
      await ofCron.environments.invoke({})
      expect(endpoint.received.length).toBe(before + 1)
    }, 60_000)
    expect(new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    await client.close()
  } finally {
    queue.close()
    await endpoint.close()
    await app.close()
    await dynamo.stop()
  }
})
