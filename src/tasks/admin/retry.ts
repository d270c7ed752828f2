/** How a task is tried again: one that has not ended by itself, and a failed one as a new task. Pure. */
import { ErrorCode } from '../../definition/protocol-error.ts'
import type { Journal } from '../../interaction/journal.ts'
import { copy, own } from '../../interaction/journal-records.ts'
import { MAX_REFUSALS } from '../../interaction/question.ts'
import { NO_CRASHES } from '../changes.ts'
import { isEnded, type Task, type TaskRecord } from '../record.ts'
import type { Changed } from '../task-records.ts'
import { WAIT, WAITED } from '../waits.ts'

/** A task that has crashed begins alone. */
const ALONE = { crashes: 1 }

/** Of a task that has not ended: it is due, and its failures so far do not count, except that it is alone after a crash. A run that is alive goes on. */
export function dueNow({ record, dueAt }: Task): Changed | undefined {
  if (isEnded(record) || record.isUnconfirmed) return undefined
  const now = Date.now()
  const isAlive = record.run !== undefined && record.run.until > now
  const hasCrashed = Boolean(record.crashes) || (record.run !== undefined && !isAlive)
  const fresh = { ...record, idleRuns: 0, ...NO_CRASHES, ...(hasCrashed && ALONE) }
  if (isAlive) return { record: fresh, dueAt, isBookkeeping: true, isQuiet: true }
  return {
    record: {
      ...fresh,
      run: undefined,
      journal: { ...record.journal, retries: soon(record.journal.retries) },
    },
    dueAt: now,
    isBookkeeping: true,
  }
}

/**
 * The task that tries a failed one again: with its seed, so that its steps have the same idempotency keys, and with all that it had before
 * the error. It is kept for as long as the failed one at least, so that it is known for as long as that can be tried again.
 *
 * @param offsetMs By how much the clock of the store is ahead.
 */
export function taskAgain({ owner, server, id: retryOf, record }: Task, id: string, offsetMs: number): Task {
  const { seed, tool, toolVersion, principal, caller, trace, pollIntervalMs } = record
  const { asked, inbox, returned } = record
  const { ttlMs, keepMs = ttlMs } = record
  const now = Date.now()
  return {
    id,
    owner,
    server,
    version: 1,
    dueAt: now,
    record: {
      seed,
      tool,
      ...(toolVersion !== undefined && { toolVersion }),
      arguments: record.arguments,
      principal,
      caller,
      trace,
      createdAt: now,
      updatedAt: now,
      ttlMs: ttlMs === null ? null : Math.max(keepMs ?? 0, record.createdAt + ttlMs - now),
      keepMs: keepMs ?? undefined,
      pollIntervalMs,
      status: 'working',
      journal: withoutLastError(record, now + offsetMs),
      questions: {},
      asked,
      inbox,
      returned,
      awaited: [],
      idleRuns: 0,
      ...(record.crashes && ALONE),
      retryOf,
    },
  }
}

/**
 * The journal without the error that ended the task: that step runs again, that event is waited for again, that question is asked again. An
 * earlier error stays, since the tool may have gone on with it, for example to undo its steps: then it decides as before. And what Mayfly ended, as after crashes, was busy with something else than the last error.
 *
 * @param now By the clock of the journal.
 */
function withoutLastError({ journal, error, endedAfter }: TaskRecord, now: number): Journal {
  const order = [...(journal.order ?? [])]
  const at = (endedAfter ?? order.length) - 1
  const steps = copy(journal.steps)
  const errors = copy(journal.errors ?? {})
  const refusals = copy(journal.refusals)
  const counts = new Map<string, number>()
  for (const decision of order) counts.set(decision, (counts.get(decision) ?? 0) + 1)
  const last = error?.code === ErrorCode.internal ? undefined : order[at]
  const [, kind, name = ''] = /^(step|event|answer) (.*)$/s.exec(last ?? '') ?? []
  if (kind === 'step') {
    const count = order.slice(0, at).filter((decision) => decision === last).length
    if (own(errors, name)?.[count] !== undefined) {
      errors[name] = errors[name]!.filter((_, index) => index !== count)
      counts.set(last!, counts.get(last!)! - 1)
      order.splice(at, 1)
    }
  } else if (kind === 'event') {
    const [outcome] = (own(steps, WAITED + name) ?? []) as [(readonly unknown[])?]
    if (outcome?.length === 0) {
      delete steps[WAITED + name]
      delete steps[WAIT + name]
      order.splice(at, 1)
    }
  } else if (kind === 'answer' && (own(refusals, name)?.[0] ?? 0) >= MAX_REFUSALS) order.splice(at, 1)
  for (const name of Object.keys(errors))
    errors[name] = errors[name]!.slice(0, counts.get(`step ${name}`) ?? 0)
  // What the tool got last may not be recorded: nothing with an effect came after it.
  const isDecided = new Set(order)
  for (const key of Object.keys(refusals)) if (!isDecided.has(`answer ${key}`)) delete refusals[key]
  for (const [step, [until]] of Object.entries(steps))
    if (step.startsWith(WAIT) && !isDecided.has(`event ${step.slice(WAIT.length)}`) && isPast(until, now))
      delete steps[step]
  return { ...journal, steps, errors, refusals, order, retries: soon(journal.retries) }
}

function isPast(until: unknown, now: number): boolean {
  return typeof until === 'number' && until <= now
}

/** The next attempts begin at once. */
function soon(retries: Journal['retries']): Journal['retries'] {
  return (
    retries &&
    Object.fromEntries(Object.entries(retries).map(([step, [count]]) => [step, [count, 0] as const]))
  )
}
