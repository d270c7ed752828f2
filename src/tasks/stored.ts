/** Validation and expiry that all stores share. */
import type { StoredTask } from './store.ts'

const ID = /^[\w-]{1,64}$/

const encoder = new TextEncoder()

/** Maximum UTF-8 bytes of a UTF-16 code unit. */
const MAX_BYTES_A_UNIT = 3

/** False for strings that cannot be the id of a task; a store may not even accept them. */
export function isTaskId(id: string): boolean {
  return ID.test(id)
}

export function utf8Length(text: string): number {
  return encoder.encode(text).length
}

/** The bytes of a state that is too large; undefined if it fits. Most states are short enough to skip the encoding. */
export function bytesOver(state: string, maxStateBytes: number): number | undefined {
  if (state.length * MAX_BYTES_A_UNIT <= maxStateBytes) return undefined
  const bytes = utf8Length(state)
  return bytes > maxStateBytes ? bytes : undefined
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

export function createDuplicateError(): Error {
  return new Error('A task with this id already exists: create unguessable ids, and use each once.')
}
