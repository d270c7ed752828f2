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

/** The file cannot be changed without a risk to what is in it. The message goes on after its path: `is not JSON (line 3)`. */
export class UnreadableError extends Error {
  override name = 'UnreadableError'
}
