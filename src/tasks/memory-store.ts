/** Tasks in the memory of one process: for development, tests, and servers that may lose tasks when the process ends. */
import type { StoredTask, TaskStore } from './store.ts'
import { checkTask, createDuplicateError, isExpired, isTaskId } from './stored.ts'

/** Bytes of one task. */
const MAX_STATE_BYTES = 1_000_000

/** Expired tasks are removed after this many were created, or after as many as exist. */
const SWEEP_EVERY = 100

/** Creates a store within one process. Its tasks end with the process. */
export function createMemoryTaskStore(): TaskStore {
  const tasks = new Map<string, StoredTask>()
  const openOf = new Map<string, Set<string>>()
  /** Open tasks with a due time. */
  const timed = new Map<string, StoredTask>()
  let untilSweep = SWEEP_EVERY

  const put = (task: StoredTask): void => {
    const { id, owner, isOpen, dueAt } = task
    tasks.set(id, task)
    const open = openOf.get(owner) ?? new Set()
    if (isOpen) openOf.set(owner, open.add(id))
    else remove(open, id, owner)
    if (isOpen && dueAt !== null) timed.set(id, task)
    else timed.delete(id)
  }

  const remove = (open: Set<string>, id: string, owner: string): void => {
    if (open.delete(id) && open.size === 0) openOf.delete(owner)
  }

  const live = (id: string): StoredTask | undefined => {
    const task = tasks.get(id)
    if (task === undefined || !isExpired(task, Date.now())) return task
    tasks.delete(id)
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
    async due(now, limit) {
      return [...timed.values()]
        .filter((task) => task.dueAt! <= now && !isExpired(task, now))
        .sort((one, other) => one.dueAt! - other.dueAt!)
        .slice(0, limit)
        .map(({ id }) => id)
    },
  }
}
