/**
 * Plain JSON Schema as a Standard Schema, validated by `@cfworker/json-schema` without `eval`, which edge runtimes forbid.
 * A separate function, so that servers that do not use it do not bundle a validator.
 */
import {
  dereference,
  type OutputUnit,
  type Schema,
  type SchemaDraft,
  type ValidationResult,
  validate,
} from '@cfworker/json-schema'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from './schema.ts'
import { boundSchema, hasDuplicates } from './schema-bounds.ts'
import { metered } from './schema-budget.ts'
import { checkSchema } from './schema-rules.ts'

const DRAFTS: { readonly [fragment: string]: SchemaDraft } = {
  'draft/2020-12': '2020-12',
  'draft/2019-09': '2019-09',
  'draft-07': '7',
  'draft-04': '4',
}

/** A Standard Schema that exposes its JSON Schema. */
export interface JsonSchemaAsStandard<Value> {
  readonly '~standard': StandardSchemaV1.Props<Value> & StandardJSONSchemaV1.Props<Value>
}

/**
 * Makes a JSON Schema usable wherever Mayfly accepts a schema. Dialects: 2020-12 (default), 2019-09, draft-07, draft-04
 * (MCP 2026-07-28, "JSON Schema Usage"). The validator is created at the first validation, which keeps start-up fast. If a value
 * contains equal array items, its arrays with `uniqueItems` may have at most 250 items, to limit the time for comparing them. If the
 * schema contains `$ref`, validating reads each member of a value about 16 times at most; a value that takes more is invalid. Regular
 * expressions run as written: avoid nested quantifiers, such as `(a+)+`, which take exponential time.
 *
 * ```ts
 * inputSchema: jsonSchema<{ city: string }>({
 *   type: 'object',
 *   properties: { city: { type: 'string' } },
 *   required: ['city'],
 * })
 * ```
 *
 * @throws TypeError for an unknown dialect; for an invalid schema (`type: 'strnig'`), with the place; and for a `$ref` that does
 * not resolve within this document: other documents are never fetched.
 */
export function jsonSchema<Value = Record<string, unknown>>(schema: JsonSchema): JsonSchemaAsStandard<Value> {
  if (typeof schema !== 'object' || schema === null)
    throw new TypeError('jsonSchema needs a JSON Schema: an object.')
  const draft = draftOf(schema)
  // A copy, since the validator adds members to the schema, which may be frozen or shared.
  const text = JSON.stringify(schema)
  const own = JSON.parse(text) as JsonSchema
  checkSchema(own, draft)
  const lazily = (uniqueItems: Parameters<typeof boundSchema>[1]) => {
    let validator: Validator | undefined
    return () => {
      validator ??= createValidator(text, draft, uniqueItems)
      return validator
    }
  }
  const plain = lazily('leave out')
  const unique = lazily('keep for few')
  return {
    '~standard': {
      version: 1,
      vendor: 'mayfly-mcp',
      jsonSchema: { input: () => ({ ...own }), output: () => ({ ...own }) },
      validate(value) {
        const validator = plain().hasUnique && hasDuplicates(value) ? unique() : plain()
        const errors = validator.errorsOf(value)
        return errors.length === 0 ? { value: value as Value } : { issues: leafIssues(errors) }
      },
    },
  }
}

interface Validator {
  readonly hasUnique: boolean
  errorsOf(value: unknown): readonly OutputUnit[]
}

const TOO_COMPLEX: ValidationResult = {
  valid: false,
  errors: [
    {
      keyword: '',
      keywordLocation: '',
      instanceLocation: '',
      error: 'Too complex to validate: send a value with less nesting.',
    },
  ],
}

function createValidator(
  text: string,
  draft: SchemaDraft,
  uniqueItems: Parameters<typeof boundSchema>[1],
): Validator {
  const schema = JSON.parse(text) as Schema
  const hasUnique = boundSchema(schema, uniqueItems)
  const lookup = dereference(schema)
  // Without references, the schema itself bounds how often a member is read.
  const measure = /"\$(?:recursiveR|r)ef"/.test(text) ? metered : (value: unknown) => value
  return {
    hasUnique,
    errorsOf(value) {
      let first = TOO_COMPLEX
      try {
        first = validate(measure(value), schema, draft, lookup)
        return first.valid ? [] : validate(measure(value), schema, draft, lookup, false).errors
      } catch {
        // Over the limit of reads, or of the call stack: there are more errors than it holds arguments.
        return first.errors
      }
    },
  }
}

function draftOf({ $schema: dialect }: JsonSchema): SchemaDraft {
  if (dialect === undefined) return '2020-12'
  const known = Object.keys(DRAFTS).find(
    (fragment) => typeof dialect === 'string' && dialect.includes(fragment),
  )
  if (known === undefined) {
    throw new TypeError(
      `The JSON Schema dialect ${String(dialect)} is not supported: use 2020-12, 2019-09, draft-07 or draft-04.`,
    )
  }
  return DRAFTS[known]!
}

/** Keywords whose errors only say that a child failed. */
const CARRIERS = new Set(['properties', 'items', 'prefixItems', '$ref', 'allOf'])

function leafIssues(errors: readonly OutputUnit[]): StandardSchemaV1.Issue[] {
  const leaves = errors.filter(({ keyword }) => !CARRIERS.has(keyword))
  return (leaves.length > 0 ? leaves : errors).map(({ instanceLocation, error }) => ({
    path: instanceLocation.split('/').slice(1),
    message: error,
  }))
}
