/** Which parts of JSON Schema model APIs accept in a tool's input schema. */
import { isObject } from '../../src/definition/is-object.ts'

const UNIONS = ['oneOf', 'anyOf', 'allOf']

/** A union at the root, which OpenAI's and Anthropic's APIs refuse: its keyword. */
export function rootUnion(schema: unknown): string | undefined {
  return isObject(schema) ? UNIONS.find((keyword) => keyword in schema) : undefined
}

/**
 * Meaningful keywords that Gemini's API refuses (each was tested). Clients can omit others, such as `$schema`, without harm.
 * https://github.com/danny-avila/LibreChat/pull/13850, 2026-06-19.
 */
const NOT_GEMINI = [
  'patternProperties',
  'propertyNames',
  'prefixItems',
  'additionalItems',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'contentEncoding',
  'uniqueItems',
  'multipleOf',
]
/** Deeper schemas are not searched; `lists.schemas` reports them. */
const MAX_DEPTH = 64
const MAX_SCHEMAS = 5000

/** The first keyword that Gemini's API refuses, at any depth. */
export function geminiRefuses(schema: unknown): string | undefined {
  const waiting = [{ value: schema, depth: 0, isNames: false }]
  let count = 0
  for (let next = waiting.pop(); next !== undefined && count < MAX_SCHEMAS; next = waiting.pop()) {
    const { value, depth, isNames } = next
    count += 1
    if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      // Not in one call: there may be more than a function accepts arguments.
      for (const each of value) waiting.push({ value: each, depth: depth + 1, isNames: false })
      continue
    }
    // The members of "properties" are names, not keywords.
    const found = isNames ? undefined : NOT_GEMINI.find((keyword) => keyword in value)
    if (found !== undefined) return found
    for (const [name, inner] of Object.entries(value))
      if (isNames || !VALUES.includes(name))
        waiting.push({ value: inner, depth: depth + 1, isNames: !isNames && MAPS.includes(name) })
  }
  return undefined
}

/** Keywords whose members are named by the author. */
const MAPS = ['properties', '$defs', 'definitions']
/** Keywords whose values are not schemas. */
const VALUES = ['enum', 'const', 'default', 'examples', 'required']
