/**
 * The limit of an owner's open tasks, where no operation reaches more than one object or item: a task has a slot, which is taken before
 * the task is created, and given back when it has ended. What is left behind by a process that dies in between is found at the limit.
 */
import type { StoredTask } from '../../src/tasks/store.ts'
import { createDuplicateError } from '../../src/tasks/stored.ts'

/** Milliseconds after which a slot without its task is no longer one that is just being created. */
export const SUSPECT_AFTER_MS = 60_000

/** Slots that are looked at when there is none to be had. Which ones is left to chance, so that each has its turn. */
export const SUSPECTS = 10

/** The slots of an owner. */
export interface Slots {
  take(task: StoredTask, maxOpen: number): Promise<Taken>
  /** The slot ends with the task, which ends at another time than before. */
  keep(task: StoredTask): Promise<unknown>
  free(owner: string, ids: readonly string[]): Promise<unknown>
}

export type Taken =
  /** `isNew`: not before. */
  | { readonly isTaken: true; readonly isNew: boolean }
  /** At most `SUSPECTS` ids of tasks that took their slots over `SUSPECT_AFTER_MS` ago. */
  | { readonly isTaken: false; readonly suspects: readonly string[] }

/** What a slot depends on. */
export type Slot = Pick<StoredTask, 'isOpen' | 'expiresAt'>

/**
 * Creates a task within the limit. Without one (`Infinity`), it takes no slot.
 *
 * @param create resolves with false if a task has that id.
 */
export async function createInSlot(
  task: StoredTask,
  maxOpen: number,
  slots: Slots,
  create: (task: StoredTask) => Promise<boolean>,
  read: (id: string) => Promise<StoredTask | undefined>,
): Promise<boolean> {
  const take = async (): Promise<Taken> =>
    task.isOpen && maxOpen < Number.POSITIVE_INFINITY
      ? slots.take(task, maxOpen)
      : { isTaken: true, isNew: false }
  const isOver = async (id: string): Promise<boolean> => (await read(id))?.isOpen !== true
  let taken = await take()
  if (!taken.isTaken) {
    const { suspects } = taken
    const over = await Promise.all(suspects.map(isOver))
    const ids = suspects.filter((_, index) => over[index])
    if (ids.length === 0) return false
    await slots.free(task.owner, ids)
    taken = await take()
    if (!taken.isTaken) return false
  }
  if (await create(task)) return true
  if (taken.isNew) await slots.free(task.owner, [task.id])
  throw createDuplicateError()
}

/** After a task was replaced: what was written stands, whatever becomes of its slot. */
export async function updateSlot(before: Slot, task: StoredTask, slots: Slots): Promise<void> {
  try {
    if (before.isOpen && !task.isOpen) await slots.free(task.owner, [task.id])
    else if (task.isOpen && (!before.isOpen || before.expiresAt !== task.expiresAt)) await slots.keep(task)
  } catch {
    // Found at the limit.
  }
}
