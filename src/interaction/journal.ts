/** The journal: the state of a call between rounds. */
import type { StoredError } from './step-error.ts'

/** The state that later rounds need. Everything in it is JSON. */
export interface Journal {
  /** By question key. */
  readonly answers: { readonly [key: string]: unknown }
  /** By step name: `[value]`, or `[]` for undefined. */
  readonly steps: { readonly [name: string]: readonly unknown[] }
  /** By step name: the errors that reached the tool, one for each time that it called the step. */
  readonly errors?: { readonly [name: string]: readonly StoredError[] } | undefined
  /** By step name: the number of failed attempts, and when the next one begins, in milliseconds since the epoch. */
  readonly retries?: { readonly [name: string]: readonly [count: number, at: number] } | undefined
  /** The order in which results reached the tool: `step <name>`, `answer <key>`, `sleep <name>`, `event <name>`. */
  readonly order?: readonly string[] | undefined
  /** By question key: the number of invalid answers, and why the last one was invalid. */
  readonly refusals: { readonly [key: string]: readonly [count: number, reason: string] }
  /** By question key: answers to questions that the current run has not asked yet. */
  readonly unread: { readonly [key: string]: unknown }
  /** The state of a tool that returns its questions, which it gets back with the answers. */
  readonly state?: string | undefined
}

export const EMPTY_JOURNAL: Journal = Object.freeze({ answers: {}, steps: {}, refusals: {}, unread: {} })
