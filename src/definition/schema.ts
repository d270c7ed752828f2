/**
 * Schemas: accepts zod 4, any Standard Schema, JSON Schema through `jsonSchema()`, and a raw shape of Standard Schemas. Compiled once
 * into the advertised JSON Schema and a validator for each call.
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { cut, textOf } from './error-text.ts'
import { isPlainZodObject } from './plain-zod.ts'

/** A JSON Schema as an object. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** A record with one Standard Schema per property: `{ city: z.string(), days: z.number().optional() }`. */
export type RawShape = { readonly [property: string]: StandardSchemaV1 }

/** Every kind of schema that Mayfly accepts. */
export type Schema = StandardSchemaV1 | RawShape

/** A JSON Schema without `jsonSchema()`. The type exists only to refuse it with a clear message. */
export interface PlainJsonSchema {
  readonly type: string
}

/** The type of a value after validation. */
export type InferOutput<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<S>
  : S extends RawShape
    ? Optionals<{
        [P in keyof S]: S[P] extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S[P]> : never
      }>
    : Record<string, unknown>

/** The type of a value that the schema accepts. */
export type InferInput<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<S>
  : S extends RawShape
    ? Optionals<{ [P in keyof S]: S[P] extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S[P]> : never }>
    : unknown

type Optionals<T> = { [P in keyof T as undefined extends T[P] ? never : P]: T[P] } & {
  [P in keyof T as undefined extends T[P] ? P : never]?: T[P]
}

export interface SchemaIssue {
  /** Dotted path of the invalid value; empty for the whole value. */
  readonly path: string
  readonly message: string
}

export type Validation =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] }

export interface CompiledSchema {
  /** JSON Schema 2020-12, as advertised. */
  readonly jsonSchema: JsonSchema
  /** Whether it is known to be an object without protocol annotations. Then `jsonSchema` is created on first use. */
  readonly isPlainObject?: boolean
  /** Never throws for an invalid value; returns a promise only if the schema is asynchronous. */
  validate(value: unknown): Validation | Promise<Validation>
}

/**
 * Compiles a schema once.
 *
 * @param label The schema's name in errors.
 * @param direction `'input'` advertises what the schema accepts (before defaults and transforms), `'output'` what it returns.
 * @throws TypeError if `schema` is not a schema, or cannot be advertised.
 */
export function compileSchema(
  schema: unknown,
  label: string,
  direction: 'input' | 'output' = 'input',
): CompiledSchema {
  if (isStandardSchema(schema)) return compileStandardSchema(schema, label, direction)
  if (schema !== null && typeof schema === 'object' && !Array.isArray(schema)) {
    if (isRawShape(schema)) return compileShape(schema, label, direction)
    if (isOldZod(schema)) throw new TypeError(`${label} is a zod 3 schema: use zod 4.2 or newer.`)
    const [wrong] = Object.entries(schema).find(([, value]) => !isStandardSchema(value)) ?? []
    // Plain JSON Schema is refused, so that only servers that use it bundle a validator.
    if ('jsonSchema' in schema && 'validate' in schema)
      throw new TypeError(
        `${label} comes from the jsonSchema() of another library: use the one of mayfly-mcp.`,
      )
    const isJsonSchema = /^(\$schema|\$ref|type|properties|(any|all|one)Of)$/.test(String(wrong))
    throw new TypeError(
      isJsonSchema
        ? `${label} is plain JSON Schema: write jsonSchema({ … }), imported from 'mayfly-mcp'.`
        : `${wrong} in ${label} is not a schema: use a schema such as z.string().`,
    )
  }
  throw new TypeError(
    `${label} must be a zod schema, a Standard Schema, jsonSchema({ … }) or a shape of schemas.`,
  )
}

/** Whether `value` implements Standard Schema (zod 4, valibot, arktype, …). */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  const standard = (value as { '~standard'?: { validate?: unknown } })['~standard']
  return typeof standard?.validate === 'function'
}

function isRawShape(value: object): value is RawShape {
  const schemas = Object.values(value)
  return schemas.length > 0 && schemas.every(isStandardSchema)
}

/** Zod before 3.24, the first version with Standard Schema. */
function isOldZod(schema: object): boolean {
  return [schema, ...Object.values(schema)].some(
    (one) => typeof one?.safeParse === 'function' && '_def' in one,
  )
}

function compileStandardSchema(
  schema: StandardSchemaV1,
  label: string,
  direction: 'input' | 'output',
): CompiledSchema {
  const { validate: check } = schema['~standard']
  const validate = (value: unknown): Validation | Promise<Validation> => {
    const result = check(value)
    if (result instanceof Promise) return result.then(toValidation)
    return result.issues === undefined ? { ok: true, value: result.value } : toValidation(result)
  }
  const write = (): JsonSchema => toJsonSchema(schema, label, direction)
  return isPlainZodObject(schema) ? new PlainObject(validate, write) : { jsonSchema: write(), validate }
}

class PlainObject implements CompiledSchema {
  readonly isPlainObject = true
  readonly validate: CompiledSchema['validate']
  readonly #write: () => JsonSchema
  #jsonSchema: JsonSchema | undefined

  constructor(validate: CompiledSchema['validate'], write: () => JsonSchema) {
    this.validate = validate
    this.#write = write
  }

  get jsonSchema(): JsonSchema {
    this.#jsonSchema ??= this.#write()
    return this.#jsonSchema
  }
}

/** The JSON Schema of a Standard Schema. Required for input, so that the model knows what to send; optional for output. */
function toJsonSchema(schema: StandardSchemaV1, label: string, direction: 'input' | 'output'): JsonSchema {
  const { jsonSchema, vendor } = schema['~standard'] as Partial<StandardJSONSchemaV1.Props>
  if (jsonSchema === undefined) {
    if (direction === 'output') return {}
    const remedy = REMEDIES[vendor ?? ''] ?? 'use a library with Standard JSON Schema, or jsonSchema({ … })'
    throw new TypeError(`${label} (${vendor}) cannot be converted to JSON Schema: ${remedy}.`)
  }
  try {
    return jsonSchema[direction]({ target: 'draft-2020-12' })
  } catch (error) {
    // Its library names no field. A schema may contain itself.
    const { shape = {} } = schema as { shape?: object }
    if (label.length < 300 && isRawShape(shape))
      for (const field in shape) toJsonSchema(shape[field]!, `${field} in ${label}`, direction)
    throw new TypeError(
      `${label} cannot be converted to JSON Schema: ${textOf(error)}. Write what JSON has, such as z.iso.datetime() for z.date().`,
      { cause: error },
    )
  }
}

const REMEDIES: { readonly [vendor: string]: string } = {
  zod: 'use zod 4.2 or newer',
  valibot: 'wrap it in toStandardJsonSchema() of @valibot/to-json-schema',
}

function compileShape(shape: RawShape, label: string, direction: 'input' | 'output'): CompiledSchema {
  const entries = Object.entries(shape)
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  for (const [property, schema] of entries) {
    const { $schema: _, ...propertySchema } = toJsonSchema(schema, `${property} in ${label}`, direction)
    properties[property] = propertySchema
    if (!acceptsUndefined(schema)) required.push(property)
  }
  return {
    jsonSchema: { type: 'object', properties, ...(required.length > 0 && { required }) },
    validate(value) {
      if (value === null || typeof value !== 'object' || Array.isArray(value)) {
        return { ok: false, issues: [{ path: '', message: 'expected an object' }] }
      }
      const results = entries.map(([property, schema]) => schema['~standard'].validate(own(value, property)))
      return results.some((result) => result instanceof Promise)
        ? Promise.all(results).then((settled) => collectShape(entries, settled))
        : collectShape(entries, results as StandardSchemaV1.Result<unknown>[])
    },
  }
}

function own(value: object, property: string): unknown {
  return Object.hasOwn(value, property) ? (value as Record<string, unknown>)[property] : undefined
}

function acceptsUndefined(schema: StandardSchemaV1): boolean {
  const result = schema['~standard'].validate(undefined)
  return !(result instanceof Promise) && result.issues === undefined
}

function collectShape(
  entries: readonly (readonly [string, StandardSchemaV1])[],
  results: readonly StandardSchemaV1.Result<unknown>[],
): Validation {
  const value: Record<string, unknown> = {}
  const issues: SchemaIssue[] = []
  results.forEach((result, index) => {
    const property = entries[index]![0]
    if (result.issues !== undefined) issues.push(...result.issues.map((issue) => toIssue(issue, property)))
    else if (result.value !== undefined) value[property] = result.value
  })
  return issues.length > 0 ? { ok: false, issues } : { ok: true, value }
}

function toValidation(result: StandardSchemaV1.Result<unknown>): Validation {
  if (result.issues === undefined) return { ok: true, value: result.value }
  return { ok: false, issues: result.issues.map((issue) => toIssue(issue)) }
}

function toIssue(issue: StandardSchemaV1.Issue, prefix?: string): SchemaIssue {
  const keys = (issue.path ?? []).map((segment) =>
    String(typeof segment === 'object' ? segment.key : segment),
  )
  return { path: (prefix === undefined ? keys : [prefix, ...keys]).join('.'), message: issue.message }
}

/**
 * Limits for the text of issues, since a caller controls their number and content. Further issues are only counted, and long ones
 * truncated.
 */
const MAX_ISSUES = 20
const MAX_PATH_CHARACTERS = 100
const MAX_MESSAGE_CHARACTERS = 300

/** Issues as one line that a model can act on: `city: expected string; days: must be at most 7`. A few kilobytes at most. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  const described = issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const text = cut(message, MAX_MESSAGE_CHARACTERS)
    return path === '' ? text : `${cut(path, MAX_PATH_CHARACTERS)}: ${text}`
  })
  const more = issues.length - described.length
  return [...described, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
