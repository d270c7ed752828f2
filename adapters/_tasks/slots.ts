/**
 * The limit of an owner's open tasks, for stores whose operations reach only one object or item. A task has a slot, which is taken before
 * the task is created and freed when it has ended. Slots left behind by a dead process are found when the limit is reached.
 */
import type { StoredTask } from '../../src/tasks/store.ts'
import { createDuplicateError } from '../../src/tasks/stored.ts'

/** Milliseconds after which a slot without its task is abandoned. */
export const SUSPECT_AFTER_MS = 60_000

/** Slots that are checked when none is free. They are chosen at random, so that each gets its turn. */
export const SUSPECTS = 10

/** The slots of an owner. */
export interface Slots {
  take(task: StoredTask, maxOpen: number): Promise<Taken>
  /** The slot expires with the task, whose expiry changed. */
  keep(task: StoredTask): Promise<unknown>
  free(owner: string, ids: readonly string[]): Promise<unknown>
}

export type Taken =
  /** `isNew`: it was not taken before. */
  | { readonly isTaken: true; readonly isNew: boolean }
  /** At most `SUSPECTS` ids of tasks that took their slots over `SUSPECT_AFTER_MS` ago. */
  | { readonly isTaken: false; readonly suspects: readonly string[] }

/** The task's properties that a slot depends on. */
export type Slot = Pick<StoredTask, 'isOpen' | 'expiresAt'>

/**
 * Creates a task within the limit. Without a limit (`Infinity`), it takes no slot.
 *
 * @param create Resolves with false if the id exists.
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

/** After a task was replaced. The write is valid even if the slot cannot be updated. */
export async function updateSlot(before: Slot, task: StoredTask, slots: Slots): Promise<void> {
  try {
    if (before.isOpen && !task.isOpen) await slots.free(task.owner, [task.id])
    else if (task.isOpen && (!before.isOpen || before.expiresAt !== task.expiresAt)) await slots.keep(task)
  } catch {
    // Found at the limit.
  }
}
