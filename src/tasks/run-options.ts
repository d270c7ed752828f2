/** The input of a run, and how it ends for its call. */
import type { Ending } from '../interaction/ending.ts'
import type { MethodResult } from '../request/method-result.ts'
import type { Pause } from './changes.ts'
import type { Task, TaskRecord } from './record.ts'
import type { WriterOptions } from './writer.ts'

export interface RunOptions extends WriterOptions {
  /** The same in every run of a call: the idempotency keys of its steps are derived from it. */
  readonly seed: string
  /** The answers from before this run, by key. */
  readonly answers: { readonly [key: string]: unknown }
  /** Called for progress before the call is a task. */
  readonly onProgress: (params: Record<string, unknown>) => void
  /** Turns the call into a task. Undefined if its caller has too many; then the call continues. */
  readonly create: (start: TaskStart, pause?: Pause) => Promise<Task | undefined>
  /** Sleeps are awaited inside the call until it is a task. */
  readonly waitsInside: boolean
  /** A question turns the call into a task, since its client cannot be asked otherwise. */
  readonly asksAsTask: boolean
  /** Aborts the tool's `ctx.signal`. */
  readonly abort: (reason: () => unknown) => void
}

/** The part of a new task that its run knows. */
export type TaskStart = Pick<TaskRecord, 'journal' | 'run' | 'returned' | 'isUnconfirmed'>

/** How a run ended for its call. `task`: the call became a task, and its run may continue. */
export type Outcome =
  | { readonly kind: 'result'; readonly result: MethodResult }
  | { readonly kind: 'asked'; readonly ending: Ending & { readonly kind: 'inputRequired' } }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'task'; readonly task: Task }
