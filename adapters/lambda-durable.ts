/**
 * Runs tasks by Lambda durable functions, with `@aws/durable-execution-sdk-js` around the handler and `@aws-sdk/client-lambda` as the
 * client, which Lambda's Node runtimes include.
 */

import { withTimeout } from '../src/definition/timeout.ts'
import { type Names, requireOptions } from '../src/definition/unknown-option.ts'
import type { TaskRunner } from '../src/tasks/store.ts'
import { createBackground } from './_lambda/background.ts'
import {
  createAttached,
  delaySecondsUntil,
  deliver,
  END_MARGIN_MS,
  retrySeconds,
  type TaskWake,
  toTaskWake,
  WAKE_TIMEOUT_MS,
  wakeName,
} from './_tasks/wakes.ts'

/** `new Lambda({})` of `@aws-sdk/client-lambda`, or an object with this of its methods. */
export interface DurableInvoker {
  invoke(input: {
    FunctionName: string
    InvocationType: 'Event'
    DurableExecutionName: string
    Payload: string
  }): Promise<unknown>
}

/** The parts of the SDK's `DurableContext` that are used here; inlined, so that the type needs no package. */
export interface DurableTaskContext {
  readonly lambdaContext: { getRemainingTimeInMillis(): number }
  wait(name: string, duration: { seconds: number }): PromiseLike<unknown>
  step<Output>(
    name: string,
    run: (context: { readonly attempt: number }) => Promise<Output>,
    config?: { retryStrategy(error: Error, attempt: number): RetryDecision },
  ): PromiseLike<Output>
}

interface RetryDecision {
  shouldRetry: boolean
  delay?: { seconds: number }
}

/** Options of `durableRunner`. */
export interface DurableRunnerOptions {
  /** The durable function, with its version or alias: `arn:aws:lambda:eu-west-1:123456789012:function:tasks:live`. */
  readonly functionName: string
  /** The environment for `ctx.env`. Default `process.env`. */
  readonly env?: unknown
}

const OPTIONS: Names<DurableRunnerOptions> = { functionName: 'string', env: 1 }

export interface DurableRunner extends TaskRunner {
  /** The handler of the durable function, for `withDurableExecution`. */
  readonly handler: (event: unknown, context: DurableTaskContext) => Promise<void>
}

/** The longest wait, a year. */
const MAX_WAIT_SECONDS = 31_536_000

/** Attempts of a run that cannot start: nearly a day. */
const MAX_ATTEMPTS = 100

/**
 * Creates a runner: each due time of a task is a durable execution, which waits until then, runs one slice of the task, and ends.
 * Runs end before the function's timeout.
 *
 * ```ts
 * const runner = durableRunner(new Lambda({}), { functionName })
 * const server = new MCPServer({ …, tasks: createTasks({ store, runner }) })
 * export const tasks = withDurableExecution(runner.handler)
 * ```
 *
 * @throws TypeError without the name of a function.
 */
export function durableRunner(client: DurableInvoker, options: DurableRunnerOptions): DurableRunner {
  requireOptions('durableRunner', options, OPTIONS)
  const { functionName, env = process.env } = options
  if (typeof functionName !== 'string' || functionName === '')
    throw new TypeError(
      'durableRunner needs "functionName": the durable function, with its version or alias.',
    )
  const attached = createAttached('durableRunner')
  const send = async (wake: TaskWake): Promise<void> => {
    const invocation = {
      FunctionName: functionName,
      InvocationType: 'Event',
      // A second execution with the same name is the first one.
      DurableExecutionName: wakeName(wake),
      Payload: JSON.stringify(wake),
    } as const
    await withTimeout(client.invoke(invocation), WAKE_TIMEOUT_MS, 'Lambda function')
  }
  return {
    attach: attached.attach,
    wake: (id, at) => send(attached.toWake(id, at)),
    async handler(event, context) {
      const wake = toTaskWake(event)
      if (wake === undefined)
        throw new TypeError('This function runs tasks, and only its runner starts its executions.')
      attached.tasks(wake.id)
      for (let n = 1; ; n++) {
        // In a step, since each replay must take the same path.
        const seconds = await context.step(`seconds left ${n}`, async () =>
          delaySecondsUntil(wake.at, MAX_WAIT_SECONDS),
        )
        if (seconds === 0) break
        await context.wait(`until it is due ${n}`, { seconds })
      }
      const run = async ({ attempt }: { readonly attempt: number }): Promise<boolean> => {
        const { waitUntil, settled } = createBackground()
        const deadline = Date.now() + context.lambdaContext.getRemainingTimeInMillis() - END_MARGIN_MS
        const platform = { env, deadline, waitUntil }
        const isDone = await deliver(wake, { attached, attempt, platform, send })
        await settled(deadline)
        if (!isDone) throw new Error('The task is still due: its run could not start, or had no time left.')
        return true
      }
      await context.step('run', run, {
        retryStrategy: (_error, made) =>
          made < MAX_ATTEMPTS
            ? { shouldRetry: true, delay: { seconds: retrySeconds(made) } }
            : { shouldRetry: false },
      })
    },
  }
}
