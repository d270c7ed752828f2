/**
 * What a run is given, and how it ends for the call that it was.
 */
import type { Ending } from '../interaction/ending.ts'
import type { MethodResult } from '../request/result.ts'
import type { Pause } from './changes.ts'
import type { Task, TaskRecord } from './record.ts'
import type { WriterOptions } from './writer.ts'

export interface RunOptions extends WriterOptions {
  /** The same in every run of a call: the keys of its steps are made of it. */
  readonly seed: string
  /** What was answered before this run, by key. */
  readonly answers: { readonly [key: string]: unknown }
  /** When the run must be over, in milliseconds since the epoch. */
  readonly deadline: number
  /** Called for progress before the call is a task. */
  readonly onProgress: (params: Record<string, unknown>) => void
  /** Makes a task of the call. Undefined if its caller has too many; then the call goes on. */
  readonly create: (start: TaskStart, pause?: Pause) => Promise<Task | undefined>
  /** Sleeps are waited for inside the call, until it is a task. */
  readonly waitsInside: boolean
  /** A question makes a task of the call, since its client cannot be asked otherwise. */
  readonly asksAsTask: boolean
  /** Aborts the tool's `ctx.signal`. */
  readonly abort: (reason: () => unknown) => void
}

/** The part of a new task that its run knows. */
export type TaskStart = Pick<TaskRecord, 'journal' | 'run' | 'returned'>

/** How a run ended, for the call that it was. `task` comes when the call becomes one, and its run may go on. */
export type Outcome =
  | { readonly kind: 'result'; readonly result: MethodResult }
  | { readonly kind: 'asked'; readonly ending: Ending & { readonly kind: 'inputRequired' } }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'task'; readonly task: Task }
