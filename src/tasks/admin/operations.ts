/** What an operator does with the tasks of one server. */
import { isA } from '../../definition/error-text.ts'
import { type Names, refuseUnknown } from '../../definition/unknown-option.ts'
import { cancelled } from '../changes.ts'
import { isEnded, type Task, type TaskStatus } from '../record.ts'
import type { TaskRuns } from '../runs.ts'
import { CursorError, isCursor } from '../stored.ts'
import { createTaskId, UnreadableTaskError } from '../task-records.ts'
import { describeDetails, type TaskDetails } from './details.ts'
import { TaskAdminError } from './refusal.ts'
import { dueNow, taskAgain } from './retry.ts'
import { isReadable, summarizeStored, type TaskSummary } from './summary.ts'

/** Which tasks to list, and how many. */
export interface TaskListOptions {
  /** `failed` includes tasks that completed with a result that is an error. Default: all. */
  readonly status?: TaskStatus | undefined
  /** Only tasks of this tool. Default: all. */
  readonly tool?: string | undefined
  /** Only tasks that were created this many milliseconds ago, or longer. Default 0. */
  readonly olderThanMs?: number | undefined
  /** Only tasks that were created less than this many milliseconds ago. Default: any time. */
  readonly youngerThanMs?: number | undefined
  /** Tasks of the page, 1 to 200; a store with pages of its own may add a few. Default 50. */
  readonly limit?: number | undefined
  /** `next` of the page before. Default: the first page. */
  readonly after?: string | undefined
}

const LIST_OPTIONS: Names<TaskListOptions> = {
  status: { working: 1, input_required: 1, completed: 1, failed: 1, cancelled: 1 },
  tool: 'string',
  olderThanMs: [0],
  youngerThanMs: [0],
  limit: [1, 200],
  after: 'string',
}
const DEFAULT_LIMIT = 50

/** Of one page: tasks that the store returns at once, calls of the store, tasks and characters read, and milliseconds. */
const AT_ONCE = 20
const MAX_CALLS = 50
const MAX_READ = 500
const MAX_CHARACTERS = 8_000_000
const MAX_MS = 5000

export interface TaskPage {
  readonly tasks: readonly TaskSummary[]
  /** For `after` of the next page, which may also come with an empty page. Undefined for the last page. */
  readonly next?: string
}

/** All reject with a `TaskAdminError` for what is refused, and with the store's error if it does not answer within seconds. @throws TypeError for invalid options. */
export interface TaskOperations {
  /** One page of the tasks, in the order of the store. A call reads at most 500 of them. */
  list(options?: TaskListOptions): Promise<TaskPage>
  show(taskId: string): Promise<TaskDetails>
  /**
   * Runs a task now, with its failures so far forgotten. A failed one is tried again as a new task, with the same idempotency keys: what it has
   * stored does not run again, only the step that failed last. If it was tried again before, that task is retried instead. Resolves with the id of
   * the task that runs.
   */
  retry(taskId: string): Promise<{ readonly taskId: string }>
  /** As the client's own cancel. Resolves with whether the task is cancelled: one that has ended otherwise stays as it is. */
  cancel(taskId: string): Promise<{ readonly cancelled: boolean }>
}

export function createOperations(runs: TaskRuns): TaskOperations {
  const { records } = runs

  const read = (id: string): Promise<Task | undefined> =>
    records.read(id).catch((error: unknown) => {
      throw isA(error, UnreadableTaskError) ? unreadable() : error
    })

  const find = async (id: string): Promise<Task> => {
    const task = await read(id)
    if (task === undefined || runs.isForeign(task.server)) throw unknown()
    if (!isReadable(task)) throw unreadable()
    return task
  }

  const list: TaskOperations['list'] = async (options = {}) => {
    checkList(options)
    if (records.list === undefined)
      throw new TaskAdminError(
        'CANNOT_LIST',
        'The store of these tasks has no list of all: show, retry and cancel tasks by their ids.',
      )
    const { limit = DEFAULT_LIMIT } = options
    const startedAt = Date.now()
    const tasks: TaskSummary[] = []
    let next = options.after
    let [calls, read, characters] = [0, 0, 0]
    do {
      const page = await records.list({ limit: Math.min(AT_ONCE, limit - tasks.length), after: next })
      for (const stored of page.tasks) {
        read++
        characters += stored.state.length
        if (runs.isForeign(stored.server)) continue
        const summary = summarizeStored(stored, records)
        if (isListed(summary, options, startedAt)) tasks.push(summary)
      }
      next = page.next
      calls++
    } while (
      next !== undefined &&
      tasks.length < limit &&
      calls < MAX_CALLS &&
      read < MAX_READ &&
      characters < MAX_CHARACTERS &&
      Date.now() - startedAt < MAX_MS
    )
    return { tasks, ...(next !== undefined && { next }) }
  }

  /** The failed task keeps the id of the new one before that exists, so that there is never a second one. */
  const again = async (task: Task): Promise<string> => {
    const id = createTaskId()
    const named = await records.change(
      task.id,
      ({ record }) =>
        record.retriedAs === undefined ? { record: { ...record, retriedAs: id }, dueAt: null } : undefined,
      task,
    )
    if (named === undefined) throw unknown()
    const retriedAs = named.record.retriedAs!
    if ((await read(retriedAs)) === undefined)
      await records.createKnown(taskAgain(named, retriedAs, records.clock.offsetMs))
    return retriedAs
  }

  return {
    list,
    async show(taskId) {
      const task = await find(taskId)
      return describeDetails(task, runs).catch(() => {
        throw unreadable()
      })
    },
    async retry(taskId) {
      let task = await records.change(taskId, dueNow, await find(taskId))
      if (task === undefined) throw unknown()
      while (isEnded(task.record)) {
        refuseUnlessFailed(task, taskId)
        const isFirst: boolean = task.record.retriedAs === undefined
        const next = await again(task)
        if (isFirst) return { taskId: next }
        // It was tried again before: that one may have ended, too.
        task = await records.change(next, dueNow, await find(next))
        if (task === undefined) throw unknown()
      }
      if (task.record.isUnconfirmed)
        throw new TaskAdminError('UNCONFIRMED', 'The call of this task still goes on: try again in a minute.')
      return { taskId: task.id }
    },
    async cancel(taskId) {
      const task = await records.change(taskId, cancelled, await find(taskId))
      if (task === undefined) throw unknown()
      runs.running.get(taskId)?.lose()
      return { cancelled: task.record.status === 'cancelled' }
    },
  }
}

function unknown(): TaskAdminError {
  return new TaskAdminError(
    'UNKNOWN_TASK',
    'There is no such task on this server: it may have been deleted after its ttlMs.',
  )
}

function unreadable(): TaskAdminError {
  return new TaskAdminError(
    'UNREADABLE',
    'The stored task is damaged, or a newer version wrote it: it stays in the store until it expires.',
  )
}

/** @param asked The task of the operator, of which this one may be a retry. @throws TaskAdminError */
function refuseUnlessFailed({ id, record: { status, result, isWhole } }: Task, asked: string): void {
  const which = id === asked ? 'The task' : `Its retry ${id}`
  if (status === 'cancelled')
    throw new TaskAdminError('CANCELLED', `${which} was cancelled: call its tool again.`)
  if (status === 'completed' && (result as { isError?: boolean }).isError !== true)
    throw new TaskAdminError(
      'COMPLETED',
      `${which} completed without an error: there is nothing to try again.`,
    )
  if (!isWhole)
    throw new TaskAdminError(
      'NOT_KEPT',
      `${which} has only its error left, since its steps did not fit beside it, or an older version ended it: call its tool again.`,
    )
}

/** @throws TypeError */
export function checkList(options: TaskListOptions): void {
  refuseUnknown('list', options, LIST_OPTIONS)
  const { limit = DEFAULT_LIMIT, after } = options
  if (!Number.isInteger(limit)) throw new TypeError('"limit" of list must be a whole number.')
  if (after !== undefined && !isCursor(after)) throw new CursorError()
}

function isListed(
  { status, isError, tool, createdAt }: TaskSummary,
  options: TaskListOptions,
  now: number,
): boolean {
  const { olderThanMs = 0, youngerThanMs = Number.POSITIVE_INFINITY } = options
  const isStatus =
    options.status === undefined ||
    status === options.status ||
    (options.status === 'failed' && isError === true)
  if (!isStatus || (options.tool !== undefined && tool !== options.tool)) return false
  if (createdAt === null) return olderThanMs === 0 && youngerThanMs === Number.POSITIVE_INFINITY
  const ageMs = now - Date.parse(createdAt)
  return ageMs >= olderThanMs && ageMs < youngerThanMs
}
