/** How a mutant is recognised in the next run. */
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')

/** Identifies a mutant even when the lines around it have moved. */
export interface Identity {
  /** Under the root. */
  readonly file: string
  /** The innermost function or method with a name around it; empty at the top level. */
  readonly within: string
  /** The line it starts on, trimmed. */
  readonly line: string
  /** The code that is replaced, on one line; the middle of long code is left out. */
  readonly original: string
  readonly replacement: string
  /** Which of them, where all of the above are the same: the second one is 2. */
  readonly nth?: number
}

export function keyOf({ file, within, line, original, replacement, nth }: Identity): string {
  return JSON.stringify([file, within, line, original, replacement, nth ?? 1])
}
