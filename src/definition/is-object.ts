/** A JSON object with members of any type. */
export type JsonObject = { readonly [name: string]: unknown }

/** Whether a value is an object as in JSON: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
