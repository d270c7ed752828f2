/**
 * A queue that speaks as much of SQS's JSON protocol as a sender needs, and passes its messages on as Lambda's event source mapping does:
 * what a batch reports as failed, or all of it if the function fails, becomes visible again. Written for these tests from AWS's
 * documentation; it is not SQS.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { SqsBatchResult, SqsEvent } from 'mayfly-mcp/lambda'

interface Kept {
  readonly messageId: string
  readonly body: string
  visibleAt: number
  receiveCount: number
  receiptHandle: string
}

interface Order {
  readonly QueueUrl: string
  readonly MessageBody: string
  readonly DelaySeconds: number
  readonly ReceiptHandle: string
  readonly VisibilityTimeout: number
}

export interface Sqs {
  readonly url: string
  /** The bodies of all messages that were sent, in order, with their delays. */
  readonly sent: { readonly body: string; readonly delaySeconds: number }[]
  send(body: string): Promise<void>
  /** Begins to pass messages on. The function resolves with undefined if it failed. */
  deliverTo(run: (event: SqsEvent) => Promise<SqsBatchResult | undefined>): void
  stop(): void
}

const BATCH = 10
const VISIBILITY_MS = 30_000
const MAX_DELAY_SECONDS = 900

export async function startSqs(): Promise<Sqs> {
  const messages = new Map<string, Kept>()
  const sent: Sqs['sent'] = []

  const sendMessage = ({
    MessageBody,
    DelaySeconds,
  }: Pick<Order, 'MessageBody' | 'DelaySeconds'>): object => {
    if (!(DelaySeconds >= 0 && DelaySeconds <= MAX_DELAY_SECONDS)) throw new Error('DelaySeconds is invalid.')
    const messageId = crypto.randomUUID()
    const visibleAt = Date.now() + 1000 * DelaySeconds
    messages.set(messageId, { messageId, body: MessageBody, visibleAt, receiveCount: 0, receiptHandle: '' })
    sent.push({ body: MessageBody, delaySeconds: DelaySeconds })
    return { MessageId: messageId, MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex') }
  }
  const changeVisibility = ({ ReceiptHandle, VisibilityTimeout }: Order): object => {
    const message = [...messages.values()].find(({ receiptHandle }) => receiptHandle === ReceiptHandle)
    if (message === undefined) throw new Error('The receipt handle is invalid.')
    message.visibleAt = Date.now() + 1000 * VisibilityTimeout
    return {}
  }

  const http = createServer(async (request, response) => {
    const order = JSON.parse(await text(request)) as Order
    const action = String(request.headers['x-amz-target'])
    response.setHeader('content-type', 'application/x-amz-json-1.0')
    try {
      if (order.QueueUrl !== url) throw new Error('The queue does not exist.')
      const answer = {
        'AmazonSQS.SendMessage': sendMessage,
        'AmazonSQS.ChangeMessageVisibility': changeVisibility,
      }
      response.end(JSON.stringify(answer[action as keyof typeof answer](order)))
    } catch (error) {
      response.writeHead(400)
      response.end(
        JSON.stringify({ __type: 'com.amazonaws.sqs#InvalidParameterValue', message: String(error) }),
      )
    }
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/000000000000/tasks`

  const receive = (): Kept[] => {
    const now = Date.now()
    const batch = [...messages.values()].filter(({ visibleAt }) => visibleAt <= now).slice(0, BATCH)
    for (const message of batch) {
      message.visibleAt = now + VISIBILITY_MS
      message.receiveCount++
      message.receiptHandle = crypto.randomUUID()
    }
    return batch
  }
  let timer: ReturnType<typeof setInterval>
  return {
    url,
    sent,
    async send(body) {
      sendMessage({ MessageBody: body, DelaySeconds: 0 })
    },
    deliverTo(run) {
      const pass = async (): Promise<void> => {
        const batch = receive()
        if (batch.length === 0) return
        const result = await run({ Records: batch.map(toRecord) })
        if (result === undefined) return
        const failed = new Set(result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
        for (const { messageId } of batch) if (!failed.has(messageId)) messages.delete(messageId)
      }
      timer = setInterval(() => void pass(), 50)
    },
    stop() {
      clearInterval(timer)
      http.close()
      http.closeAllConnections()
    },
  }
}

function toRecord({ messageId, body, receiptHandle, receiveCount }: Kept): SqsEvent['Records'][number] {
  return { messageId, receiptHandle, body, attributes: { ApproximateReceiveCount: String(receiveCount) } }
}
