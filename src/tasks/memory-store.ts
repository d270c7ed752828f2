/** Tasks in the memory of one process: for development, tests, and servers that may lose tasks when the process ends. */
import { fairPageOf } from './fair-page.ts'
import type { StoredTask, TaskStore } from './store.ts'
import { checkTask, createDuplicateError, isExpired, isTaskId } from './stored.ts'

/** Bytes of one task. */
const MAX_STATE_BYTES = 1_000_000

/** Bytes of a UTF-16 code unit. */
const BYTES_A_UNIT = 2

/** Expired tasks are removed after this many were created, or after as many as exist. */
const SWEEP_EVERY = 100

/** Memory of all ended tasks together, in bytes. The oldest are forgotten first, as if they had expired. */
const MAX_ENDED_BYTES = 64_000_000

/** Creates a store within one process. Its tasks end with the process; ended ones are forgotten beyond 64 MB, the oldest first. */
export function createMemoryTaskStore(): TaskStore {
  const tasks = new Map<string, StoredTask>()
  const openOf = new Map<string, Set<string>>()
  /** Open tasks with a due time. */
  const timed = new Map<string, StoredTask>()
  /** The bytes of ended tasks, the oldest first. */
  const ended = new Map<string, number>()
  let endedBytes = 0
  let untilSweep = SWEEP_EVERY

  const put = (task: StoredTask): void => {
    const { id, owner, isOpen, dueAt, state } = task
    tasks.set(id, task)
    forgetEnded(id)
    if (!isOpen) keepEnded(id, state.length * BYTES_A_UNIT)
    const open = openOf.get(owner) ?? new Set()
    if (isOpen) openOf.set(owner, open.add(id))
    else remove(open, id, owner)
    if (isOpen && dueAt !== null) timed.set(id, task)
    else timed.delete(id)
  }

  const forgetEnded = (id: string): void => {
    endedBytes -= ended.get(id) ?? 0
    ended.delete(id)
  }
  const keepEnded = (id: string, bytes: number): void => {
    ended.set(id, bytes)
    endedBytes += bytes
    for (const oldest of ended.keys()) {
      if (endedBytes <= MAX_ENDED_BYTES) break
      tasks.delete(oldest)
      forgetEnded(oldest)
    }
  }

  const remove = (open: Set<string>, id: string, owner: string): void => {
    if (open.delete(id) && open.size === 0) openOf.delete(owner)
  }

  const live = (id: string): StoredTask | undefined => {
    const task = tasks.get(id)
    if (task === undefined || !isExpired(task, Date.now())) return task
    tasks.delete(id)
    forgetEnded(id)
    timed.delete(id)
    remove(openOf.get(task.owner) ?? new Set(), id, task.owner)
    return undefined
  }

  const sweep = (): void => {
    if (--untilSweep > 0) return
    for (const id of tasks.keys()) live(id)
    untilSweep = Math.max(SWEEP_EVERY, tasks.size)
  }

  /** Checks for expired tasks only at the limit, so that an owner's thousandth task costs as little as the first. */
  const isFull = (owner: string, maxOpen: number): boolean => {
    const open = openOf.get(owner) ?? new Set()
    if (open.size >= maxOpen) for (const id of [...open]) live(id)
    return open.size >= maxOpen
  }

  const dueBy = (now: number, server: string | undefined): StoredTask[] => {
    const isDue = (task: StoredTask): boolean => task.dueAt! <= now && !isExpired(task, now)
    return [...timed.values()].filter((task) => isDue(task) && isOwn(task, server))
  }

  return {
    isLocal: true,
    maxStateBytes: MAX_STATE_BYTES,
    async create(task, maxOpen) {
      checkTask(task, MAX_STATE_BYTES)
      if (live(task.id) !== undefined) throw createDuplicateError()
      sweep()
      if (isFull(task.owner, maxOpen)) return false
      put(task)
      return true
    },
    async read(id) {
      return isTaskId(id) ? live(id) : undefined
    },
    async replace(task) {
      checkTask(task, MAX_STATE_BYTES)
      if (live(task.id)?.version !== task.version - 1) return false
      put(task)
      return true
    },
    async due(now, limit, { server, perOwner = limit } = {}) {
      const due = dueBy(now, server).map(({ id, owner, dueAt }) => ({ id, owner, dueAt: dueAt! }))
      return fairPageOf(due, limit, perOwner)
    },
    async stats(now, { server }) {
      const due = dueBy(now, server)
      const oldestDueAt = due.reduce((first, { dueAt }) => Math.min(first, dueAt!), Number.POSITIVE_INFINITY)
      return { due: due.length, oldestDueAt: due.length === 0 ? null : oldestDueAt }
    },
    async list({ server, after = '', limit }) {
      const ids = [...tasks.keys()].filter((id) => id > after).sort()
      const found = ids.flatMap((id) => live(id) ?? []).filter((task) => isOwn(task, server))
      return { tasks: found.slice(0, limit), ...(found.length > limit && { next: found[limit - 1]!.id }) }
    },
  }
}

function isOwn(task: StoredTask, server: string | undefined): boolean {
  return server === undefined || (task.server ?? server) === server
}
