/** What `mayfly add` needs from a file format. */
import type { Addition } from './clients.ts'

export interface Format {
  /** The entry called `name` under `key`, as plain data; undefined for none. Throws `UnreadableError`. */
  read(text: string, key: string, name: string): unknown
  /** `text` with the entry added or replaced, and everything else unchanged. Throws `UnreadableError`. */
  write(text: string, name: string, addition: Addition): string
  /** A file that contains only this entry. */
  render(name: string, addition: Addition): string
}

/** Whether the file contains this entry, including in formats with numbers (BigInt) that JSON does not have. */
export function isEntry(present: unknown, entry: object): boolean {
  const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
  return JSON.stringify(present, plain) === JSON.stringify(entry)
}

/** The file cannot be changed without risking its content. The message follows the path: `is not JSON (line 3)`. */
export class UnreadableError extends Error {
  override name = 'UnreadableError'
}
