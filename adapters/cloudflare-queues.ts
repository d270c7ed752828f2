/** Runs tasks by messages of a Cloudflare Queue, for Workers whose tasks are not in Durable Objects. */
import { withTimeout } from '../src/definition/timeout.ts'
import type { TaskRunner } from '../src/tasks/store.ts'
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

/** A queue's binding; inlined, so that the type needs no platform package. */
export interface TaskQueue {
  send(message: unknown, options?: { delaySeconds?: number }): Promise<unknown>
}

/** The messages that workerd passes to the handler `queue`. */
export interface TaskMessageBatch {
  readonly messages: readonly TaskMessage[]
}

export interface TaskMessage {
  readonly body: unknown
  /** 1 for the first delivery. */
  readonly attempts: number
  ack(): void
  retry(options?: { delaySeconds?: number }): void
}

export interface QueueRunner extends TaskRunner {
  /** The Worker's handler `queue`. Never rejects. */
  queue(
    batch: TaskMessageBatch,
    env: unknown,
    executionContext: { waitUntil(promise: Promise<unknown>): void },
  ): Promise<void>
}

/** The maximum delay of a queue's message, 12 hours. */
const MAX_DELAY_SECONDS = 43_200

/** Milliseconds that a consumer's invocation may take, 15 minutes. */
const MAX_INVOCATION_MS = 900_000

/**
 * Creates a runner from the binding of a queue: each due time of a task is a message, delayed until then. A message for a later time than
 * the maximum of 12 hours is sent again on delivery. A run that could not start is retried, after 2 seconds initially and at most 15
 * minutes, as often as the queue's `max_retries` allows.
 *
 * ```ts
 * const runner = queueRunner(env.TASK_QUEUE)
 * const server = new MCPServer({ …, tasks: createTasks({ store, runner }) })
 * export default { fetch: server.fetch, queue: runner.queue }
 * ```
 *
 * @throws TypeError without a binding.
 */
export function queueRunner(queue: TaskQueue): QueueRunner {
  if (typeof queue?.send !== 'function') {
    throw new TypeError(
      'queueRunner needs the binding of a queue: add it to [[queues.producers]] of the wrangler configuration, as in docs/tasks-runners.md',
    )
  }
  const attached = createAttached('queueRunner')
  const takeMessage = createTakeMessage(attached)
  const send = async (wake: TaskWake): Promise<void> => {
    const delaySeconds = delaySecondsUntil(wake.at, MAX_DELAY_SECONDS)
    await withTimeout(queue.send(wake, { delaySeconds }), WAKE_TIMEOUT_MS, 'task queue')
  }
  const take = async (message: TaskMessage, platform: Delivery['platform']): Promise<void> => {
    const { body, attempts } = message
    if (await takeMessage(body, { attempt: attempts, platform, send })) message.ack()
    else message.retry({ delaySeconds: retrySeconds(attempts) })
  }
  return {
    attach: attached.attach,
    wake: (id, at) => send(attached.toWake(id, at)),
    async queue({ messages }, env, executionContext) {
      const deadline = Date.now() + MAX_INVOCATION_MS - END_MARGIN_MS
      const waitUntil = (promise: Promise<unknown>): void => executionContext.waitUntil(promise)
      await Promise.all(messages.map((message) => take(message, { env, deadline, waitUntil })))
    },
  }
}
