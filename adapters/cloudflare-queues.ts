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

/** A queue's binding; inlined, so that no platform package is needed for the type. */
export interface TaskQueue {
  send(message: unknown, options?: { delaySeconds?: number }): Promise<unknown>
}

/** The messages that workerd passes to the handler `queue`. */
export interface TaskMessageBatch {
  readonly messages: readonly TaskMessage[]
}

export interface TaskMessage {
  readonly body: unknown
  /** 1 at first. */
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

/** The longest that a queue holds a message back, 12 hours. */
const MAX_DELAY_SECONDS = 43_200

/** Milliseconds that a consumer's invocation may take, 15 minutes. */
const MAX_INVOCATION_MS = 900_000

/**
 * Creates a runner from the binding of a queue: each time at which a task is due is a message, held back until then. One that is held for
 * less than that, 12 hours at most, is sent again when it comes. A run that could not begin is tried again, after 2 seconds at first and
 * 15 minutes at most, as often as the queue's `max_retries` allows.
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
    wake: (id, at) => send({ id, at }),
    async queue({ messages }, env, executionContext) {
      const deadline = Date.now() + MAX_INVOCATION_MS - END_MARGIN_MS
      const waitUntil = (promise: Promise<unknown>): void => executionContext.waitUntil(promise)
      await Promise.all(messages.map((message) => take(message, { env, deadline, waitUntil })))
    },
  }
}
