/** A task in a list. */
import { utf8Length } from '../../definition/utf8.ts'
import type { Task, TaskStatus } from '../record.ts'
import type { StoredTask } from '../store.ts'
import { expiryOf, type TaskRecords } from '../task-records.ts'
import { shownText, shownTime } from './shown.ts'

/** Events that are listed. */
const MAX_EVENTS = 100

export interface TaskSummary {
  readonly taskId: string
  /** Of the extension; or `unreadable`, if the record is damaged or of a newer version. */
  readonly status: TaskStatus | 'unreadable'
  readonly statusMessage?: string
  /** It completed with a result that is an error. */
  readonly isError?: true
  readonly tool: string
  readonly toolVersion: number
  /** All times are ISO 8601. */
  readonly createdAt: string | null
  readonly lastUpdatedAt: string | null
  /** When it runs next, or counts as dead. Null: it waits for an answer or an event, or has ended. */
  readonly dueAt: string | null
  /** When it may be deleted. Null: never. */
  readonly expiresAt: string | null
  /** Of its record in the store. */
  readonly bytes: number
  /** The current run, or one that died. */
  readonly run?: { readonly until: string | null; readonly leaseMs?: number; readonly isAlone?: true }
  /** Consecutive runs that finished no step; that died; that died alone; and that could not begin. */
  readonly idleRuns: number
  readonly crashes: number
  readonly loneCrashes: number
  readonly releases: number
  readonly awaits: { readonly events: readonly string[]; readonly questions: number }
  /** The task that tries this one again, and the one that this task tries again. */
  readonly retriedAs?: string
  readonly retryOf?: string
}

/** Also of a record that cannot be read. */
export function summarizeStored(stored: StoredTask, { clock, toTask }: TaskRecords): TaskSummary {
  try {
    return summarize(toTask(stored), stored.state)
  } catch {
    return unreadable(stored, clock.offsetMs)
  }
}

/** Whether the members of the record are there. */
export function isReadable(task: Task): boolean {
  try {
    return summarize(task, '').status !== undefined
  } catch {
    return false
  }
}

export function summarize({ id, dueAt, record }: Task, state = JSON.stringify(record)): TaskSummary {
  const { status, statusMessage, tool, toolVersion = 1, run, result, retriedAs, retryOf } = record
  const { idleRuns, crashes = 0, loneCrashes = 0, releases = 0, awaited, questions } = record
  return {
    taskId: id,
    status,
    ...(statusMessage !== undefined && { statusMessage: shownText(statusMessage) }),
    ...((result as { isError?: boolean } | undefined)?.isError === true && { isError: true }),
    tool: shownText(tool),
    toolVersion,
    createdAt: shownTime(record.createdAt),
    lastUpdatedAt: shownTime(record.updatedAt),
    dueAt: shownTime(dueAt),
    expiresAt: shownTime(expiryOf(record)),
    bytes: utf8Length(state),
    ...(run !== undefined && {
      run: {
        until: shownTime(run.until),
        ...(run.leaseMs !== undefined && { leaseMs: run.leaseMs }),
        ...(run.isAlone && { isAlone: true }),
      },
    }),
    idleRuns,
    crashes,
    loneCrashes,
    releases,
    awaits: {
      events: awaited.slice(0, MAX_EVENTS).map((name) => shownText(name)),
      questions: Object.keys(questions).length,
    },
    ...(retriedAs !== undefined && { retriedAs }),
    ...(retryOf !== undefined && { retryOf }),
  }
}

/** @param offsetMs By how much the clock of the store is ahead. */
function unreadable({ id, dueAt, expiresAt, state }: StoredTask, offsetMs: number): TaskSummary {
  return {
    taskId: id,
    status: 'unreadable',
    tool: '',
    toolVersion: 1,
    createdAt: null,
    lastUpdatedAt: null,
    dueAt: shownTime(dueAt === null ? null : dueAt - offsetMs),
    expiresAt: shownTime(expiresAt === null ? null : expiresAt - offsetMs),
    bytes: utf8Length(state),
    idleRuns: 0,
    crashes: 0,
    loneCrashes: 0,
    releases: 0,
    awaits: { events: [], questions: 0 },
  }
}
