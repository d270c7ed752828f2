/**
 * SDK v2 turns schemas into JSON Schema for each server anew, and behind `fromSdk` each request has a new server. What a schema
 * becomes is remembered with it, so that schemas which are made once are turned once.
 */

type Convert = (options: { readonly target?: unknown }) => unknown

/** What is used of a Standard JSON Schema (`~standard.jsonSchema`, standard-schema 1.1). */
interface Converter {
  input: Convert
  output: Convert
}

const remembered = new WeakSet<object>()

/** Takes whatever a factory has made; what is no server of SDK v2, or has other schemas, is left as it is. */
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
    // What some library has in another way is left as it is.
    if (writable === true && typeof value === 'function')
      converter[direction] = once((options) => Reflect.apply(value, converter, [options]))
  }
}

/** For each target. The result is frozen: requests share it. */
function once(convert: Convert): Convert {
  const results = new Map<unknown, unknown>()
  return (options) => {
    // Other options than the target are another library's: each may mean another result.
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
