/** The stored record of a task: its call, its journal, what it waits for, and how it ended. */
import type { AuthInfo, ClientCapabilities, Era, Implementation } from '../definition/context.ts'
import { EMPTY_JOURNAL, type Journal } from '../interaction/journal.ts'

/** The statuses of the extension; the last three are final. */
export const TASK_STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const

export type TaskStatus = (typeof TASK_STATUSES)[number]

/** A question of a task, under the key that clients see. */
export interface TaskQuestion {
  /** The key in the journal. */
  readonly key: string
  /** How often an answer to it was refused. When asked again, the question has another key. */
  readonly refusals: number
  readonly method: string
  readonly params: object
}

/** A run with a lease until a time, in milliseconds since the epoch. */
export interface TaskLease {
  readonly id: string
  readonly until: number
  /** When the runner checks whether this run is still alive. The run's own writes do not change it. */
  readonly lookAt: number
  /** Milliseconds of this lease, if runs before it lost shorter ones. */
  readonly leaseMs?: number | undefined
  /** Nothing else runs in its process. */
  readonly isAlone?: boolean | undefined
  /** It finished a step. */
  readonly hasWorked?: boolean | undefined
}

/**
 * The newest format of a record that this version can run. Members that older versions may ignore, and keep, need no new number; it grows when
 * they would run the task wrongly, so that they leave it alone.
 */
export const RECORD_FORMAT = 1

export interface TaskRecord {
  /** Default 1. */
  readonly format?: number
  /** The idempotency keys of its steps are derived from it. */
  readonly seed: string
  readonly tool: string
  /** The `version` of the tool when the task was created. Default 1. */
  readonly toolVersion?: number
  readonly arguments: unknown
  readonly principal: string
  readonly caller: TaskCaller
  /** Identifies the trace of its call, for the server's telemetry. */
  readonly trace?: string | undefined
  readonly createdAt: number
  readonly updatedAt: number
  /** Unique for each write of a version, so that a process recognizes its own when the answer was lost. */
  readonly writeId?: string
  /** Milliseconds from creation until the task is deleted. */
  readonly ttlMs: number | null
  /** `ttlMs` as of the task's creation, if it has grown since. */
  readonly keepMs?: number | undefined
  readonly pollIntervalMs: number
  readonly status: TaskStatus
  readonly statusMessage?: string | undefined
  readonly journal: Journal
  /** By the key that clients see. */
  readonly questions: { readonly [key: string]: TaskQuestion }
  /** The number of questions so far, for the key of the next one. */
  readonly asked: number
  /** Unread input: answers by the journal's key, and events by name. */
  readonly inbox: {
    readonly answers: { readonly [key: string]: unknown }
    readonly events: { readonly [name: string]: readonly [value: unknown, at?: number] }
  }
  /**
   * The answers to the questions that the tool returned last, by the tool's keys. The tool gets them in each run until it returns other
   * questions.
   */
  readonly returned?: { readonly [key: string]: unknown } | undefined
  /** The events that it waits for. */
  readonly awaited: readonly string[]
  /** Its call goes on, and has not seen yet that it is stored: no runner runs it. */
  readonly isUnconfirmed?: true | undefined
  /** The current run. */
  readonly run?: TaskLease | undefined
  /** Consecutive runs that ended, without a finished step. */
  readonly idleRuns: number
  /** Consecutive runs that died, or were cut off from the store, without a finished step; and those of them that ran alone. */
  readonly crashes?: number | undefined
  readonly loneCrashes?: number | undefined
  /** Consecutive runs that could not begin: `setup` failed, or the tool is unknown. */
  readonly releases?: number | undefined
  readonly result?: object | undefined
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined
  /** It ended, and still has all that another run would need. */
  readonly isWhole?: true | undefined
  /** The number of decisions after which its tool ended, if those of steps beside it came later. */
  readonly endedAfter?: number | undefined
  /** The task that tries this one again, and the one that this task tries again. */
  readonly retriedAs?: string | undefined
  readonly retryOf?: string | undefined
}

/** The stored part of the tool's caller: no token and no headers. */
export interface TaskCaller {
  readonly url: string | undefined
  readonly era: Era
  readonly protocolVersion: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  /** Without its token. */
  readonly auth: AuthInfo | undefined
}

/** A task and its store metadata. */
export interface Task {
  readonly id: string
  readonly owner: string
  /** Undefined: any server's. */
  readonly server?: string | undefined
  readonly version: number
  /** When it must run, in milliseconds since the epoch. */
  readonly dueAt: number | null
  readonly record: TaskRecord
}

/** The record of an ended task, without the parts that only another run would need. */
export function withoutRun(record: TaskRecord): TaskRecord {
  return {
    ...record,
    arguments: undefined,
    caller: { ...record.caller, auth: undefined },
    journal: EMPTY_JOURNAL,
    inbox: { answers: {}, events: {} },
    returned: undefined,
    isWhole: undefined,
  }
}

export function isEnded({ status }: TaskRecord): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/** The task as `tools/call` answers it: the members of the extension's `Task`. */
export function describeTask({ id, record }: Task): Record<string, unknown> {
  const { status, statusMessage, createdAt, updatedAt, ttlMs, pollIntervalMs } = record
  return {
    taskId: id,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs,
  }
}

/** The same with the members of its status: the extension's `DetailedTask`. */
export function describeDetails(task: Task): Record<string, unknown> {
  const { status, questions, result, error } = task.record
  const requests = Object.entries(questions).map(([key, { method, params }]) => [key, { method, params }])
  return {
    ...describeTask(task),
    ...(status === 'input_required' && { inputRequests: Object.fromEntries(requests) }),
    // Like the answer of `tools/call`: without its type, the official client refuses it.
    ...(status === 'completed' && { result: { resultType: 'complete', ...result } }),
    ...(status === 'failed' && { error }),
  }
}
