/**
 * Checks that a JSON Schema is valid: keywords have the right types, patterns are regular expressions, references resolve. Replaces the
 * meta-schemas, which are too large for an edge bundle.
 */
import {
  dereference,
  escapePointer,
  type Schema,
  type SchemaDraft,
  schemaArrayKeyword,
  schemaKeyword,
  schemaMapKeyword,
} from '@cfworker/json-schema'
import type { JsonSchema } from './schema.ts'

type Rule = readonly [expected: string, holds: (value: unknown) => boolean]

const TYPE = /^(array|boolean|integer|null|number|object|string)$/
const isString = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isType = (value: unknown): boolean => isString(value) && TYPE.test(value)
const isFilled = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0

const BOOLEAN: Rule = ['a boolean', (value) => typeof value === 'boolean']
const NUMBER: Rule = ['a number', isNumber]
const COUNT: Rule = ['a whole number from 0', (value) => Number.isInteger(value) && (value as number) >= 0]
const STRING: Rule = ['a string', isString]
const STRINGS: Rule = ['a list of strings', (value) => Array.isArray(value) && value.every(isString)]
const PATTERN: Rule = ['a pattern', isPattern]
const FILLED: Rule = ['a list that is not empty', isFilled]
const OBJECT: Rule = [
  'an object',
  (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
]

const RULES: { readonly [keyword: string]: Rule } = {
  type: ['a type or several', (value) => isType(value) || (isFilled(value) && value.every(isType))],
  enum: FILLED,
  required: STRINGS,
  pattern: PATTERN,
  multipleOf: ['a number above 0', (value) => isNumber(value) && value > 0],
  minimum: NUMBER,
  maximum: NUMBER,
  exclusiveMinimum: NUMBER,
  exclusiveMaximum: NUMBER,
  minLength: COUNT,
  maxLength: COUNT,
  minItems: COUNT,
  maxItems: COUNT,
  minContains: COUNT,
  maxContains: COUNT,
  minProperties: COUNT,
  maxProperties: COUNT,
  uniqueItems: BOOLEAN,
  $ref: STRING,
  $id: STRING,
  $anchor: STRING,
  format: STRING,
  title: STRING,
  description: STRING,
}

/** In draft-04, they are booleans that exclude the bound itself. */
const DRAFT_04: typeof RULES = { ...RULES, exclusiveMinimum: BOOLEAN, exclusiveMaximum: BOOLEAN }

/**
 * Checks a schema, its subschemas, and the targets of its references. Adds members to the schema, as the validator does: pass a copy.
 *
 * @throws TypeError with the path of the error as a JSON pointer.
 */
export function checkSchema(root: JsonSchema, draft: SchemaDraft): void {
  const rules = draft === '4' ? DRAFT_04 : RULES
  const seen = new Set<unknown>()
  const references: { readonly path: readonly string[]; readonly schema: Referring }[] = []
  let path: string[] = []

  const check = (value: unknown, [expected, holds]: Rule): void => {
    if (holds(value)) return
    const place = ['#', ...path.map(escapePointer)].join('/')
    const shown = JSON.stringify(value).slice(0, 100)
    throw new TypeError(`Not a valid JSON Schema: ${place} must be ${expected}, not ${shown}.`)
  }
  const visitEach = (values: unknown, visitOne: (value: unknown, name: string) => void): void => {
    for (const [name, value] of Object.entries(values as object)) {
      path.push(name)
      visitOne(value, name)
      path.pop()
    }
  }
  const visit = (schema: unknown): void => {
    if (typeof schema === 'boolean' || seen.has(schema)) return
    seen.add(schema)
    check(schema, OBJECT)
    if ((schema as Referring).$ref !== undefined) {
      references.push({ path: [...path, '$ref'], schema: schema as Referring })
    }
    visitEach(schema, visitKeyword)
  }
  const visitKeyword = (value: unknown, keyword: string): void => {
    const rule = Object.hasOwn(rules, keyword) ? rules[keyword] : undefined
    // Since 2020-12 `items` must not be a list of schemas: the validator would accept any value for it.
    const isTuple = keyword === 'items' && draft !== '2020-12' && Array.isArray(value)
    if (rule !== undefined) check(value, rule)
    else if (schemaMapKeyword[keyword] === true || DEPENDENT.test(keyword)) {
      check(value, OBJECT)
      visitEach(value, (one, name) => {
        if (keyword === 'patternProperties') check(name, PATTERN)
        const isNames = keyword === 'dependentRequired' || (keyword === 'dependencies' && Array.isArray(one))
        if (isNames) check(one, STRINGS)
        else visit(one)
      })
    } else if (schemaKeyword[keyword] === true && !isTuple) visit(value)
    else if (schemaArrayKeyword[keyword] === true) {
      check(value, FILLED)
      visitEach(value, visit)
    }
  }

  visit(root)
  if (references.length === 0) return
  const known = dereference(root as Schema)
  for (const { path: from, schema } of references) {
    const target = known[schema.__absolute_ref__ ?? '']
    path = [...from]
    check(schema.$ref, [
      'inside this schema, because other schemas are not fetched',
      () => target !== undefined,
    ])
    // The target may be in a place that is not checked as a schema.
    visit(target)
  }
}

/** `dereference` adds the absolute URI of the target. */
interface Referring extends JsonSchema {
  readonly $ref?: unknown
  readonly __absolute_ref__?: string
}

const DEPENDENT = /^dependen(cies|tRequired)$/

function isPattern(value: unknown): boolean {
  try {
    return isString(value) && new RegExp(value, 'u') !== undefined
  } catch {
    return false
  }
}
