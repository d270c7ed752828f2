/**
 * Reads and changes tasks in a store. A change is a function of the stored record. If another process wrote the record in the meantime, the
 * change is applied again to the new record, so that a client's answer and a run's step never undo each other.
 */
import { randomBase64Url } from '../definition/base64.ts'
import { digest } from '../definition/digest.ts'
import { bytesOver } from '../definition/utf8.ts'
import { withLifetime } from './lifetime.ts'
import { isEnded, RECORD_FORMAT, type Task, type TaskRecord, withoutRun } from './record.ts'
import type { StoredTask, TaskStore } from './store.ts'
import { createStoreClock, type StoreClock, toOwnTime, toStoreTime } from './store-time.ts'
import { isTaskId } from './stored.ts'
import { answered, cancelUnknown, createOnce, isStored, UNCONFIRMED_MS } from './unknown-writes.ts'

/** Bytes of a task's id, which makes ids unguessable. */
const ID_BYTES = 24

/**
 * Bytes of a record that only bookkeeping may use: the lease and the counts of its runs. So what could be stored can always be taken, and
 * ended.
 */
const ROOM_BYTES = 1024

/** The part of a small store's limit that is kept for it. */
const MAX_ROOM_SHARE = 1 / 8

/** Bytes that are left in a failed task which can be tried again. */
const SPARE_BYTES = 128

/** The part of a page that one owner may have while others wait. */
const OWNER_SHARE = 1 / 4

/** Milliseconds for which a task that cannot be read is put off. */
const UNREADABLE_MS = 300_000

/** How often a change is retried after a concurrent write. */
const MAX_ATTEMPTS = 50

/** A change of a task, and its due time afterwards. Undefined: nothing to change. */
export type Change = (task: Task) => Changed | undefined

export interface Changed {
  readonly record: TaskRecord
  readonly dueAt: number | null
  /** Whether the runner already knows `dueAt`, as the end of the current run. */
  readonly isQuiet?: boolean
  /** It adds nothing but bookkeeping. */
  readonly isBookkeeping?: boolean
}

/** The stored text is not a record: it is damaged, or a newer version wrote it. */
export class UnreadableTaskError extends Error {
  override readonly name = 'UnreadableTaskError'
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
  /**
   * Undefined if `owner`, a digest of which is stored, has too many open tasks. If the store does not say whether it was created, it is
   * cancelled; `waitUntil` gets that work.
   */
  create(
    record: TaskRecord,
    dueAt: number | null,
    count: { readonly owner: string; readonly maxOpen: number },
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<Task | undefined>
  read(id: string): Promise<Task | undefined>
  /** Resolves with the changed task, with the stored one if there was nothing to change, and with undefined if it does not exist. */
  change(id: string, change: Change, known?: Task): Promise<Task | undefined>
  /** Those of this server, and of each owner only a share while others wait. */
  due(now: number, limit: number): Promise<readonly string[]>
  /** Another server whose task is due in the same store, if it is the first. */
  dueElsewhere(now: number): Promise<string | undefined>
  /** Creates a task whose id was stored before, unless it exists. @throws UnknownTaskError if that stays unknown. */
  createKnown(task: Task): Promise<void>
  /** One page of all tasks of this server, as they are stored. Undefined for a store without a list. */
  readonly list: TaskStore['list']
  /** The task of such a page. @throws UnreadableTaskError */
  toTask(stored: StoredTask): Task
  /** Makes a task that cannot be read due later, so that it does not stand before others. */
  putOff(id: string): Promise<void>
}

/**
 * @param server The id of the server. @param onDue Called after each write that makes a task due, and with null after one that makes it no longer due. Awaited, since the
 * process may be frozen after the call returned. @param onChange Called after each write that clients can see.
 */
export function createTaskRecords(
  store: TaskStore,
  server: () => string,
  onDue: (id: string, at: number | null) => Promise<void>,
  onChange: (id: string) => void,
): TaskRecords {
  const clock = createStoreClock(store, answered)
  const read = async (id: string): Promise<Task | undefined> => {
    if (!isTaskId(id)) return undefined
    const offsetMs = await clock.sync()
    const stored = await answered(store.read(id))
    if (stored === undefined) return undefined
    return toOwnTime(toTask(stored), offsetMs)
  }

  /** Replaces a task. If the answer is lost, it finds out. @throws the store's error if that fails. */
  const replaced = async (stored: StoredTask, wakeAt: number | null): Promise<boolean> => {
    try {
      return (await answered(store.replace(stored))) || (await isStored(store, stored))
    } catch (error) {
      const isOurs = await isStored(store, stored).catch(() => false)
      // It may still be done, and then its runner has to know.
      if (!isOurs && wakeAt !== null) await onDue(stored.id, wakeAt)
      if (!isOurs) throw error
      return true
    }
  }
  const { maxStateBytes } = store
  const roomBytes = Math.min(ROOM_BYTES, Math.floor(maxStateBytes * MAX_ROOM_SHARE))

  return {
    clock,
    read,
    async due(now, limit) {
      const perOwner = Math.max(1, Math.ceil(limit * OWNER_SHARE))
      const offsetMs = await clock.sync()
      return answered(store.due(now + offsetMs, limit, { server: server(), perOwner }))
    },
    async dueElsewhere(now) {
      const [id] = await answered(store.due(now + (await clock.sync()), 1))
      const stored = id === undefined ? undefined : await answered(store.read(id))
      return stored?.server === server() ? undefined : stored?.server
    },
    async create(record, dueAt, { owner, maxOpen }, waitUntil) {
      const id = createTaskId()
      const kept = withLifetime(record, dueAt, Date.now())
      const task = { id, owner: await digest(owner), server: server(), version: 1, dueAt, record: kept }
      const offsetMs = await clock.sync()
      const stored = toStored(toStoreTime(task, offsetMs), maxStateBytes - roomBytes)
      const created = await createOnce(store, stored, maxOpen).catch((error: unknown) => {
        waitUntil(cancelUnknown(store, stored))
        throw error
      })
      if (created === undefined) return undefined
      if (dueAt !== null && stored.dueAt !== null) await onDue(id, dueAt)
      return created === stored ? task : toOwnTime(toTask(created), offsetMs)
    },
    async change(id, change, known) {
      let task = known ?? (await read(id))
      for (let attempt = 0; task !== undefined && attempt < MAX_ATTEMPTS; attempt++) {
        const changed = change(task)
        if (changed === undefined) return task
        const now = Date.now()
        const writeId = crypto.randomUUID().slice(0, 8)
        const record = { ...withLifetime(changed.record, changed.dueAt, now), updatedAt: now, writeId }
        const next = { ...task, version: task.version + 1, dueAt: changed.dueAt, record }
        const usesRoom = changed.isBookkeeping === true || isEnded(record)
        const maxBytes = maxStateBytes - (usesRoom ? 0 : roomBytes)
        const stored = toStored(toStoreTime(next, await clock.sync()), maxBytes)
        if (await replaced(stored, changed.isQuiet || stored.dueAt === null ? null : next.dueAt)) {
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
    async createKnown(task) {
      const stored = toStored(
        toStoreTime(task, await clock.sync()),
        maxStateBytes - Math.floor(roomBytes / 2),
      )
      await createOnce(store, stored, Number.MAX_SAFE_INTEGER)
      if (task.dueAt !== null) await onDue(task.id, task.dueAt)
    },
    list:
      store.list &&
      (async (options) => {
        await clock.sync()
        return answered(store.list!({ ...options, server: server() }))
      }),
    toTask: (stored) => toOwnTime(toTask(stored), clock.offsetMs),
    async putOff(id) {
      const offsetMs = await clock.sync()
      const now = Date.now()
      const stored = await answered(store.read(id))
      if (stored === undefined || !stored.isOpen || stored.dueAt === null || stored.dueAt > now + offsetMs)
        return
      const later = { ...stored, version: stored.version + 1, dueAt: now + UNREADABLE_MS + offsetMs }
      if (await answered(store.replace(later))) await onDue(id, now + UNREADABLE_MS)
    },
  }
}

/** Unguessable. */
export function createTaskId(): string {
  return randomBase64Url(ID_BYTES)
}

/** @throws UnreadableTaskError */
function toTask({ id, owner, server, version, dueAt, state }: StoredTask): Task {
  return { id, owner, server, version, dueAt, record: toRecord(id, state) }
}

/** @throws UnreadableTaskError */
function toRecord(id: string, state: string): TaskRecord {
  let format = 1
  try {
    const record = JSON.parse(state) as TaskRecord
    format = record.format ?? 1
    if (format === RECORD_FORMAT && typeof record.tool === 'string' && typeof record.journal === 'object')
      return record
  } catch {
    // Reported below.
  }
  if (format > RECORD_FORMAT)
    throw new UnreadableTaskError(
      `A newer version of mayfly-mcp wrote the stored task "${id}" (format ${format}): this one leaves it alone until that version runs it, or it expires.`,
    )
  throw new UnreadableTaskError(
    `The stored task "${id}" cannot be read: it is damaged, or a newer version wrote it. It stays in the store until it expires.`,
  )
}

/** Whether clients see a difference. */
function isSeen(before: TaskRecord, after: TaskRecord): boolean {
  const seen = ({ status, statusMessage, questions }: TaskRecord): string =>
    [status, statusMessage, ...Object.keys(questions)].join()
  return seen(before) !== seen(after)
}

export function expiryOf({ isUnconfirmed, ttlMs, createdAt, updatedAt }: TaskRecord): number | null {
  if (isUnconfirmed) return updatedAt + UNCONFIRMED_MS
  return ttlMs === null ? null : createdAt + ttlMs
}

/** @throws TaskTooLargeError */
function toStored({ id, owner, server, version, dueAt, record }: Task, maxStateBytes: number): StoredTask {
  const isOpen = !isEnded(record)
  let state = JSON.stringify(record)
  let bytes = bytesOver(state, maxStateBytes)
  if (bytes !== undefined && isOpen && record.statusMessage !== undefined) {
    // Progress is worth less than what it would displace.
    state = JSON.stringify({ ...record, statusMessage: undefined })
    bytes = bytesOver(state, maxStateBytes)
  }
  // With room for the id of the task that tries it again.
  const spare = record.isWhole && record.retriedAs === undefined ? SPARE_BYTES : 0
  if (record.isWhole && bytesOver(state, maxStateBytes - spare) !== undefined) {
    state = JSON.stringify(withoutRun(record))
    bytes = bytesOver(state, maxStateBytes)
  }
  if (bytes !== undefined) throw new TaskTooLargeError(bytes, maxStateBytes)
  return {
    id,
    owner,
    server,
    version,
    isOpen,
    dueAt: isOpen ? dueAt : null,
    expiresAt: expiryOf(record),
    state,
  }
}
