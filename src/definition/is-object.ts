/** A JSON object with members of any type. */
export type JsonObject = { readonly [name: string]: unknown }

/** Whether a value is an object as in JSON: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether an object is of no class, so that its own members are all that it has. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Objects of another realm have a prototype of their own.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
