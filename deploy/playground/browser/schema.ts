/**
 * The fields of a form, from an untrusted JSON Schema: limited in depth and number of fields, and without running patterns. What a form
 * cannot show becomes a JSON field.
 */
import { asList, asObject, asText, isObject, type Json, pretty } from './json.ts'

export type Field = {
  readonly name: string
  readonly title: string
  readonly hint?: string | undefined
  readonly isRequired: boolean
  readonly initial?: unknown
} & Kind

export interface Choice {
  readonly value: unknown
  readonly label: string
}

export type Kind =
  | { readonly kind: 'text'; readonly input: 'text' | 'email' | 'url' | 'date' | 'area' }
  | { readonly kind: 'number' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly choices: readonly Choice[] }
  | { readonly kind: 'several'; readonly choices: readonly Choice[] }
  | { readonly kind: 'object'; readonly fields: readonly Field[] }
  | { readonly kind: 'array'; readonly item: Field }
  | { readonly kind: 'json' }

const MAX_DEPTH = 6
const MAX_FIELDS = 300
const MAX_CHOICES = 300
const MAX_REFERENCES = 16
/** Characters of the rules of one field. */
const MAX_RULES = 300

interface Walk {
  readonly root: Json
  fields: number
}

/** The form for a whole schema. */
export function toField(schema: unknown): Field {
  const root = asObject(schema)
  return fieldOf('', root, true, { root, fields: 0 }, 0)
}

function fieldOf(name: string, given: unknown, isRequired: boolean, walk: Walk, depth: number): Field {
  const { schema, isNullable } = simplify(given, walk.root)
  walk.fields++
  const kind = kindOf(schema, walk, depth)
  return {
    name,
    title: asText(schema.title) ?? (name || 'value'),
    hint: hintOf(schema, kind, isNullable),
    isRequired,
    ...('default' in schema && { initial: schema.default }),
    ...kind,
  }
}

function kindOf(schema: Json, walk: Walk, depth: number): Kind {
  if (depth > MAX_DEPTH || walk.fields > MAX_FIELDS) return { kind: 'json' }
  const choices = choicesOf(schema)
  if (choices !== undefined) return { kind: 'choice', choices }
  const type = asText(schema.type) ?? (isObject(schema.properties) ? 'object' : undefined)
  if (type === 'string') return { kind: 'text', input: inputOf(schema) }
  if (type === 'number' || type === 'integer') return { kind: 'number' }
  if (type === 'boolean') return { kind: 'boolean' }
  if (type === 'object' && isObject(schema.properties)) return objectOf(schema, walk, depth)
  if (type === 'object' && depth === 0 && schema.additionalProperties !== true)
    return { kind: 'object', fields: [] }
  if (type === 'array' && isObject(schema.items)) {
    const several = choicesOf(simplify(schema.items, walk.root).schema)
    if (several !== undefined) return { kind: 'several', choices: several }
    return { kind: 'array', item: fieldOf('item', schema.items, true, walk, depth + 1) }
  }
  return { kind: 'json' }
}

/** Too many properties are edited as JSON: a form without some of them would look complete. */
function objectOf(schema: Json, walk: Walk, depth: number): Kind {
  const properties = Object.entries(asObject(schema.properties))
  if (walk.fields + properties.length > MAX_FIELDS) return { kind: 'json' }
  const required = new Set(asList(schema.required))
  const fields = properties.map(([name, property]) =>
    fieldOf(name, property, required.has(name), walk, depth + 1),
  )
  return { kind: 'object', fields }
}

function choicesOf(schema: Json): readonly Choice[] | undefined {
  const titled = Array.isArray(schema.oneOf) ? schema.oneOf : schema.anyOf
  const isTitled =
    Array.isArray(titled) && titled.length > 0 && titled.every((one) => isObject(one) && 'const' in one)
  const values: readonly unknown[] | undefined = Array.isArray(schema.enum)
    ? schema.enum
    : 'const' in schema
      ? [schema.const]
      : isTitled
        ? titled.map((one: Json) => one.const)
        : undefined
  if (values === undefined || values.length > MAX_CHOICES) return undefined
  const names = asList(schema.enumNames)
  return values.map((value, index) => {
    const title = isTitled ? asText(asObject(titled[index]).title) : asText(names[index])
    return { value, label: title ?? (typeof value === 'string' ? value : pretty(value)) }
  })
}

function inputOf({ format, maxLength }: Json): 'text' | 'email' | 'url' | 'date' | 'area' {
  if (format === 'email' || format === 'date') return format
  if (format === 'uri') return 'url'
  return typeof maxLength === 'number' && maxLength > 200 ? 'area' : 'text'
}

/** Follows references and looks through `X or null` and single members of `allOf`. */
function simplify(given: unknown, root: Json): { schema: Json; isNullable: boolean } {
  let schema = asObject(given)
  let isNullable = false
  for (let step = 0; step < MAX_REFERENCES; step++) {
    const { $ref, allOf, anyOf, oneOf, type, ...rest } = schema
    const several = asList(anyOf ?? oneOf)
    const real = several.filter((one) => asObject(one).type !== 'null')
    if (typeof $ref === 'string')
      schema = { ...rest, ...(type !== undefined && { type }), ...resolve($ref, root) }
    else if (asList(allOf).length === 1)
      schema = { ...rest, ...(type !== undefined && { type }), ...asObject(asList(allOf)[0]) }
    else if (several.length > real.length && real.length === 1) {
      schema = { ...rest, ...asObject(real[0]) }
      isNullable = true
    } else if (Array.isArray(type)) {
      const types = type.filter((one) => one !== 'null')
      isNullable ||= types.length < type.length
      const { type: _types, ...untyped } = schema
      schema = types.length === 1 ? { ...untyped, type: types[0] } : untyped
    } else return { schema, isNullable }
  }
  return { schema: {}, isNullable }
}

/** A JSON Pointer within the same document (RFC 6901); nothing is ever fetched. */
function resolve(reference: string, root: Json): Json {
  if (!reference.startsWith('#/') || reference.length > 1000) return {}
  let at: unknown = root
  for (const part of reference.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isObject(at) || !Object.hasOwn(at, key)) return {}
    at = at[key]
  }
  return asObject(at)
}

const RULES = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
]
const MORE_RULES = ['pattern', 'format', 'minItems', 'maxItems', 'uniqueItems']

/** Rules are shown but not enforced, so that users can see how the server answers to invalid values. */
function hintOf(schema: Json, { kind }: Kind, isNullable: boolean): string | undefined {
  const rules = [...RULES, ...MORE_RULES]
    .filter((rule) => ['string', 'number', 'boolean'].includes(typeof schema[rule]))
    .map((rule) => `${rule} ${String(schema[rule]).slice(0, MAX_RULES)}`)
  const type = asText(schema.type)
  const all = [
    type === 'integer' ? 'a whole number' : undefined,
    isNullable ? 'may be null' : undefined,
    ...rules,
  ]
  const shown = all.filter((rule) => rule !== undefined).join(', ')
  const json = kind === 'json' ? 'JSON' : undefined
  return (
    [asText(schema.description), json, shown || undefined].filter((one) => one !== undefined).join(' · ') ||
    undefined
  )
}
