/**
 * The fields of a form, from an untrusted JSON Schema: limited in depth and number of fields, and without running patterns. What a form
 * cannot show becomes a JSON field.
 */
import { asList, asObject, asText, clip, isObject, type Json, textOfJson } from './json.ts'

export type Field = {
  readonly name: string
  readonly title: string
  /** What a value has to be, in words. */
  readonly rules?: string | undefined
  readonly hint?: string | undefined
  readonly isRequired: boolean
  readonly initial?: unknown
} & Kind

export interface Choice {
  readonly value: unknown
  readonly label: string
}

export type Kind =
  | { readonly kind: 'text'; readonly input: 'text' | 'email' | 'url' | 'date' | 'area' | 'password' }
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

/** Characters and members of all defaults of a form; the others are left out. */
const MAX_DEFAULTS = 100_000
/** Characters of a title and of a description. */
const MAX_TITLE = 200
const MAX_DESCRIPTION = 2000

interface Walk {
  readonly root: Json
  fields: number
  defaults: number
}

const SECRET = /"(?:format":"password|writeOnly":true)/

/** Which arguments may hold a password, in them or deeper: those are not stored. All of them, if the schema has one elsewhere. */
export function secretsOf(schema: unknown): (name: string) => boolean {
  const mayHave = (part: unknown): boolean =>
    part !== undefined && SECRET.test(textOfJson(part) ?? '"writeOnly":true')
  if (!mayHave(schema)) return () => false
  const { properties, ...others } = asObject(schema)
  const all = asObject(properties)
  return (name) => mayHave(others) || !Object.hasOwn(all, name) || mayHave(all[name])
}

/** The form for a whole schema. */
export function toField(schema: unknown): Field {
  const root = asObject(schema)
  return fieldOf('', root, true, { root, fields: 0, defaults: MAX_DEFAULTS }, 0)
}

function fieldOf(name: string, given: unknown, isRequired: boolean, walk: Walk, depth: number): Field {
  const { schema, isNullable } = simplify(given, walk.root)
  walk.fields++
  const kind = kindOf(schema, walk, depth)
  return {
    name,
    title: clip(asText(schema.title) ?? (name || 'value'), MAX_TITLE),
    rules: rulesOf(schema, kind, isNullable),
    hint: clip(asText(schema.description) ?? '', MAX_DESCRIPTION) || undefined,
    isRequired,
    ...(schema.default !== undefined && isSmall(schema.default, walk) && { initial: schema.default }),
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

/** Whether a default fits into what is left for all of them. */
function isSmall(value: unknown, walk: Walk): boolean {
  const waiting = [value]
  while (walk.defaults > 0 && waiting.length > 0) {
    const one = waiting.pop()
    walk.defaults -= typeof one === 'string' ? one.length : 1
    if (typeof one !== 'object' || one === null) continue
    for (const name in one) {
      if (waiting.length > walk.defaults) break
      waiting.push(one[name as keyof typeof one])
    }
  }
  return walk.defaults > 0
}

/** Too many properties are edited as JSON: a form without some of them would look complete. */
function objectOf(schema: Json, walk: Walk, depth: number): Kind {
  const given = asObject(schema.properties)
  let count = 0
  for (const _name in given) if (walk.fields + ++count > MAX_FIELDS) return { kind: 'json' }
  const properties = Object.entries(given)
  const required = new Set(asList(schema.required))
  const fields = properties.map(([name, property]) =>
    fieldOf(name, property, required.has(name), walk, depth + 1),
  )
  return { kind: 'object', fields }
}

function choicesOf(schema: Json): readonly Choice[] | undefined {
  const titled = Array.isArray(schema.oneOf) ? schema.oneOf : schema.anyOf
  const isTitled =
    Array.isArray(titled) &&
    titled.length > 0 &&
    titled.length <= MAX_CHOICES &&
    titled.every((one) => isObject(one) && 'const' in one)
  const values: readonly unknown[] | undefined = Array.isArray(schema.enum)
    ? schema.enum
    : 'const' in schema
      ? [schema.const]
      : isTitled
        ? titled.map((one: Json) => one.const)
        : undefined
  if (values === undefined || values.length > MAX_CHOICES) return undefined
  if (values.some((value) => typeof value === 'object' && value !== null)) return undefined
  const names = asList(schema.enumNames)
  return values.map((value, index) => {
    const title = isTitled ? asText(asObject(titled[index]).title) : asText(names[index])
    return { value, label: clip(title ?? String(value), MAX_TITLE) }
  })
}

function inputOf({ format, maxLength }: Json): 'text' | 'email' | 'url' | 'date' | 'area' | 'password' {
  if (format === 'email' || format === 'date' || format === 'password') return format
  if (format === 'uri') return 'url'
  return typeof maxLength === 'number' && maxLength > 200 ? 'area' : 'text'
}

/** Follows references and looks through `X or null` and single members of `allOf`. */
function simplify(given: unknown, root: Json): { schema: Json; isNullable: boolean } {
  let schema = known(asObject(given))
  let isNullable = false
  for (let step = 0; step < MAX_REFERENCES; step++) {
    const { $ref, allOf, anyOf, oneOf, type, ...rest } = schema
    const several = asList(anyOf ?? oneOf)
    const real = several.filter((one) => asObject(one).type !== 'null')
    if (typeof $ref === 'string')
      schema = { ...rest, ...(type !== undefined && { type }), ...known(resolve($ref, root)) }
    else if (asList(allOf).length === 1)
      schema = { ...rest, ...(type !== undefined && { type }), ...known(asObject(asList(allOf)[0])) }
    else if (several.length > real.length && real.length === 1) {
      schema = { ...rest, ...known(asObject(real[0])) }
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

const KEYWORDS = [
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'type', 'properties', 'additionalProperties', 'required', 'items'],
  ...['enum', 'enumNames', 'const', 'title', 'description', 'default'],
]

/** The keywords that a form uses: a schema may have any number of others, which each step would copy. */
function known(schema: Json): Json {
  const kept: { [keyword: string]: unknown } = {}
  for (const keyword of [...KEYWORDS, ...RULES, ...MORE_RULES])
    if (Object.hasOwn(schema, keyword)) kept[keyword] = schema[keyword]
  return kept
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

/** Formats of JSON Schema (2020-12, Validation §7.3) that a person knows by another name. */
const FORMATS: { readonly [format: string]: string } = {
  email: 'an email address',
  uri: 'a URL',
  date: 'a date: YYYY-MM-DD',
  time: 'a time: 09:30:00Z',
  'date-time': 'a date and time: YYYY-MM-DDT09:30:00Z',
  duration: 'a duration: PT1H30M',
  uuid: 'a UUID',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  hostname: 'a host name',
  base64: 'base64',
  password: 'not kept',
}

/** In words. They are shown and not enforced, so that users can see how the server answers to invalid values. */
function rulesOf(schema: Json, { kind }: Kind, isNullable: boolean): string | undefined {
  const { format, pattern, multipleOf, uniqueItems } = schema
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  const named = known ?? (asText(format) && `format ${asText(format)}`)
  const rules = [
    kind === 'json' ? 'JSON' : undefined,
    schema.type === 'integer' ? 'whole number' : undefined,
    range(boundOf(schema.minimum), boundOf(schema.maximum), ''),
    range(boundOf(schema.exclusiveMinimum), undefined, '', 'more than'),
    range(undefined, boundOf(schema.exclusiveMaximum), '', 'less than'),
    boundOf(multipleOf) === undefined ? undefined : `a multiple of ${String(multipleOf)}`,
    // Most libraries write the lengths that a format implies beside it, and its pattern.
    known === undefined
      ? range(boundOf(schema.minLength), boundOf(schema.maxLength), 'character')
      : undefined,
    named,
    known === undefined && typeof pattern === 'string' ? `matches ${pattern}` : undefined,
    range(boundOf(schema.minItems), boundOf(schema.maxItems), 'item'),
    uniqueItems === true ? 'each once' : undefined,
    isNullable ? 'may be null' : undefined,
    defaultOf(schema, kind),
  ]
  const shown = rules.filter((rule) => rule !== undefined).map((rule) => clipRule(rule))
  return shown.length === 0 ? undefined : shown.join(', ')
}

/** Undefined for the widest bounds that a number has, which say nothing: libraries write them for every whole number. */
function boundOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  return Math.abs(value) >= Number.MAX_SAFE_INTEGER ? undefined : value
}

function range(
  least: number | undefined,
  most: number | undefined,
  unit: '' | 'character' | 'item',
  word?: 'more than' | 'less than',
): string | undefined {
  const counted = (count: number): string =>
    unit === '' ? String(count) : `${count} ${count === 1 ? unit : `${unit}s`}`
  // Each value has a length of 0 or more.
  const from = unit !== '' && least === 0 ? undefined : least
  if (from !== undefined && most !== undefined)
    return from === most ? `exactly ${counted(most)}` : `${from} to ${counted(most)}`
  if (from !== undefined) return `${word ?? 'at least'} ${counted(from)}`
  return most === undefined ? undefined : `${word ?? 'at most'} ${counted(most)}`
}

/** Of one value: those of lists and objects are in the form. */
function defaultOf(schema: Json, kind: Kind['kind']): string | undefined {
  const { default: value } = schema
  const isShown = ['string', 'number', 'boolean'].includes(typeof value) && kind !== 'json'
  const text = String(value)
  return isShown && text !== '' && text.length <= 40 ? `default ${text}` : undefined
}

function clipRule(rule: string): string {
  return rule.length <= MAX_RULES ? rule : `${rule.slice(0, MAX_RULES)}…`
}
