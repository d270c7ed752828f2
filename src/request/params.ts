/**
 * Reads request parameters, which are unknown on the wire. Each function throws `-32602` and names the parameter.
 */
import { invalidParams } from '../definition/protocol-error.ts'

export type Params = { readonly [name: string]: unknown }

export function stringParam(params: Params, name: string): string {
  const value = params[name]
  if (typeof value !== 'string') throw invalidParams(`Invalid params: "${name}" must be a string.`)
  return value
}

export function optionalStringParam(params: Params, name: string): string | undefined {
  return params[name] === undefined ? undefined : stringParam(params, name)
}

export function objectParam(params: Params, name: string): Params {
  const value = params[name]
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw invalidParams(`Invalid params: "${name}" must be an object.`)
  }
  return value as Params
}

/** An absent parameter counts as an empty object. */
export function optionalObjectParam(params: Params, name: string): Params {
  const value = params[name]
  if (value === undefined) return {}
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Params)
    : objectParam(params, name)
}

/** A record of strings, such as prompt arguments; an absent one counts as empty. */
export function stringRecordParam(params: Params, name: string): Record<string, string> {
  const record = optionalObjectParam(params, name)
  for (const [key, value] of Object.entries(record)) {
    if (typeof value !== 'string') throw invalidParams(`Invalid params: "${name}.${key}" must be a string.`)
  }
  return record as Record<string, string>
}
