/**
 * SDK v2 converts schemas to JSON Schema for each server, and behind `fromSdk` each request has a new server. The result is cached with the
 * schema, so that a schema that is created once is converted once.
 */

type Convert = (options: { readonly target?: unknown }) => unknown

/** The part of a Standard JSON Schema that is used here (`~standard.jsonSchema`, standard-schema 1.1). */
interface Converter {
  input: Convert
  output: Convert
}

const remembered = new WeakSet<object>()

/** Accepts any value of a factory; leaves everything unchanged that is not a server of SDK v2 with such schemas. */
export function rememberSchemas(server: object): void {
  const { _registeredTools: tools } = server as { readonly _registeredTools?: unknown }
  if (typeof tools !== 'object' || tools === null) return
  for (const tool of Object.values(tools) as { inputSchema?: unknown; outputSchema?: unknown }[]) {
    rememberSchema(tool.inputSchema)
    rememberSchema(tool.outputSchema)
  }
}

function rememberSchema(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null || remembered.has(schema)) return
  remembered.add(schema)
  const converter = (schema as { '~standard'?: { jsonSchema?: Converter } })['~standard']?.jsonSchema
  if (converter === undefined) return
  for (const direction of ['input', 'output'] as const) {
    const { value, writable } = Object.getOwnPropertyDescriptor(converter, direction) ?? {}
    // Left unchanged if a library defines it differently.
    if (writable === true && typeof value === 'function')
      converter[direction] = once((options) => Reflect.apply(value, converter, [options]))
  }
}

/** Caches the result per target. It is frozen, since requests share it. */
function once(convert: Convert): Convert {
  const results = new Map<unknown, unknown>()
  return (options) => {
    // Options other than the target are specific to a library and may change the result: not cached.
    const { target, ...others } = options
    if (Object.values(others).some((value) => value !== undefined)) return convert(options)
    if (!results.has(target)) results.set(target, deepFrozen(convert(options)))
    return results.get(target)
  }
}

function deepFrozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(deepFrozen)
  return Object.freeze(value)
}
