/**
 * Reads and changes tasks in a store. A change is a function of the stored record. If another process wrote the record in the meantime, the
 * change is applied again to the new record, so that a client's answer and a run's step never undo each other.
 */
import { toBase64Url } from '../definition/base64.ts'
import { digest } from '../definition/digest.ts'
import { withTimeout } from '../definition/timeout.ts'
import { bytesOver } from '../definition/utf8.ts'
import { withLifetime } from './lifetime.ts'
import { isEnded, type Task, type TaskRecord } from './record.ts'
import type { StoredTask, TaskStore } from './store.ts'
import { createStoreClock, type StoreClock, toOwnTime, toStoreTime } from './store-time.ts'
import { isTaskId } from './stored.ts'

/** Bytes of a task's id, which makes ids unguessable. */
const ID_BYTES = 24

/** Milliseconds for one read or write. */
const STORE_TIMEOUT_MS = 15_000

/** How often a change is retried after a concurrent write. */
const MAX_ATTEMPTS = 50

/** A change of a task, and its due time afterwards. Undefined: nothing to change. */
export type Change = (task: Task) => Changed | undefined

export interface Changed {
  readonly record: TaskRecord
  readonly dueAt: number | null
  /** Whether the runner already knows `dueAt`, as the end of the current run. */
  readonly isQuiet?: boolean
}

/** The record does not fit in its store. */
export class TaskTooLargeError extends Error {
  override readonly name = 'TaskTooLargeError'
  readonly bytes: number
  readonly limit: number

  constructor(bytes: number, limit: number) {
    super(`The task has ${bytes} bytes, but its store allows ${limit}.`)
    this.bytes = bytes
    this.limit = limit
  }
}

export interface TaskRecords {
  readonly clock: StoreClock
  /** Undefined if `owner`, a digest of which is stored, has too many open tasks. */
  create(
    record: TaskRecord,
    dueAt: number | null,
    count: { readonly owner: string; readonly maxOpen: number },
  ): Promise<Task | undefined>
  read(id: string): Promise<Task | undefined>
  /** Resolves with the changed task, with the stored one if there was nothing to change, and with undefined if it does not exist. */
  change(id: string, change: Change, known?: Task): Promise<Task | undefined>
  due(now: number, limit: number): Promise<readonly string[]>
}

/**
 * @param onDue Called after each write that makes a task due, and with null after one that makes it no longer due. Awaited, since the
 * process may be frozen after the call returned. @param onChange Called after each write that clients can see.
 */
export function createTaskRecords(
  store: TaskStore,
  onDue: (id: string, at: number | null) => Promise<void>,
  onChange: (id: string) => void,
): TaskRecords {
  const clock = createStoreClock(store, answered)
  const read = async (id: string): Promise<Task | undefined> => {
    if (!isTaskId(id)) return undefined
    const offsetMs = await clock.sync()
    const stored = await answered(store.read(id))
    if (stored === undefined) return undefined
    const { owner, version, dueAt, state } = stored
    return toOwnTime({ id, owner, version, dueAt, record: JSON.parse(state) as TaskRecord }, offsetMs)
  }

  return {
    clock,
    read,
    async due(now, limit) {
      const offsetMs = await clock.sync()
      return answered(store.due(now + offsetMs, limit))
    },
    async create(record, dueAt, { owner, maxOpen }) {
      const id = toBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
      const kept = withLifetime(record, dueAt, Date.now())
      const task = { id, owner: await digest(owner), version: 1, dueAt, record: kept }
      const stored = toStored(toStoreTime(task, await clock.sync()), store.maxStateBytes)
      if (!(await answered(store.create(stored, maxOpen)))) return undefined
      if (dueAt !== null && stored.dueAt !== null) await onDue(id, dueAt)
      return task
    },
    async change(id, change, known) {
      let task = known ?? (await read(id))
      for (let attempt = 0; task !== undefined && attempt < MAX_ATTEMPTS; attempt++) {
        const changed = change(task)
        if (changed === undefined) return task
        const now = Date.now()
        const record = { ...withLifetime(changed.record, changed.dueAt, now), updatedAt: now }
        const next = { ...task, version: task.version + 1, dueAt: changed.dueAt, record }
        const stored = toStored(toStoreTime(next, await clock.sync()), store.maxStateBytes)
        if (await answered(store.replace(stored))) {
          if (isSeen(task.record, record)) onChange(id)
          if (!changed.isQuiet && (stored.dueAt !== null || task.dueAt !== null))
            await onDue(id, stored.dueAt === null ? null : next.dueAt)
          return next
        }
        task = await read(id)
      }
      if (task !== undefined) throw new Error(`Task ${id} could not be written: too many concurrent writes.`)
      return undefined
    },
  }
}

/** What a write did that did not answer is unknown, as after an error. */
function answered<Answer>(asked: Promise<Answer>): Promise<Answer> {
  return withTimeout(asked, STORE_TIMEOUT_MS, 'store of the tasks')
}

/** Whether clients see a difference. */
function isSeen(before: TaskRecord, after: TaskRecord): boolean {
  const seen = ({ status, statusMessage, questions }: TaskRecord): string =>
    [status, statusMessage, ...Object.keys(questions)].join()
  return seen(before) !== seen(after)
}

/** @throws TaskTooLargeError */
function toStored({ id, owner, version, dueAt, record }: Task, maxStateBytes: number): StoredTask {
  const isOpen = !isEnded(record)
  const state = JSON.stringify(record)
  const bytes = bytesOver(state, maxStateBytes)
  if (bytes !== undefined) throw new TaskTooLargeError(bytes, maxStateBytes)
  return {
    id,
    owner,
    version,
    isOpen,
    dueAt: isOpen ? dueAt : null,
    expiresAt: record.ttlMs === null ? null : record.createdAt + record.ttlMs,
    state,
  }
}
