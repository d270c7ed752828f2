/** Whether a schema that a server sends is valid: JSON Schema 2020-12, or draft-07 where the two differ. */
import { isObject } from '../../src/definition/is-object.ts'
import type { JsonObject } from './messages.ts'
import { cite, quote } from './safe-text.ts'

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']
const MAX_DEPTH = 64
const MAX_SCHEMAS = 5000
/** Longer patterns are not compiled. */
const MAX_PATTERN = 5000

/** The kind of value that a keyword has. */
type Kind =
  | 'schema'
  | 'schemas'
  | 'schema or schemas'
  | 'named schemas'
  | 'schemas by pattern'
  | 'schema or names'
  | 'string'
  | 'names'
  | 'named names'
  | 'array'
  | 'values'
  | 'count'
  | 'number'
  | 'boolean'
  | 'pattern'
  | 'type'

const KEYWORDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries({
    schema:
      'not if then else contains additionalProperties propertyNames unevaluatedProperties unevaluatedItems additionalItems contentSchema',
    schemas: 'prefixItems allOf anyOf oneOf',
    'schema or schemas': 'items',
    'named schemas': 'properties $defs definitions dependentSchemas',
    'schemas by pattern': 'patternProperties',
    'schema or names': 'dependencies',
    string: 'title description format $ref $id $schema $anchor $comment contentEncoding contentMediaType',
    names: 'required',
    'named names': 'dependentRequired',
    array: 'examples',
    values: 'enum',
    count: 'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains',
    number: 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
    boolean: 'uniqueItems deprecated readOnly writeOnly',
    pattern: 'pattern',
    type: 'type',
  } satisfies { [kind in Kind]: string }).flatMap(([kind, names]) =>
    names.split(' ').map((name): [string, Kind] => [name, kind as Kind]),
  ),
)

interface Reference {
  readonly place: string
  readonly to: string
}

/** Its first error, with the path: `properties.a.type is "objekt"`. Undefined if it is valid. */
export function schemaFault(schema: unknown): string | undefined {
  if (!isKnownDialect(schema)) return undefined
  const waiting: { schema: unknown; place: string; depth: number }[] = [{ schema, place: '', depth: 0 }]
  const references: Reference[] = []
  const names = new Set<string>()
  let count = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { schema: current, place, depth } = next
    count += 1
    if (typeof current === 'boolean') continue
    if (!isObject(current)) return `${place || 'it'} is ${nameOf(current)}, not a schema`
    if (depth > MAX_DEPTH) return `it is nested over ${MAX_DEPTH} deep`
    if (count > MAX_SCHEMAS) return `it contains over ${MAX_SCHEMAS} schemas`
    for (const [keyword, value] of Object.entries(current)) {
      const kind = KEYWORDS.get(keyword)
      if (kind === undefined) continue
      const at = `${place === '' ? '' : `${place}.`}${cite(keyword)}`
      const fault = keywordFault(kind, value)
      if (fault !== undefined) return `${at} is ${nameOf(value)}, ${fault}`
      for (const [step, inner] of innerOf(kind, value))
        waiting.push({ schema: inner, place: `${at}${step}`, depth: depth + 1 })
      if (keyword === '$ref') references.push({ place: at, to: String(value) })
      if (keyword === '$id') names.add(String(value))
      if (keyword === '$anchor') names.add(`#${value}`)
    }
  }
  const base = baseOf(schema)
  // Names inside may be relative to each other.
  const hasRelative = [...names].some((name) => !name.startsWith('#') && name !== base)
  const lost = references.find(({ to }) => !isThere(to, schema, names, hasRelative))
  return (
    lost &&
    `${lost.place} is ${quote(lost.to)}, which is not in the schema: clients do not fetch other schemas`
  )
}

/** Other dialects are not checked: their keywords may mean something else. */
function isKnownDialect(schema: unknown): boolean {
  const dialect = isObject(schema) ? schema.$schema : undefined
  return typeof dialect !== 'string' || /draft\/20(19-09|20-12)|draft-0[67]/.test(dialect)
}

function keywordFault(kind: Kind, value: unknown): string | undefined {
  switch (kind) {
    case 'schema':
      return isSchema(value) ? undefined : 'not a schema'
    case 'schemas':
      return Array.isArray(value) && value.length > 0 ? undefined : 'not an array of schemas'
    case 'schema or schemas':
      return isSchema(value) || Array.isArray(value) ? undefined : 'not a schema'
    case 'named schemas':
    case 'named names':
    case 'schema or names':
      return isObject(value) ? undefined : 'not an object'
    case 'schemas by pattern':
      return isObject(value) && Object.keys(value).every(isPattern)
        ? undefined
        : 'not an object whose names are regular expressions'
    case 'names':
      return isNames(value) ? undefined : 'not an array of strings'
    case 'array':
      return Array.isArray(value) ? undefined : 'not an array'
    case 'values':
      return Array.isArray(value) && value.length > 0 ? undefined : 'not an array of values'
    case 'count':
      return Number.isInteger(value) && Number(value) >= 0 ? undefined : 'not a whole number from 0'
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === kind ? undefined : `not a ${kind}`
    case 'pattern':
      return isPattern(value) ? undefined : 'not a regular expression'
    case 'type':
      return isType(value) ? undefined : 'not a type of JSON Schema'
  }
}

/** The schemas under a keyword, each with the rest of its path. */
function innerOf(kind: Kind, value: unknown): (readonly [string, unknown])[] {
  if (kind === 'schema') return [['', value]]
  if (Array.isArray(value))
    return kind === 'schemas' || kind === 'schema or schemas'
      ? value.map((inner, index) => [`[${index}]`, inner] as const)
      : []
  if (kind === 'schema or schemas') return [['', value]]
  if (!isObject(value)) return []
  const inner = Object.entries(value).map(([name, each]) => [`.${cite(name)}`, each] as const)
  if (kind === 'named schemas' || kind === 'schemas by pattern') return inner
  return kind === 'schema or names' ? inner.filter(([, each]) => !isNames(each)) : []
}

/** A pointer (RFC 6901) into the schema, or the name of a part of it. */
function isThere(
  reference: string,
  root: unknown,
  names: ReadonlySet<string>,
  hasRelative: boolean,
): boolean {
  const base = baseOf(root)
  const local = base !== '' && reference.startsWith(base) ? reference.slice(base.length) : reference
  if (names.has(reference) || names.has(local)) return true
  if (local === '' || local === '#') return true
  if (!local.startsWith('#/')) return hasRelative
  const steps = local.split('/').slice(1)
  return steps.reduce<unknown>((node, step) => memberOf(node, toName(step)), root) !== undefined
}

function baseOf(root: unknown): string {
  return isObject(root) && typeof root.$id === 'string' ? root.$id.replace(/#$/, '') : ''
}

function memberOf(node: unknown, name: string): unknown {
  return typeof node === 'object' && node !== null && Object.hasOwn(node, name)
    ? (node as JsonObject)[name]
    : undefined
}

function toName(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}

function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isObject(value)
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

function isType(value: unknown): boolean {
  const types: readonly unknown[] = Array.isArray(value) ? value : [value]
  return types.length > 0 && types.every((type) => TYPES.some((each) => each === type))
}

/** Compiles the pattern like clients' validators, with the flag `u`. Never runs it. */
function isPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false
  if (value.length > MAX_PATTERN) return true
  try {
    new RegExp(value, 'u')
    return true
  } catch {
    return false
  }
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' && value !== null ? 'an object' : quote(String(value))
}
