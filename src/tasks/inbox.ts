/**
 * What comes to a task from outside: answers and events. It has a share of the store's room, so that the steps keep theirs.
 */

import { isEnded, type Task, type TaskRecord } from './record.ts'
import { utf8Length } from './stored.ts'
import { type Changed, TaskTooLargeError } from './task-records.ts'

/** Events of one task that were not waited for yet. */
const MAX_EVENTS = 100

/** An answer, and all events together, may have this part of what the store keeps of a task. */
const SHARE = 1 / 4

/** An answer or an event that the task has no room for. */
export class InboxError extends TypeError {
  override readonly name = 'InboxError'
}

/**
 * Takes the answers to open questions; others are ignored. The task is due when its last question is answered.
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

/** Keeps an event. The first one of a name counts. @throws InboxError for events that are too many or too large. */
export function notified(
  { record, dueAt }: Task,
  name: string,
  value: unknown,
  maxStateBytes: number,
): Changed | undefined {
  if (isEnded(record) || Object.hasOwn(record.inbox.events, name)) return undefined
  const events = { ...record.inbox.events, [name]: [value] as const }
  if (Object.keys(events).length > MAX_EVENTS)
    throw new InboxError(`A task keeps at most ${MAX_EVENTS} events, and this one has as many: send fewer.`)
  checkSize(`With "${name}", the events of the task have`, events, maxStateBytes)
  return {
    record: { ...record, inbox: { ...record.inbox, events } },
    dueAt: record.awaited.includes(name) ? dueSoon(record, dueAt) : dueAt,
  }
}

/** The error for an answer or event that does not fit in the task, although it is no larger than it may be. */
export function asInboxError(error: unknown): unknown {
  if (!(error instanceof TaskTooLargeError)) return error
  const { bytes, limit } = error
  return new InboxError(
    `This does not fit in the task, which would have ${bytes} of ${limit} bytes: send less.`,
  )
}

function checkSize(what: string, value: unknown, maxStateBytes: number): void {
  const bytes = utf8Length(JSON.stringify(value))
  const limit = Math.floor(maxStateBytes * SHARE)
  if (bytes > limit)
    throw new InboxError(`${what} ${bytes} bytes, and may have ${limit}: send less, for example a URL.`)
}

/** A run that goes on finds what has come when it suspends; one that has died is followed by another at `dueAt`. */
function dueSoon({ run }: TaskRecord, dueAt: number | null): number | null {
  return run === undefined ? Date.now() : dueAt
}
