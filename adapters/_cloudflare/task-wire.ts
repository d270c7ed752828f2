/** The requests of a task store to its Durable Objects, and their answers. `now` is the caller's time. */
import type { StoredTask } from '../../src/tasks/store.ts'
import type { Slot, Taken } from '../_tasks/slots.ts'

/** The header with the object's time, in milliseconds since the epoch. */
export const CLOCK_HEADER = 'x-mayfly-now'

export type Order =
  /** Requests to the object of a task. */
  | { readonly do: 'create' | 'replace'; readonly task: StoredTask; readonly now: number }
  | { readonly do: 'read'; readonly now: number }
  /** Requests to the object of an owner. */
  | { readonly do: 'take'; readonly task: SlotOf; readonly maxOpen: number; readonly now: number }
  | { readonly do: 'keep'; readonly task: SlotOf; readonly now: number }
  | { readonly do: 'free'; readonly ids: readonly string[] }

export type SlotOf = Pick<StoredTask, 'id' | 'expiresAt'>

export interface Answers {
  readonly create: { readonly isDone: boolean }
  /** The answer, with the previously stored value. */
  readonly replace: { readonly isDone: boolean; readonly before?: Slot }
  readonly read: { readonly task?: StoredTask }
  readonly take: Taken
  readonly keep: { readonly isDone: boolean }
  readonly free: { readonly isDone: boolean }
}
