/** Input for a task: answers and events. It may use only a part of the store's limit, so that space is left for the steps. */

import { isA } from '../definition/error-text.ts'
import { utf8Length } from '../definition/utf8.ts'
import { isEnded, type Task, type TaskRecord } from './record.ts'
import { type Changed, TaskTooLargeError } from './task-records.ts'

/** Maximum queued events of one task. */
const MAX_EVENTS = 100

/** The part of the store's limit per task that an answer, or all events together, may use. */
const SHARE = 1 / 4

/** An answer or an event that does not fit in the task. */
export class InboxError extends TypeError {
  override readonly name = 'InboxError'
}

/**
 * Stores the answers to open questions; others are ignored. The task is due when its last question is answered.
 *
 * @throws InboxError for an answer that is too large.
 */
export function answered(
  { record, dueAt }: Task,
  responses: { readonly [key: string]: unknown },
  maxStateBytes: number,
): Changed | undefined {
  const known = Object.keys(responses).filter((key) => Object.hasOwn(record.questions, key))
  if (known.length === 0 || isEnded(record)) return undefined
  const questions = { ...record.questions }
  const answers: Record<string, unknown> = { ...record.inbox.answers }
  for (const name of known) {
    checkSize(`The answer "${name}" has`, responses[name], maxStateBytes)
    answers[questions[name]!.key] = responses[name]
    delete questions[name]
  }
  const isReady = Object.keys(questions).length === 0
  return {
    record: {
      ...record,
      questions,
      status: isReady ? 'working' : record.status,
      inbox: { ...record.inbox, answers },
    },
    dueAt: isReady ? dueSoon(record, dueAt) : dueAt,
  }
}

/** Stores an event. Only the first event of a name counts. @throws InboxError for too many or too large events. */
export function notified(
  { record, dueAt }: Task,
  name: string,
  value: unknown,
  maxStateBytes: number,
  clockOffsetMs: number,
): Changed | undefined {
  if (isEnded(record) || Object.hasOwn(record.inbox.events, name)) return undefined
  const events = { ...record.inbox.events, [name]: [value, arrival(record, clockOffsetMs)] as const }
  if (Object.keys(events).length > MAX_EVENTS)
    throw new InboxError(`A task stores at most ${MAX_EVENTS} events, and this one is full: send fewer.`)
  checkSize(`With "${name}", the events of the task have`, events, maxStateBytes)
  return {
    record: { ...record, inbox: { ...record.inbox, events } },
    dueAt: record.awaited.includes(name) ? dueSoon(record, dueAt) : dueAt,
  }
}

/** When an event arrives, by the store's clock: after each earlier one, also if it has none and those of the senders differ. */
function arrival({ inbox }: TaskRecord, clockOffsetMs: number): number {
  return Math.max(Date.now() + clockOffsetMs, ...Object.values(inbox.events).map(([, at = 0]) => at + 1))
}

/** The error for an answer or event that does not fit in the task, although it is within its own limit. */
export function asInboxError(error: unknown): unknown {
  if (!isA(error, TaskTooLargeError)) return error
  const { bytes, limit } = error
  return new InboxError(
    `This does not fit in the task, which would have ${bytes} bytes of ${limit}: send less.`,
  )
}

function checkSize(what: string, value: unknown, maxStateBytes: number): void {
  const bytes = utf8Length(JSON.stringify(value))
  const limit = Math.floor(maxStateBytes * SHARE)
  if (bytes > limit)
    throw new InboxError(`${what} ${bytes} bytes, and may have ${limit}: send less, for example a URL.`)
}

/** A running run reads new input when it suspends; a dead run is replaced at `dueAt`. */
function dueSoon({ run }: TaskRecord, dueAt: number | null): number | null {
  return run === undefined ? Date.now() : dueAt
}
