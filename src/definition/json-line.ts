/** JSON for a console, which may be a terminal. */
import { escapeUnprintable } from './unprintable.ts'

/** The value as one line of JSON, with unprintable characters escaped. Parsing returns the same value. */
export function toJsonLine(value: object): string {
  return escapeUnprintable(JSON.stringify(value))
}

/** Prints a line of the log for the operator. */
export function warn(message: string): void {
  console.warn(toJsonLine({ level: 'warn', message }))
}
