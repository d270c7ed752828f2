/** Runs tasks by messages of an AWS SQS queue, with `@aws-sdk/client-sqs` as the client, which Lambda's Node runtimes include. */

import { withTimeout } from '../src/definition/timeout.ts'
import { type Names, requireOptions } from '../src/definition/unknown-option.ts'
import { toReport } from '../src/events/outage.ts'
import type { TaskRunner } from '../src/tasks/store.ts'
import { createBackground } from './_lambda/background.ts'
import {
  createAttached,
  createTakeMessage,
  type Delivery,
  delaySecondsUntil,
  END_MARGIN_MS,
  retrySeconds,
  type TaskWake,
  WAKE_TIMEOUT_MS,
} from './_tasks/wakes.ts'

/** `new SQS({})` of `@aws-sdk/client-sqs`, or an object with these of its methods. */
export interface SqsClient {
  sendMessage(input: { QueueUrl: string; MessageBody: string; DelaySeconds: number }): Promise<unknown>
  changeMessageVisibility(input: {
    QueueUrl: string
    ReceiptHandle: string
    VisibilityTimeout: number
  }): Promise<unknown>
}

/** Options of `sqsRunner`. */
export interface SqsRunnerOptions {
  /** The URL of a standard queue, since a FIFO queue cannot delay single messages. */
  readonly queueUrl: string
  /** The environment for `ctx.env`. Default `process.env`. */
  readonly env?: unknown
}

const OPTIONS: Names<SqsRunnerOptions> = { queueUrl: 'string', env: 1 }

/** What Lambda passes to a function that reads from a queue. */
export interface SqsEvent {
  readonly Records: readonly SqsRecord[]
}

export interface SqsRecord {
  readonly messageId: string
  readonly receiptHandle: string
  readonly body: string
  readonly attributes: { readonly ApproximateReceiveCount: string }
}

/** The messages that SQS must deliver again. */
export interface SqsBatchResult {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}

export interface SqsRunner extends TaskRunner {
  /** The handler of a function whose event source is the queue, with `ReportBatchItemFailures`. Never rejects. */
  readonly handler: (
    event: SqsEvent,
    context: { getRemainingTimeInMillis(): number },
  ) => Promise<SqsBatchResult>
}

/** The maximum delay of an SQS message, 15 minutes. */
const MAX_DELAY_SECONDS = 900

/**
 * Creates a runner: each due time of a task is a message, delayed until then. A message for a later time than the maximum of 15 minutes is
 * sent again on delivery. Runs end before the function's timeout. A run that could not start is retried, after 2 seconds initially and at
 * most 15 minutes, as often as the queue's redrive policy allows.
 *
 * ```ts
 * const runner = sqsRunner(new SQS({}), { queueUrl })
 * const server = new MCPServer({ …, tasks: createTasks({ store, runner }) })
 * export const tasks = runner.handler
 * ```
 *
 * @throws TypeError without the URL of a queue.
 */
export function sqsRunner(client: SqsClient, options: SqsRunnerOptions): SqsRunner {
  requireOptions('sqsRunner', options, OPTIONS)
  const { queueUrl, env = process.env } = options
  if (typeof queueUrl !== 'string' || !URL.canParse(queueUrl))
    throw new TypeError('sqsRunner needs "queueUrl": the URL of the queue, https://sqs.…')
  const attached = createAttached('sqsRunner')
  const takeMessage = createTakeMessage(attached)
  const report = toReport({}, 'Task queue')
  const send = async (wake: TaskWake): Promise<void> => {
    const DelaySeconds = delaySecondsUntil(wake.at, MAX_DELAY_SECONDS)
    const message = { QueueUrl: queueUrl, MessageBody: JSON.stringify(wake), DelaySeconds }
    await withTimeout(client.sendMessage(message), WAKE_TIMEOUT_MS, 'SQS queue')
  }
  /** Resolves with false if the message must be delivered again. */
  const take = async (record: SqsRecord, platform: Delivery['platform']): Promise<boolean> => {
    const attempt = Number(record.attributes?.ApproximateReceiveCount ?? 1)
    if (await takeMessage(parse(record.body), { attempt, platform, send })) return true
    const again = {
      QueueUrl: queueUrl,
      ReceiptHandle: record.receiptHandle,
      VisibilityTimeout: retrySeconds(attempt),
    }
    // Otherwise it is delivered after the queue's own visibility timeout.
    await withTimeout(client.changeMessageVisibility(again), WAKE_TIMEOUT_MS, 'SQS queue').catch(report)
    return false
  }
  return {
    attach: attached.attach,
    wake: (id, at) => send(attached.toWake(id, at)),
    handler: async (event, context) => {
      const Records = Array.isArray(event?.Records) ? event.Records : []
      const { waitUntil, settled } = createBackground()
      const deadline = Date.now() + context.getRemainingTimeInMillis() - END_MARGIN_MS
      const platform = { env, deadline, waitUntil }
      const taken = await Promise.all(Records.map((record) => take(record, platform)))
      await settled(deadline)
      const failed = Records.filter((_record, index) => !taken[index])
      return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) }
    },
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
