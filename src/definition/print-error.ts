/** Prints errors for the operator. `console.error` itself throws for some values: in a `catch`, that ends the process. */
import { cut, memberOf, stackOf, textOf } from './error-text.ts'
import { toJsonLine } from './json-line.ts'

/** Limited, since an error message may quote what a client sent. */
const MAX_MESSAGE_CHARACTERS = 1000
const MAX_STACK_CHARACTERS = 4000

/**
 * Prints anything that was thrown as one line of JSON: its message, the message of its cause, and its stack. Never throws.
 *
 * @param facts More members of the line.
 */
export function printError(error: unknown, facts: object = {}): void {
  const text = textOf(error)
  const message = cut(text, MAX_MESSAGE_CHARACTERS)
  // A stack begins with the message; a long one would leave no room for the frames.
  const stack = stackOf(error)?.replace(text, () => message)
  const cause = memberOf(error, 'cause')
  printLine({
    ...facts,
    message,
    ...(cause !== undefined && { cause: cut(textOf(cause), MAX_MESSAGE_CHARACTERS) }),
    ...(stack !== undefined && { stack: cut(stack, MAX_STACK_CHARACTERS) }),
  })
}

/** The same without cause and stack, for an error that says where it comes from. @param what Precedes the message. */
export function printFault(what: string, error: unknown): void {
  printLine({ message: `${what}: ${cut(textOf(error), MAX_MESSAGE_CHARACTERS)}` })
}

/** Reports what a tool or a middleware threw. A `UserError` is expected: one line of level `info` with its message alone. */
export function reportThrown<Facts extends object>(
  error: unknown,
  facts: Facts,
  reportError: (error: unknown, facts: Facts) => void,
): void {
  if (memberOf(error, 'name') !== 'UserError') reportError(error, facts)
  else printLine({ ...facts, message: cut(textOf(error), MAX_MESSAGE_CHARACTERS) }, 'info')
}

function printLine(members: object, level = 'error'): void {
  console.error(toJsonLine({ level, time: new Date().toISOString(), ...members }))
}
