/**
 * Checks results against the `outputSchema` of their server (MCP 2026-07-28, "Output Schema"), as far as that is cheap. The schema is
 * untrusted: its patterns, formats and references are not evaluated, since one of them can block a process. What is not checked is
 * accepted.
 */

import type { JsonSchemaType, jsonSchemaValidator } from '@modelcontextprotocol/client'
import { isObject } from '../definition/is-object.ts'

/** Maximum comparisons; after that, the rest is accepted. */
const MAX_STEPS = 200_000
const MAX_DEPTH = 64

type Json = { readonly [name: string]: unknown }

interface Budget {
  steps: number
}

/** A value and its path. */
interface Place {
  readonly value: unknown
  readonly path: string
  readonly depth: number
}

/** For the official client, whose own validator would evaluate everything. */
export const outputValidator: jsonSchemaValidator = {
  getValidator:
    <Value>(schema: JsonSchemaType) =>
    (input: unknown) => {
      const fault = findOutputFault(schema, input)
      return fault === undefined
        ? { valid: true, data: input as Value, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: fault }
    },
}

/** A description of the first certain error in `structuredContent`, with its path. Undefined if none is certain. */
export function findOutputFault(schema: unknown, structuredContent: unknown): string | undefined {
  const place = { value: structuredContent, path: 'structuredContent', depth: 0 }
  return findFault(schema, place, { steps: MAX_STEPS })
}

/** A description of a certain error in the value. */
function findFault(schema: unknown, place: Place, budget: Budget): string | undefined {
  if (!mayGoOn(budget, 1) || place.depth > MAX_DEPTH || !isObject(schema) || '$ref' in schema)
    return undefined
  const { value } = place
  return (
    findOfAny(schema, place, budget) ??
    (typeof value === 'string' ? findOfText(schema, value, place) : undefined) ??
    (typeof value === 'number' ? findOfNumber(schema, value, place) : undefined) ??
    (Array.isArray(value) ? findOfList(schema, value, place, budget) : undefined) ??
    (isObject(value) ? findOfObject(schema, value, place, budget) : undefined) ??
    findOfBranches(schema, place, budget)
  )
}

function mayGoOn(budget: Budget, steps: number): boolean {
  budget.steps -= steps
  return budget.steps >= 0
}

const TYPES: { readonly [type: string]: (value: unknown) => boolean } = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  array: Array.isArray,
  object: isObject,
}

/** None if the list has more entries than types exist: it has duplicates or invalid ones, and would be read for each value. */
function typesOf(type: unknown): string[] {
  const names: readonly unknown[] = Array.isArray(type) ? type : [type]
  if (names.length > Object.keys(TYPES).length) return []
  return names.filter((name) => typeof name === 'string' && Object.hasOwn(TYPES, name)) as string[]
}

function findOfAny(
  { type, enum: values, const: only }: Json,
  place: Place,
  budget: Budget,
): string | undefined {
  const { value, path } = place
  const types = typesOf(type)
  if (types.length > 0 && !types.some((one) => TYPES[one]?.(value)))
    return `${path} must be ${types.join(' or ')}`
  // Objects are not compared, since that could take long.
  if (isPrimitive(only) && only !== undefined && only !== value)
    return `${path} must be ${JSON.stringify(only)}`
  if (!Array.isArray(values) || !mayGoOn(budget, values.length) || !values.every(isPrimitive))
    return undefined
  return values.includes(value) ? undefined : `${path} must be one of its values`
}

/** Lengths count code points; a JavaScript string may have two units for one. */
function findOfText({ minLength, maxLength }: Json, value: string, { path }: Place): string | undefined {
  if (typeof minLength === 'number' && value.length < minLength) return `${path} is too short`
  if (typeof maxLength === 'number' && value.length > 2 * maxLength) return `${path} is too long`
  return undefined
}

function findOfNumber(schema: Json, value: number, { path }: Place): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  if (typeof minimum === 'number' && value < minimum) return `${path} must be at least ${minimum}`
  if (typeof maximum === 'number' && value > maximum) return `${path} must be at most ${maximum}`
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
    return `${path} must be more than ${exclusiveMinimum}`
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
    return `${path} must be less than ${exclusiveMaximum}`
  return undefined
}

function findOfList(
  schema: Json,
  value: readonly unknown[],
  place: Place,
  budget: Budget,
): string | undefined {
  const { minItems, maxItems, prefixItems, items } = schema
  if (typeof minItems === 'number' && value.length < minItems) return `${place.path} has too few items`
  if (typeof maxItems === 'number' && value.length > maxItems) return `${place.path} has too many items`
  const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : []
  for (let index = 0; index < value.length && budget.steps > 0; index++) {
    const fault = findFault(first[index] ?? items, within(place, index, value[index]), budget)
    if (fault !== undefined) return fault
  }
  return undefined
}

function findOfObject(schema: Json, value: Json, place: Place, budget: Budget): string | undefined {
  const { required, properties, additionalProperties } = schema
  if (Array.isArray(required) && mayGoOn(budget, required.length)) {
    const missing: unknown = required.find((name) => !Object.hasOwn(value, name))
    if (missing !== undefined) return `${place.path} must have ${missing}`
  }
  const names = Object.keys(value)
  if (!mayGoOn(budget, names.length)) return undefined
  // A property that matches a pattern is not additional, and patterns are not evaluated.
  const others = 'patternProperties' in schema ? undefined : additionalProperties
  for (const name of names) {
    const isKnown = isObject(properties) && Object.hasOwn(properties, name)
    if (!isKnown && others === false) return `${place.path} must not have ${name}`
    const fault = findFault(isKnown ? properties[name] : others, within(place, name, value[name]), budget)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Ignores `not` and `if`, whose unchecked parts would reverse the outcome, and that `oneOf` allows only one match. */
function findOfBranches({ allOf, anyOf, oneOf }: Json, place: Place, budget: Budget): string | undefined {
  const deeper = { ...place, depth: place.depth + 1 }
  const faultOf = (branch: unknown): string | undefined => findFault(branch, deeper, budget)
  for (const branch of Array.isArray(allOf) ? allOf : []) {
    const fault = faultOf(branch)
    if (fault !== undefined) return fault
  }
  for (const branches of [anyOf, oneOf]) {
    if (!Array.isArray(branches) || branches.length === 0) continue
    if (branches.every((branch) => faultOf(branch) !== undefined))
      return `${place.path} matches none of its schemas`
  }
  return undefined
}

function within({ path, depth }: Place, name: string | number, value: unknown): Place {
  return { value, path: `${path}.${name}`, depth: depth + 1 }
}

function isPrimitive(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}
