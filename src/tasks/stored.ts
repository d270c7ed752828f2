/** What every store refuses, and forgets, in the same way. */
import type { StoredTask } from './store.ts'

const ID = /^[\w-]{1,64}$/

const encoder = new TextEncoder()

/** Bytes of UTF-8 that a UTF-16 code unit takes at most. */
const MAX_BYTES_A_UNIT = 3

/** False for what cannot be the id of a task: a store need not be asked for it, and may not be able to. */
export function isTaskId(id: string): boolean {
  return ID.test(id)
}

export function utf8Length(text: string): number {
  return encoder.encode(text).length
}

/** The bytes of a state that is too large; undefined for one that fits. Most are short enough that they need not be encoded. */
export function bytesOver(state: string, maxStateBytes: number): number | undefined {
  if (state.length * MAX_BYTES_A_UNIT <= maxStateBytes) return undefined
  const bytes = utf8Length(state)
  return bytes > maxStateBytes ? bytes : undefined
}

/** @throws TypeError for a task that cannot be kept. */
export function checkTask({ id, state }: StoredTask, maxStateBytes: number): void {
  if (!isTaskId(id)) throw new TypeError('The id of a task must be 1 to 64 letters, digits, "-" and "_".')
  const bytes = bytesOver(state, maxStateBytes)
  if (bytes !== undefined)
    throw new TypeError(
      `The task's state has ${bytes} bytes, and this store keeps at most ${maxStateBytes}: return less from its steps.`,
    )
}

/** By the clock of the caller, as everything in a store: `dueAt` and `expiresAt` come from such clocks, too. */
export function isExpired({ expiresAt }: Pick<StoredTask, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

export function createDuplicateError(): Error {
  return new Error('A task with this id exists already: create ids that nobody can guess, and use each once.')
}
