/** Reads and writes the records of a journal, whose names come from tools and clients. */

/** Copies without a prototype: a step may be named `constructor`. */
export function copy<Value>(record: { readonly [name: string]: Value }): Record<string, Value> {
  return Object.assign(Object.create(null) as Record<string, Value>, record)
}

/** The own member of that name; inherited members are ignored. */
export function own<Value>(record: { readonly [name: string]: Value }, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** A result as JSON would return it. @throws TypeError if it cannot be written as JSON. */
export function toJson(step: string, value: unknown): readonly unknown[] {
  try {
    return JSON.parse(JSON.stringify([value])) as unknown[]
  } catch (cause) {
    throw new TypeError(`The result of step "${step}" is not JSON: return plain values.`, { cause })
  }
}
