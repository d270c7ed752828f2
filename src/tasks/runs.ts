/** Runs the tasks of one server: schedules them, and holds what their runs share. */
import { callHook, isThenable } from '../definition/hook.ts'
import { withTimeout } from '../definition/timeout.ts'
import type { Context } from '../request/context.ts'
import type { ServerOptions } from '../request/options.ts'
import { type SlicePlatform, TASK_URI, type TaskHost } from '../request/task-support.ts'
import { takeLease } from './lease.ts'
import { describeDetails, isEnded, type Task } from './record.ts'
import { runTask, type SharedByRuns } from './run-task.ts'
import { MIN_RUN_MS, type TasksOptions, toSettings } from './settings.ts'
import type { TaskStore } from './store.ts'
import { createTaskRecords } from './task-records.ts'

/** Milliseconds that a write waits for the notification of its runner. */
const WAKE_TIMEOUT_MS = 1000

export interface TaskRuns extends SharedByRuns {
  /** @throws TypeError if the tasks belong to another server. */
  attach(host: TaskHost): void
  close(): void
  /** Runs a task if it is due and has no other run. Resolves with its next due time. Never rejects. */
  run(id: string, platform?: SlicePlatform): Promise<number | null>
  /** Runs a task that a request made due, unless its runner runs it immediately. */
  kick(task: Task, context: Context): void
}

export function createTaskRuns(options: TasksOptions & { readonly store: TaskStore }): TaskRuns {
  const shared = createShared(options)
  const { records, settings, running, report } = shared
  const { runner } = settings
  let isClosed = false

  const run: TaskRuns['run'] = async (id, platform = {}) => {
    if (isClosed) return Date.now()
    try {
      // A run without time for a step would only count as a run without a finished step.
      if ((platform.deadline ?? Number.POSITIVE_INFINITY) - Date.now() < MIN_RUN_MS)
        return (await records.read(id))?.dueAt ?? null
      const runId = crypto.randomUUID()
      const task = await records.change(id, (current) => takeLease(current, runId, settings))
      const isOurs = task?.record.run?.id === runId
      return (isOurs ? await runTask(task, platform, shared) : task)?.dueAt ?? null
    } catch (error) {
      report(error)
      return Date.now()
    }
  }

  return {
    ...shared,
    run,
    close() {
      isClosed = true
      callHook(() => runner?.close?.(), report)
      for (const one of running.values()) one.stop()
    },
    kick(task, context) {
      const isDue = task.dueAt !== null && task.dueAt <= Date.now() && !isEnded(task.record)
      if (!isDue || runner?.isPrompt) return
      context.waitUntil(run(task.id, platformOf(context)))
    },
  }
}

function createShared(
  given: TasksOptions & { readonly store: TaskStore },
): SharedByRuns & Pick<TaskRuns, 'attach'> {
  const settings = toSettings(given)
  const { runner } = settings
  let host: TaskHost | undefined

  const options = (): ServerOptions => {
    if (host === undefined)
      throw new TypeError('These tasks do not belong to a server: pass them to MCPServer as "tasks".')
    return host.options()
  }
  const report = (error: unknown): void => options().reportError(error, { tasks: true })
  const records = createTaskRecords(
    settings.store,
    async (id, at) => {
      try {
        const told = at === null ? runner?.forget?.(id) : runner?.wake(id, at)
        if (isThenable(told)) await withTimeout(told, WAKE_TIMEOUT_MS, 'runner of the tasks')
      } catch (error) {
        report(error)
      }
    },
    (id) => void options().publish({ type: 'resourceUpdated', uri: TASK_URI + id }),
  )
  return {
    records,
    settings,
    running: new Map(),
    report,
    options,
    readerFor: (principal) => ({
      async getTask(taskId) {
        const task = await records.read(taskId)
        return task?.record.principal === principal ? describeDetails(task) : undefined
      },
    }),
    attach(server) {
      if (host !== undefined)
        throw new TypeError('These tasks belong to another server: create tasks for each server.')
      host = server
    },
  }
}

/** The invocation of a request, for a run after its response. */
export function platformOf({ env, waitUntil, parts }: Context): SlicePlatform {
  const deadline = parts.wire.endsAt()
  return { env, waitUntil, ...(deadline !== undefined && { deadline }) }
}
