/** Values of tasks as an operator sees them: cut, with their size. */
import { cut } from '../../definition/error-text.ts'
import { utf8Length } from '../../definition/utf8.ts'

/** Characters of one value. */
const MAX_CHARACTERS = 4000

/** Characters of a name or a message. */
const MAX_TEXT = 300

export interface ShownValue {
  /** JSON, whole or its first 4000 characters. Undefined if there is no value. */
  readonly json?: string
  /** Of the whole value, in UTF-8. */
  readonly bytes: number
  readonly isCut?: true
}

export interface ShownError {
  readonly name?: string
  readonly message: string
  readonly code?: string | number
}

export function shown(value: unknown): ShownValue {
  const json = JSON.stringify(value)
  if (json === undefined) return { bytes: 0 }
  const bytes = utf8Length(json)
  return json.length <= MAX_CHARACTERS
    ? { json, bytes }
    : { json: json.slice(0, MAX_CHARACTERS), bytes, isCut: true }
}

export function shownText(text: unknown, characters = MAX_TEXT): string {
  return cut(String(text), characters)
}

/** An error of a task, or one that a step threw. */
export function shownError(error: {
  readonly name?: string | undefined
  readonly message?: string
  readonly code?: string | number | undefined
  readonly value?: unknown
}): ShownError {
  const { name, message = `thrown: ${JSON.stringify(error.value)}`, code } = error
  return {
    ...(name !== undefined && { name: shownText(name) }),
    message: shownText(message, MAX_CHARACTERS),
    ...(code !== undefined && { code: typeof code === 'number' ? code : shownText(code) }),
  }
}

/** ISO 8601; null for none, and for what no `Date` can hold. */
export function shownTime(ms: number | null | undefined): string | null {
  const date = new Date(ms ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
