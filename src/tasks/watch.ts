/** Reports runs, crashes and due tasks to the telemetry of the server. That is code of the user: its errors are reported, and nothing waits for it. */
import { callHook } from '../definition/hook.ts'
import { withTimeout } from '../definition/timeout.ts'
import type { Context } from '../request/context.ts'
import type { ExtensionHost } from '../request/extension.ts'
import type { Span, TaskTelemetry, TracedRunOutcome, TracedTask } from '../request/telemetry.ts'
import type { RareReport } from './rare-report.ts'
import { isEnded, type Task } from './record.ts'
import type { TaskStore } from './store.ts'
import type { StoreClock } from './store-time.ts'
import type { SlicePlatform } from './support.ts'

/** Characters that `createdBy` may return. */
const MAX_TRACE_CHARACTERS = 256

/** Milliseconds between two counts of due tasks. */
const COUNT_EVERY_MS = 5000

/** Milliseconds that a count may take. */
const COUNT_TIMEOUT_MS = 1000

export interface TaskWatch {
  /** What is stored with a task of this call. */
  traceOf(context: Context): string | undefined
  /** Starts the span of a run, which ends with the function that is returned. */
  begin(task: Task, platform: Pick<SlicePlatform, 'waitUntil'>): RunWatch
  crashed(task: Task): void
  /** Counts due tasks, if some were found and if it is time. Never rejects. @param found Tasks of the last page. */
  queue(found: number): Promise<void>
}

export interface RunWatch {
  /** Calls `work` once, and at once. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** @param after The task as of the last write of the run. */
  end(after: Task): void
}

export function createTaskWatch(
  telemetry: TaskTelemetry,
  { owner: { id: server }, options }: ExtensionHost,
  store: TaskStore,
  clock: StoreClock,
  reportRarely: RareReport,
): TaskWatch {
  const report = (error: unknown): void => options().reportError(error, { telemetry: true, tasks: true })
  let countedAt = Number.NEGATIVE_INFINITY
  const describe = ({ id, record: { tool } }: Task): TracedTask => ({
    taskId: id,
    tool,
    isDefined: options().definition.tools.has(tool),
  })
  let records = 0
  let counting: Promise<void> | undefined
  const record = (due: number, oldestDueMs: number): void => {
    records++
    callHook(() => telemetry.recordQueue?.({ server, due, oldestDueMs }), report)
  }
  const count = async (now: number): Promise<void> => {
    const before = records
    try {
      const counted = store.stats!(now, { server })
      const { due, oldestDueAt } = await withTimeout(counted, COUNT_TIMEOUT_MS, 'store of the tasks')
      // Meanwhile, an empty page may have said that none is due.
      if (records === before) record(due, oldestDueAt === null ? 0 : Math.max(0, now - oldestDueAt))
    } catch (error) {
      reportRarely('count', error)
    }
  }
  return {
    traceOf({ request, parts: { wire } }) {
      let trace: unknown
      callHook(() => {
        const params = { ...(wire.meta && { _meta: wire.meta }) }
        trace = telemetry.createdBy?.({ params, headers: request?.headers ?? new Headers() })
        return trace
      }, report)
      return typeof trace === 'string' && trace.length <= MAX_TRACE_CHARACTERS ? trace : undefined
    },
    begin(task, platform) {
      const waitUntil = (promise: Promise<unknown>): void => {
        const guarded = Promise.resolve(promise).catch(report)
        // Some platforms throw once the response is sent.
        callHook(() => platform.waitUntil?.(guarded), report)
      }
      let span: Span<TracedRunOutcome> | undefined
      callHook(() => {
        const { trace: createdBy } = task.record
        span = telemetry.startRun?.({ ...describe(task), createdBy, startedAt: Date.now(), waitUntil })
        return span
      }, report)
      return {
        run(work) {
          let running: ReturnType<typeof work> | undefined
          const once = () => (running ??= work())
          if (span !== undefined) callHook(() => span!.run(once), report)
          return once()
        },
        end(after) {
          callHook(() => span?.end(outcomeOf(after)), report)
        },
      }
    },
    crashed(task) {
      callHook(() => telemetry.recordCrash?.(describe(task)), report)
    },
    async queue(found) {
      if (store.stats === undefined || telemetry.recordQueue === undefined) return
      if (found === 0) return record(0, 0)
      const now = Date.now()
      if (now - countedAt >= COUNT_EVERY_MS) {
        countedAt = now
        counting = count(now + clock.offsetMs)
      }
      // It may be of a request that was ended, of which nothing settles on workerd.
      return counting && withTimeout(counting, COUNT_TIMEOUT_MS, 'store of the tasks').catch(() => {})
    },
  }
}

function outcomeOf({ record }: Task): TracedRunOutcome {
  const { status, run, releases, error, result } = record
  if (status === 'completed')
    return { outcome: status, isToolError: (result as { isError?: unknown }).isError === true }
  if (status === 'failed') return { outcome: status, code: error?.code }
  // It could not write its end.
  if (run !== undefined || isEnded(record)) return { outcome: 'lost' }
  if (releases !== undefined) return { outcome: 'released' }
  return { outcome: status === 'input_required' ? status : 'suspended' }
}
