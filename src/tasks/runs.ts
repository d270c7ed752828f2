/** Runs the tasks of one server: schedules them, and holds what their runs share. */
import { isA } from '../definition/error-text.ts'
import { callHook, isThenable } from '../definition/hook.ts'
import { withTimeout } from '../definition/timeout.ts'
import type { Context } from '../request/context.ts'
import type { ExtensionHost } from '../request/extension.ts'
import type { ServerOptions } from '../request/options.ts'
import { cannotBeTaken } from './changes.ts'
import { takeLease } from './lease.ts'
import { createPlaces, type Place } from './places.ts'
import { createRareReport } from './rare-report.ts'
import { describeDetails, isEnded, type Task } from './record.ts'
import { runTask, type SharedByRuns } from './run-task.ts'
import { MIN_RUN_MS, type TasksOptions, toSettings } from './settings.ts'
import type { TaskStore } from './store.ts'
import { type SlicePlatform, TASK_URI } from './support.ts'
import { createTaskRecords, TaskTooLargeError, UnreadableTaskError } from './task-records.ts'
import { createTaskWatch, type TaskWatch } from './watch.ts'

/** Milliseconds that a write waits for the notification of its runner. */
const WAKE_TIMEOUT_MS = 1000

/** The task may be due, but no run can begin in this process now. */
export const BUSY = 'busy'

/** The runs of the tasks that `createTasks` made, for `mayfly-mcp/tasks-admin`. */
export const runsOf = new WeakMap<object, TaskRuns>()

export interface TaskRuns extends SharedByRuns {
  /** @throws TypeError if the tasks belong to another server. */
  attach(host: ExtensionHost): void
  close(): void
  /** Like `run`, but tells that there was no place for it in this process. */
  start(id: string, platform?: SlicePlatform): Promise<number | null | typeof BUSY>
  /** Runs a task if it is due and has no other run. Resolves with its next due time. Never rejects. */
  run(id: string, platform?: SlicePlatform): Promise<number | null>
  /** Runs a task that a request made due, unless its runner runs it immediately. */
  kick(task: Task, context: Context): void
}

export function createTaskRuns(options: TasksOptions & { readonly store: TaskStore }): TaskRuns {
  const shared = createShared(options)
  const { records, settings, running, places, report, reportRarely } = shared
  const { runner } = settings
  let isClosed = false

  const start: TaskRuns['start'] = async (id, platform = {}) => {
    if (isClosed) return Date.now()
    let place: Place | undefined
    try {
      shared.see(platform.env)
      // A run without time for a step would only count as a run without a finished step.
      if ((platform.deadline ?? Number.POSITIVE_INFINITY) - Date.now() < MIN_RUN_MS)
        return (await records.read(id))?.dueAt ?? null
      if (places.isShut()) return BUSY
      const runId = crypto.randomUUID()
      let isBusy = false
      let hasCrashed = false
      const task = await records.change(id, (current) => {
        place?.leave()
        place = undefined
        hasCrashed = false
        if (shared.isForeign(current.server)) return undefined
        const enter = (crashes: number): Place | undefined => {
          // Where each task runs in an object of its own, it dies alone.
          place = places.enter(runner?.isPrompt ? 0 : crashes)
          isBusy = place === undefined
          return place
        }
        const changed = takeLease(current, runId, settings, { has: (task) => running.has(task), enter })
        const { run } = current.record
        hasCrashed = changed !== undefined && run !== undefined && changed.record.run?.id !== run.id
        return changed
      })
      if (hasCrashed && task !== undefined) shared.watch()?.crashed(task)
      if (place !== undefined && task?.record.run?.id === runId)
        return (await runTask(task, platform, shared, place)).dueAt
      if (task === undefined || shared.isForeign(task.server)) return null
      return isBusy ? BUSY : task.dueAt
    } catch (error) {
      await clearAway(id, error).catch(report)
      return Date.now()
    } finally {
      place?.leave()
    }
  }

  const run: TaskRuns['run'] = async (id, platform) => {
    const next = await start(id, platform)
    return next === BUSY ? Date.now() : next
  }

  /** A task that cannot be taken must not stand before others. */
  const clearAway = async (id: string, error: unknown): Promise<void> => {
    if (isA(error, UnreadableTaskError)) {
      reportRarely('unreadable', error)
      return records.putOff(id)
    }
    report(error)
    if (isA(error, TaskTooLargeError)) await records.change(id, (task) => cannotBeTaken(task, error))
  }

  return {
    ...shared,
    start,
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
  let host: ExtensionHost | undefined
  let watch: TaskWatch | undefined
  let isForeignReported = false

  const hosted = (): ExtensionHost => {
    if (host === undefined)
      throw new TypeError('These tasks do not belong to a server: pass them to MCPServer as "tasks".')
    return host
  }
  const options = (): ServerOptions => hosted().options()
  const report = (error: unknown): void => options().reportError(error, { tasks: true })
  const records = createTaskRecords(
    settings.store,
    () => hosted().owner.tag(),
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
  const reportRarely = createRareReport(report)
  const isForeign = (server: string | undefined): boolean => {
    const own = hosted().owner.tag()
    if (server === undefined || server === own) return false
    if (!isForeignReported) report(foreign(server, own))
    isForeignReported = true
    return true
  }
  return {
    records,
    settings,
    places: createPlaces(settings.maxConcurrentRuns, settings.maxRunMs),
    running: new Map(),
    report,
    watch: () => watch,
    isForeign,
    see: (env) => hosted().owner.see(env),
    tag: () => hosted().owner.tag(),
    reportRarely,
    options,
    readerFor(principal) {
      const getTask = async (taskId: string): Promise<Record<string, unknown> | undefined> => {
        const task = await records.read(taskId)
        if (task?.record.principal !== principal || isForeign(task.server)) return undefined
        return describeDetails(task)
      }
      return {
        getTask,
        async getTaskResult(taskId) {
          const task = await getTask(taskId)
          if (task === undefined)
            throw new Error(`There is no task "${taskId}" of this caller: it may have expired.`)
          if (task.status !== 'completed')
            throw new Error(
              `Task "${taskId}" has no result: its status is "${task.status}". Read it with getTask.`,
            )
          return task.result as object
        },
      }
    },
    attach(server) {
      if (host !== undefined)
        throw new TypeError('These tasks belong to another server: create tasks for each server.')
      host = server
      settings.store.attach?.(server.owner)
      const { tasks } = server.telemetry ?? {}
      watch = tasks && createTaskWatch(tasks, server, settings.store, records.clock, reportRarely)
    },
  }
}

function foreign(server: string, own: string): Error {
  return new Error(
    `The store of the tasks also has some of server "${server}": this server, "${own}", leaves them alone. If this was its "id" before, set it again, or they wait until they expire.`,
  )
}

/** The invocation of a request, for a run after its response. */
export function platformOf({ env, waitUntil, parts }: Context): SlicePlatform {
  const deadline = parts.wire.endsAt()
  return { env, waitUntil, ...(deadline !== undefined && { deadline }) }
}
