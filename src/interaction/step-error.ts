/** Errors that steps threw, as a journal stores them: a step that failed throws the same in every run. */
import { cut, isA, memberOf, stackOf, textOf } from '../definition/error-text.ts'
import { ProtocolError } from '../definition/protocol-error.ts'

/** An error, or `value` for anything else that was thrown. */
export interface StoredError {
  readonly name?: string | undefined
  readonly message?: string
  readonly code?: string | number | undefined
  /** Of a ProtocolError. */
  readonly data?: unknown
  readonly cause?: StoredError | undefined
  readonly value?: unknown
}

const MAX_CHARACTERS = 2000
/** Causes of causes. */
const MAX_CAUSES = 3

const BUILT_IN = /^(?:Eval|Range|Reference|Syntax|Type|URI)Error$/

/** The parts of a thrown value that are stored: never members that may contain a request, a response or a token. */
export function toStoredError(thrown: unknown, causes = MAX_CAUSES): StoredError {
  if (!isA(thrown, Error)) {
    const value = jsonOf(thrown)
    return value === undefined && thrown !== undefined
      ? { name: 'Error', message: cut(textOf(thrown), MAX_CHARACTERS) }
      : { value }
  }
  const code = memberOf(thrown, 'code')
  const cause = causes > 0 ? memberOf(thrown, 'cause') : undefined
  return {
    name: cut(textOf(memberOf(thrown, 'name')), 100),
    message: cut(textOf(thrown), MAX_CHARACTERS),
    code: typeof code === 'string' || Number.isFinite(code) ? (code as string | number) : undefined,
    data: isA(thrown, ProtocolError) ? jsonOf(memberOf(thrown, 'data')) : undefined,
    cause: cause === undefined ? undefined : toStoredError(cause, causes - 1),
  }
}

/** The error to throw. Built-in classes and ProtocolError are kept; any other class becomes `Error` with its name. */
export function fromStoredError({ name = 'Error', message, code, data, cause, value }: StoredError): unknown {
  if (message === undefined) return value
  const options = cause === undefined ? {} : { cause: fromStoredError(cause) }
  if (name === 'ProtocolError' && typeof code === 'number')
    return new ProtocolError(code, message, data, options)
  const Class = (BUILT_IN.test(name) ? Reflect.get(globalThis, name) : Error) as ErrorConstructor
  const error = new Class(message, options)
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true })
  return code === undefined ? error : Object.assign(error, { code })
}

/** The same error, with the stack of the one that was thrown in this run. */
export function withStack(error: unknown, thrown: unknown): unknown {
  const stack = stackOf(thrown)
  if (stack !== undefined && isA(error, Error)) error.stack = stack
  return error
}

function jsonOf(value: unknown): unknown {
  try {
    const text = JSON.stringify(value)
    return text.length > MAX_CHARACTERS ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
