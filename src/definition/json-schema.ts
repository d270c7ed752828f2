/**
 * Plain JSON Schema as a Standard Schema, validated without `eval` (edge runtimes forbid it) by `@cfworker/json-schema`.
 * A function of its own, so that servers which do not use it do not ship a validator.
 */
import { type OutputUnit, type SchemaDraft, Validator } from '@cfworker/json-schema'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from './schema.ts'

const DRAFTS: { readonly [fragment: string]: SchemaDraft } = {
  'draft/2020-12': '2020-12',
  'draft/2019-09': '2019-09',
  'draft-07': '7',
  'draft-04': '4',
}

/** A Standard Schema that says what JSON Schema it is. */
export interface JsonSchemaAsStandard<Value> {
  readonly '~standard': StandardSchemaV1.Props<Value> & StandardJSONSchemaV1.Props<Value>
}

/**
 * Makes a JSON Schema usable wherever Mayfly takes a schema. Dialects: 2020-12 (default), 2019-09, draft-07, draft-04
 * (MCP 2026-07-28, "JSON Schema Usage"). The validator is built at the first validation, so that start-up stays cheap.
 *
 * ```ts
 * inputSchema: jsonSchema<{ city: string }>({
 *   type: 'object',
 *   properties: { city: { type: 'string' } },
 *   required: ['city'],
 * })
 * ```
 *
 * @throws TypeError for another dialect, or for a `$ref` that leaves the document: it is never fetched.
 */
export function jsonSchema<Value = Record<string, unknown>>(schema: JsonSchema): JsonSchemaAsStandard<Value> {
  const draft = draftOf(schema)
  refuseRemoteReferences(schema)
  let validator: Validator | undefined
  return {
    '~standard': {
      version: 1,
      vendor: 'mayfly-mcp',
      jsonSchema: { input: () => ({ ...schema }), output: () => ({ ...schema }) },
      validate(value) {
        validator ??= new Validator(schema, draft, false)
        const { valid, errors } = validator.validate(value)
        return valid ? { value: value as Value } : { issues: leafIssues(errors) }
      },
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
      `The JSON Schema dialect ${String(dialect)} is not known: use 2020-12, 2019-09, draft-07 or draft-04.`,
    )
  }
  return DRAFTS[known]!
}

function refuseRemoteReferences(node: unknown): void {
  if (node === null || typeof node !== 'object') return
  for (const [key, child] of Object.entries(node)) {
    if (key === '$ref' && typeof child === 'string' && /^[a-z][a-z0-9+.-]*:/i.test(child)) {
      throw new TypeError(
        `The JSON Schema refers to ${child}: put that schema under $defs, references are never fetched.`,
      )
    }
    refuseRemoteReferences(child)
  }
}

/** Keywords that only say that a parent failed because a child did. */
const CARRIERS = new Set(['properties', 'items', 'prefixItems', '$ref', 'allOf'])

function leafIssues(errors: readonly OutputUnit[]): StandardSchemaV1.Issue[] {
  const leaves = errors.filter(({ keyword }) => !CARRIERS.has(keyword))
  return (leaves.length > 0 ? leaves : errors).map(({ instanceLocation, error }) => ({
    path: instanceLocation.split('/').slice(1),
    message: error,
  }))
}
