/** Changes of a task by a run, a client or time. Pure: each takes the stored record. */
import { type Backoff, backoffMs } from '../definition/backoff.ts'
import { isA, memberOf, textOf } from '../definition/error-text.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { Journal } from '../interaction/journal.ts'
import type { OpenQuestion } from '../interaction/replay.ts'
import type { MethodResult } from '../request/method-result.ts'
import { isEnded, type Task, type TaskQuestion, type TaskRecord, withoutRun } from './record.ts'
import { type Changed, TaskTooLargeError } from './task-records.ts'

/** What a suspended run waits for. */
export interface Pause {
  readonly questions: readonly OpenQuestion[]
  readonly journal: Journal
  /** When the earliest sleep or timeout ends, in milliseconds since the epoch; infinite without any. */
  readonly until: number
  /** The events that are waited for. */
  readonly awaited: readonly string[]
  /** The answers given to the run; unused ones are in its journal or returned. */
  readonly given: { readonly [key: string]: unknown }
  readonly returned: TaskRecord['returned']
  /** The tool requests another run, without a question. */
  readonly isAgain: boolean
}

/**
 * The record of a task whose run was suspended. Does not check whether a client can be asked: each request declares this again, and another
 * client of the same caller may answer.
 */
export function suspended(record: TaskRecord, pause: Pause): Changed {
  const { questions, journal, awaited, given, returned, isAgain } = pause
  const answers = Object.fromEntries(
    Object.entries(record.inbox.answers).filter(([key]) => !Object.hasOwn(given, key)),
  )
  const open = openQuestions(record, questions, journal, answers)
  const isAnswered = questions.length > 0 && Object.keys(open.questions).length === 0
  const hasEvent = awaited.some((name) => Object.hasOwn(record.inbox.events, name))
  const until = isAgain ? Math.min(pause.until, Date.now() + record.pollIntervalMs) : pause.until
  const dueAt = isAnswered || hasEvent ? Date.now() : until
  const isIdle = isSame(journal, record.journal) && record.run?.hasWorked !== true
  return {
    record: {
      ...record,
      ...open,
      journal,
      status: Object.keys(open.questions).length > 0 ? 'input_required' : 'working',
      inbox: { ...record.inbox, answers },
      returned,
      awaited,
      run: undefined,
      idleRuns: isIdle && dueAt <= Date.now() ? record.idleRuns + 1 : 0,
      ...NO_CRASHES,
    },
    dueAt: dueAt === Number.POSITIVE_INFINITY ? null : dueAt,
  }
}

/** Of a task whose run finished a step, or ended. */
export const NO_CRASHES = { crashes: undefined, loneCrashes: undefined, releases: undefined }

/** The delays of a task whose runs cannot begin. */
const RELEASES: Backoff = { firstMs: 1000, maxMs: 300_000 }

/** The record of a task whose run could not begin: it is tried again, ever more slowly, until it expires. */
export function released(record: TaskRecord): Changed {
  const releases = (record.releases ?? 0) + 1
  const dueAt = Date.now() + backoffMs(releases, RELEASES)
  return { record: { ...record, run: undefined, releases, idleRuns: 0 }, dueAt, isBookkeeping: true }
}

/** The answers for a run: those that have arrived, and those to the questions that its tool returned last. */
export function answersFor({ journal, inbox, returned = {} }: TaskRecord): Pause['given'] {
  return { ...unread(returned, journal), ...inbox.answers }
}

/** The answers that do not belong to a known question of `ctx`. */
export function unread(answers: Pause['given'], { answers: read, refusals }: Journal): Pause['given'] {
  const isUnread = ([key]: [string, unknown]) => !Object.hasOwn(read, key) && !Object.hasOwn(refusals, key)
  return Object.fromEntries(Object.entries(answers).filter(isUnread))
}

/** A question keeps its key while it waits. If it is asked again after an invalid answer, it gets a new key. */
function openQuestions(
  record: TaskRecord,
  asked: readonly OpenQuestion[],
  journal: Journal,
  answers: { readonly [key: string]: unknown },
): Pick<TaskRecord, 'questions' | 'asked'> {
  const questions: Record<string, TaskQuestion> = {}
  let count = record.asked
  for (const { key, question } of asked) {
    if (Object.hasOwn(answers, key)) continue
    const [refusals = 0] = Object.hasOwn(journal.refusals, key) ? journal.refusals[key]! : []
    const known = Object.entries(record.questions).find(
      ([, waiting]) => waiting.key === key && waiting.refusals === refusals,
    )
    const { method, params } = question
    questions[known?.[0] ?? `q${++count}`] = { key, refusals, method, params }
  }
  return { questions, asked: count }
}

/** Whether a run has made no progress. */
export function isSame(one: Journal, other: Journal): boolean {
  const count = ({ answers, steps, refusals, retries = {}, order = [] }: Journal) =>
    [
      ...[answers, steps, refusals].map((part) => Object.keys(part).length),
      order.length,
      JSON.stringify(retries),
    ].join()
  return count(one) === count(other)
}

/** The record of an ended task. `isWhole`: it failed, so that it may be tried again with all that it had. */
function ended(
  record: TaskRecord,
  how: Pick<TaskRecord, 'status' | 'statusMessage' | 'result' | 'error'>,
  isWhole = false,
): TaskRecord {
  const { statusMessage, ...rest } = isWhole ? record : withoutRun(record)
  return {
    ...rest,
    ...(isWhole && { isWhole }),
    questions: {},
    awaited: [],
    run: undefined,
    ...(statusMessage !== undefined && { statusMessage }),
    ...how,
  }
}

export function endedWith(record: TaskRecord, { members, meta }: MethodResult): TaskRecord {
  const result = JSON.parse(`{${members}}`) as { readonly isError?: boolean }
  const own = meta === undefined ? result : { ...result, _meta: meta }
  return ended(record, { status: 'completed', result: own }, result.isError === true)
}

export function failedWith(record: TaskRecord, error: NonNullable<TaskRecord['error']>): TaskRecord {
  return ended(record, { status: 'failed', error, statusMessage: error.message }, true)
}

export function cancelled({ record }: Task): Changed | undefined {
  return isEnded(record) ? undefined : { record: ended(record, { status: 'cancelled' }), dueAt: null }
}

/** The error of a task as its client may see it. Errors other than `ProtocolError`, and what cannot be read, are reported instead. Never throws. */
export function toTaskError(
  error: unknown,
  report: (error: unknown) => void,
): NonNullable<TaskRecord['error']> {
  const code = isA(error, ProtocolError) ? memberOf(error, 'code') : undefined
  if (Number.isSafeInteger(code)) {
    const data = memberOf(error, 'data')
    return { code: code as number, message: textOf(error), ...(isJson(data, report) && { data }) }
  }
  report(error)
  const isSize = isA(error, TaskTooLargeError)
  return {
    code: ErrorCode.internal,
    message: isSize
      ? `The result of the task is too large: it has ${error.bytes} bytes, but ${error.limit} are allowed.`
      : 'Internal error',
  }
}

/** Whether it can be stored. */
function isJson(data: unknown, report: (error: unknown) => void): boolean {
  try {
    return JSON.stringify(data) !== undefined
  } catch (error) {
    report(error)
    return false
  }
}

/** Names the step whose result does not fit. */
export function tooLarge(error: unknown, step: string): unknown {
  if (!isA(error, TaskTooLargeError)) return error
  return new TypeError(
    `The result of step "${step}" does not fit in the task (${error.bytes} of ${error.limit} bytes): return less, for example the key of a stored object.`,
    { cause: textOf(error) },
  )
}

/** A task that does not fit with a lease, and so could never run. */
export function cannotBeTaken({ record }: Task, error: TaskTooLargeError): Changed | undefined {
  if (isEnded(record)) return undefined
  const message = `The task failed: it does not fit in its store with the lease of a run (${error.bytes} bytes, of ${error.limit}).`
  return { record: failedWith(record, { code: ErrorCode.internal, message }), dueAt: null }
}

/** The error for a call whose caller has too many open tasks. */
export function tooMany(): ProtocolError {
  return new ProtocolError(
    ErrorCode.internal,
    'You have as many open tasks as this server allows: wait for one to end, or cancel one.',
    { limit: 'maxOpenTasks' },
  )
}
