/** Runs tasks by Cloudflare Workflows, for Workers whose tasks are not in Durable Objects. */
import { withTimeout } from '../src/definition/timeout.ts'
import type { TaskRunner } from '../src/tasks/store.ts'
import {
  createAttached,
  deliver,
  END_MARGIN_MS,
  type TaskWake,
  toTaskWake,
  WAKE_TIMEOUT_MS,
  wakeName,
} from './_tasks/wakes.ts'

/** A workflow's binding; inlined, so that the type needs no platform package. */
export interface TaskWorkflow {
  create(options: { id: string; params: TaskWake }): Promise<unknown>
  get(id: string): Promise<unknown>
}

/** What Cloudflare passes to a workflow's `run`. */
export interface TaskWorkflowStep {
  do(
    name: string,
    config: { retries: { limit: number; delay: number; backoff: 'exponential' }; timeout: number },
    callback: (context?: { readonly attempt: number }) => Promise<boolean>,
  ): Promise<boolean>
  sleepUntil(name: string, at: Date): Promise<void>
}

export interface WorkflowRunner extends TaskRunner {
  /** The `run` of your workflow's class. */
  run(event: { readonly payload: unknown }, step: TaskWorkflowStep, env: unknown): Promise<void>
}

/** For a run that could not start: retried for nearly four days. */
const RETRIES = { limit: 15, delay: 10_000, backoff: 'exponential' } as const

/** The maximum that Cloudflare recommends for a step, 30 minutes. */
const STEP_TIMEOUT_MS = 1_800_000

/** Cloudflare refuses to sleep until a time in the past. */
const MIN_SLEEP_MS = 1000

/** The longest sleep of a workflow, a year. */
const MAX_SLEEP_MS = 365 * 86_400_000

/**
 * Creates a runner from the binding of a workflow: each due time of a task is an instance, which sleeps until then, runs one slice of the
 * task, and ends. A task may have any number of slices, and its due time may move forward.
 *
 * ```ts
 * const runner = workflowRunner(env.TASK_WORKFLOW)
 * const server = new MCPServer({ …, tasks: createTasks({ store, runner }) })
 *
 * export class TaskWorkflow extends WorkflowEntrypoint {
 *   run(event, step) {
 *     return runner.run(event, step, this.env)
 *   }
 * }
 * export default server
 * ```
 *
 * @throws TypeError without a binding.
 */
export function workflowRunner(workflow: TaskWorkflow): WorkflowRunner {
  if (typeof workflow?.create !== 'function') {
    throw new TypeError(
      'workflowRunner needs the binding of a workflow: add it to [[workflows]] of the wrangler configuration, as in docs/tasks-runners.md',
    )
  }
  const attached = createAttached('workflowRunner')
  const create = async (wake: TaskWake): Promise<void> => {
    const id = wakeName(wake)
    try {
      await workflow.create({ id, params: wake })
    } catch (error) {
      // An existing instance for the same time is equivalent.
      await workflow.get(id).catch(() => {
        throw error
      })
    }
  }
  const send = (wake: TaskWake): Promise<void> => withTimeout(create(wake), WAKE_TIMEOUT_MS, 'task workflow')
  return {
    attach: attached.attach,
    wake: (id, at) => send(attached.toWake(id, at)),
    async run({ payload }, step, env) {
      const wake = toTaskWake(payload)
      if (wake === undefined)
        throw new TypeError('This workflow runs tasks, and only its runner creates its instances.')
      attached.tasks(wake.id)
      // An instance that wakes early sleeps again.
      for (let n = 1; wake.at > Date.now(); n++) {
        const leftMs = Math.max(MIN_SLEEP_MS, Math.min(wake.at - Date.now(), MAX_SLEEP_MS))
        await step.sleepUntil(`until it is due ${n}`, new Date(Date.now() + leftMs))
      }
      const config = { retries: RETRIES, timeout: STEP_TIMEOUT_MS }
      await step.do('run', config, async ({ attempt } = { attempt: 1 }) => {
        const deadline = Date.now() + STEP_TIMEOUT_MS - END_MARGIN_MS
        const background: Promise<unknown>[] = []
        const platform = { env, deadline, waitUntil: (work: Promise<unknown>) => void background.push(work) }
        const isDone = await deliver(wake, { attached, attempt, platform, send })
        await Promise.allSettled(background)
        if (!isDone) throw new Error('The task is still due: its run could not start, or had no time left.')
        return true
      })
    },
  }
}
