/** What a store of tasks asks its Durable Objects, and what they answer. `now` is the time of who asks. */
import type { StoredTask } from '../../src/tasks/store.ts'
import type { Slot, Taken } from '../_tasks/slots.ts'

export type Order =
  /** Of the object of a task. */
  | { readonly do: 'create' | 'replace'; readonly task: StoredTask; readonly now: number }
  | { readonly do: 'read'; readonly now: number }
  /** Of the object of an owner. */
  | { readonly do: 'take'; readonly task: SlotOf; readonly maxOpen: number; readonly now: number }
  | { readonly do: 'keep'; readonly task: SlotOf; readonly now: number }
  | { readonly do: 'free'; readonly ids: readonly string[] }

export type SlotOf = Pick<StoredTask, 'id' | 'expiresAt'>

export interface Answers {
  readonly create: { readonly isDone: boolean }
  /** With what was kept before. */
  readonly replace: { readonly isDone: boolean; readonly before?: Slot }
  readonly read: { readonly task?: StoredTask }
  readonly take: Taken
  readonly keep: { readonly isDone: boolean }
  readonly free: { readonly isDone: boolean }
}
