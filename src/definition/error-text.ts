/**
 * What a thrown value says. User code can throw anything: a revoked Proxy, an object whose getters throw, a symbol. Even `instanceof`
 * throws for some of them, and in a `catch` that ends the process. So only these functions look at thrown values.
 */

/** Whether it is an instance of the class. */
export function isA<Type>(thrown: unknown, type: abstract new (...given: never[]) => Type): thrown is Type {
  try {
    return thrown instanceof type
  } catch {
    return false
  }
}

/** A member; undefined if there is none, or if it cannot be read. */
export function memberOf(thrown: unknown, name: string): unknown {
  try {
    return (thrown as { readonly [name: string]: unknown } | null | undefined)?.[name]
  } catch {
    return undefined
  }
}

/** The text of any thrown value. Some values have no text: an object without a prototype, or with a `toString` that throws. */
export function textOf(thrown: unknown): string {
  try {
    const text: unknown = thrown instanceof Error ? thrown.message : thrown
    return String(text)
  } catch {
    return 'An error without a text.'
  }
}

/** The stack, if it exists and can be read. */
export function stackOf(thrown: unknown): string | undefined {
  const stack = isA(thrown, Error) ? memberOf(thrown, 'stack') : undefined
  return typeof stack === 'string' ? stack : undefined
}

/** The thrown value for code that reads and prints it, such as the error handler of an app; an `Error` instead if that would throw. */
export function toReadable(thrown: unknown): unknown {
  const cause = memberOf(thrown, 'cause')
  const isReadable =
    isA(thrown, Error) &&
    typeof memberOf(thrown, 'message') === 'string' &&
    stackOf(thrown) !== undefined &&
    (Object(cause) !== cause || isA(cause, Object))
  return isReadable ? thrown : new Error(textOf(thrown))
}

/** Shortens a text, so that callers cannot fill a log. */
export function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}…`
}
