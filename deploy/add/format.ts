/** What `mayfly add` needs of a file's format. */
import type { Addition } from './clients.ts'

export interface Format {
  /** The entry called `name` under `key`, as plain data; undefined for none. Throws `UnreadableError`. */
  read(text: string, key: string, name: string): unknown
  /** `text` with the entry added or replaced, and everything else in it as it was. Throws `UnreadableError`. */
  write(text: string, name: string, addition: Addition): string
  /** A file that holds nothing else. */
  render(name: string, addition: Addition): string
}

/** Whether the file holds this entry, also where its form knows numbers (BigInt) that JSON does not. */
export function isEntry(present: unknown, entry: object): boolean {
  const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
  return JSON.stringify(present, plain) === JSON.stringify(entry)
}

/** The file cannot be changed without a risk to what is in it. The message goes on after its path: `is not JSON (line 3)`. */
export class UnreadableError extends Error {
  override name = 'UnreadableError'
}
