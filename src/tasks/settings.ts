/**
 * The options of a server's tasks, and of each tool's.
 */
import type { TaskOption, TaskOptions } from '../definition/task-option.ts'
import type { AnyTool } from '../definition/tool.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import type { TaskRunner, TaskStore } from './store.ts'

/** The options of every store's function. */
export interface TasksOptions {
  /** Runs due tasks. Default: the store's runner, or none; then requests and `server.tasks.runDue` run them. */
  readonly runner?: TaskRunner | undefined
  /**
   * Milliseconds from creation after which a task is deleted, whether or not it has ended; but at least half of that after each write, and
   * after the end of each `sleep` and `timeoutMs`. Null: never. Default 604 800 000, 7 days.
   */
  readonly ttlMs?: number | null
  /** Milliseconds that clients should wait between two polls. Default 2000. */
  readonly pollIntervalMs?: number
  /** Open tasks that one caller may have: a principal, otherwise a public address; all others count as one. Default 100. */
  readonly maxOpenTasks?: number
  /** Consecutive runs that end without a finished step, after which a task fails. Default 5. */
  readonly maxIdleRuns?: number
  /**
   * Consecutive runs that die without a finished step, while nothing else runs in their process, after which a task fails; ten times as many
   * that run beside others. Default 3.
   */
  readonly maxCrashes?: number
  /** Runs at once in one process. Calls that become tasks are counted, and never refused. Default 100. */
  readonly maxConcurrentRuns?: number
  /** Maximum milliseconds of one run, 2000 or more. The platform's own limit applies, too. Default 900 000, 15 minutes. */
  readonly maxRunMs?: number
  /**
   * Milliseconds without a write after which a run counts as dead and another may start, for example because a step blocks the process.
   * Twice as many after each such run without a finished step, up to `maxRunMs`. Default 30 000.
   */
  readonly leaseMs?: number
}

/** The names of `TasksOptions`. */
export const TASKS_OPTIONS: Names<TasksOptions> = {
  runner: 'object',
  ttlMs: 1,
  pollIntervalMs: [0],
  maxOpenTasks: [1],
  maxIdleRuns: [1],
  maxCrashes: [1],
  maxConcurrentRuns: [1],
  maxRunMs: [0],
  leaseMs: [0],
}
const TASK_OPTIONS: Names<TaskOptions> = {
  mode: { required: 1, auto: 1 },
  afterMs: [0],
  waitMs: [0],
  ttlMs: 1,
  pollIntervalMs: [0],
  version: [1],
  fallback: { handle: 1, wait: 1, refuse: 1 },
}

export interface Settings extends Required<Omit<TasksOptions, 'runner'>> {
  readonly store: TaskStore
  readonly runner: TaskRunner | undefined
}

/** No step starts in the last second of a run, so a shorter run would do nothing. */
export const MIN_RUN_MS = 2000

/** @throws TypeError for a number that is not above 0, or a run that is too short for a step. */
export function toSettings(options: TasksOptions & { readonly store: TaskStore }): Settings {
  const { store, runner = store?.runner, ttlMs = 604_800_000, ...rest } = options
  const numbers = {
    pollIntervalMs: 2000,
    maxOpenTasks: 100,
    maxIdleRuns: 5,
    maxCrashes: 3,
    maxConcurrentRuns: 100,
    maxRunMs: 900_000,
    leaseMs: 30_000,
  }
  const settings = { ...numbers, ...rest, store, runner, ttlMs }
  if (typeof store?.replace !== 'function')
    throw new TypeError('Tasks need a "store", for example that of createMemoryTasks().')
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) checkNumber(name, settings[name])
  if (ttlMs !== null) checkNumber('ttlMs', ttlMs)
  checkAtLeast('maxRunMs', settings.maxRunMs, MIN_RUN_MS)
  return settings
}

/** Most clients give up after a minute. */
const WAIT_MS = 50_000

export interface ToolSettings extends Required<TaskOptions> {}

/** The settings of one tool. */
export function settingsOf(option: TaskOption, { ttlMs, pollIntervalMs }: Settings): ToolSettings {
  const given = typeof option === 'string' ? { mode: option } : option
  const defaults = { mode: 'auto', afterMs: 2000, waitMs: WAIT_MS, fallback: 'wait', version: 1 } as const
  return { ...defaults, ttlMs, pollIntervalMs, ...given }
}

const MODES = ['required', 'auto']

/** @throws TypeError naming the tool and the value. */
export function checkTaskOption({ id, task }: AnyTool, settings: Settings): void {
  const isOption = typeof task === 'string' || (typeof task === 'object' && task !== null)
  if (!isOption)
    throw new TypeError(`"task" of tool "${id}" must be "auto", "required" or an object with options.`)
  if (typeof task === 'object') refuseUnknown(`"task" of tool "${id}"`, task, TASK_OPTIONS)
  const { mode, afterMs, waitMs, ttlMs, pollIntervalMs, version } = settingsOf(task, settings)
  if (!MODES.includes(mode))
    throw new TypeError(`"task" of tool "${id}" must be one of ${MODES.join(', ')}, not "${mode}".`)
  checkNumber(`task.pollIntervalMs" of tool "${id}`, pollIntervalMs)
  checkNumber(`task.version" of tool "${id}`, version)
  if (ttlMs !== null) checkNumber(`task.ttlMs" of tool "${id}`, ttlMs)
  for (const [name, ms] of Object.entries({ afterMs, waitMs }))
    if (!Number.isInteger(ms))
      throw new TypeError(`"task.${name}" of tool "${id}" must be a whole number of milliseconds, 0 or more.`)
}

/** @throws TypeError for less time than a run needs. */
export function checkAtLeast(name: string, ms: number, atLeastMs: number): void {
  if (!(ms >= atLeastMs))
    throw new TypeError(
      `"${name}" must be ${atLeastMs} or more milliseconds, not ${ms}: in less time no step of a task would start.`,
    )
}

function checkNumber(name: string, value: number): void {
  if (!(Number.isInteger(value) && value > 0))
    throw new TypeError(`"${name}" must be a whole number above 0.`)
}
