/** Validation and expiry that all stores share. */
import { bytesOver } from '../definition/utf8.ts'
import type { StoredTask } from './store.ts'

const ID = /^[\w-]{1,64}$/

/** False for strings that cannot be the id of a task; a store may not even accept them. */
export function isTaskId(id: string): boolean {
  return ID.test(id)
}

/** @throws TypeError for a task that cannot be stored. */
export function checkTask({ id, state }: StoredTask, maxStateBytes: number): void {
  if (!isTaskId(id)) throw new TypeError('The id of a task must be 1 to 64 letters, digits, "-" and "_".')
  const bytes = bytesOver(state, maxStateBytes)
  if (bytes !== undefined)
    throw new TypeError(
      `The task's state has ${bytes} bytes, but this store allows at most ${maxStateBytes}: return less from its steps.`,
    )
}

/** By the caller's clock, like everything in a store: `dueAt` and `expiresAt` come from such clocks, too. */
export function isExpired({ expiresAt }: Pick<StoredTask, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** False for strings that cannot be the `next` of a page of tasks. */
export function isCursor(text: string): boolean {
  return /^[\w-]{1,4096}$/.test(text)
}

/** The `after` of a list is not of this store. */
export class CursorError extends TypeError {
  override readonly name = 'CursorError'

  constructor() {
    super('"after" must be the "next" of a page of this list.')
  }
}

export function createDuplicateError(): Error {
  return new Error('A task with this id already exists: create unguessable ids, and use each once.')
}
