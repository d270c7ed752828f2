/**
 * What a form may ask (MCP 2026-07-28, "Elicitation", "Requested Schema"): a flat object of strings, numbers, booleans
 * and choices, so that every client can display it. Checked when the question is created, before the user sees it.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ElicitOptions } from '../definition/ask.ts'
import { type CompiledSchema, compileSchema, type JsonSchema, type Schema } from '../definition/schema.ts'

/** The keywords that a field of each type may have. */
const COMMON = ['type', 'title', 'description', 'default']
const KEYWORDS: { readonly [type: string]: readonly string[] } = {
  string: [...COMMON, 'minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf'],
  number: [...COMMON, 'minimum', 'maximum'],
  integer: [...COMMON, 'minimum', 'maximum'],
  boolean: COMMON,
  array: [...COMMON, 'items', 'minItems', 'maxItems'],
}
const FORMATS = ['email', 'uri', 'date', 'date-time']
/** Matches words of a name: `max_tokens` and `secretary` are not secrets, `userpassword` is. */
const SECRET =
  /pass(word|phrase|wd|code)s?_|(secret|credential)s?_|token_|(api|access|auth|private|refresh|session)_?(key|token)s?_|^_(pass|pin)_$|_(cvv|cvc|ssn)_/

/** Cached by schema, since a tool uses the same form in every call. */
const compiledForms = new WeakMap<object, CompiledSchema>()

/**
 * Compiles the schema of a form, once.
 *
 * @throws TypeError naming the field that is not allowed in a form.
 */
export function compileForm(schema: Schema, { notSecret = [] }: ElicitOptions = {}): CompiledSchema {
  const form = compiledForms.get(schema) ?? compile(schema)
  compiledForms.set(schema, form)
  const secret = Object.keys(form.jsonSchema.properties as object).find(
    (name) => SECRET.test(wordsOf(name)) && !notSecret.includes(name),
  )
  if (secret !== undefined) {
    throw new TypeError(
      `The form field "${secret}" looks like a secret: ask for it in URL mode, or list it in "notSecret" if it is not a secret.`,
    )
  }
  return form
}

/** Normalizes a name to words: `maxTokens1` and `max-tokens 1` become `_max_tokens_1_`. */
function wordsOf(name: string): string {
  const words = name.replace(/([a-z])([A-Z\d])|([A-Z])([A-Z][a-z])/g, '$1$3_$2$4')
  return `_${words}_`.toLowerCase().replace(/[^a-z\d]+/g, '_')
}

function compile(schema: Schema): CompiledSchema {
  const compiled = compileSchema(schema, 'The schema of a form')
  const { type, properties, required } = compiled.jsonSchema as {
    type?: unknown
    properties?: Record<string, JsonSchema>
    required?: readonly string[]
  }
  if (type !== 'object' || properties === undefined) {
    throw new TypeError('The schema of a form must be an object with properties.')
  }
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      toField(name, isJsonSchema(schema) ? field : withoutUnsupported(field)),
    ]),
  )
  return {
    ...compiled,
    jsonSchema: { type: 'object', properties: fields, ...(required?.length && { required }) },
  }
}

function toField(name: string, shown: JsonSchema): JsonSchema {
  const refuse = (reason: string): never => {
    throw new TypeError(
      `The form field "${name}" ${reason}: forms hold flat strings, numbers, booleans and choices.`,
    )
  }
  const allowed = KEYWORDS[String(shown.type)] ?? refuse(`has the type ${JSON.stringify(shown.type)}`)
  const stray = Object.keys(shown).find((keyword) => !allowed.includes(keyword))
  if (stray !== undefined) refuse(`uses "${stray}"`)
  if (shown.format !== undefined && !FORMATS.includes(String(shown.format)))
    refuse(`has the format "${shown.format}"`)
  if (shown.enum !== undefined && !areStrings(shown.enum)) refuse('has choices that are not strings')
  if (shown.oneOf !== undefined && !areTitled(shown.oneOf))
    refuse('needs choices of the form { const, title }')
  if (shown.type === 'array' && !isChoiceList(shown.items)) refuse('may only be a list of choices')
  return shown
}

/** A schema written by hand: it may only use keywords that a form allows. */
function isJsonSchema(schema: Schema): boolean {
  return (schema as Partial<StandardSchemaV1>)['~standard']?.vendor === 'mayfly-mcp'
}

/** Removes keywords that a form does not allow; the schema library still checks the answer with them. */
function withoutUnsupported(field: JsonSchema): JsonSchema {
  const { pattern, exclusiveMinimum, exclusiveMaximum, multipleOf, format, ...rest } = field
  return FORMATS.includes(String(format)) ? { ...rest, format } : rest
}

function isChoiceList(items: unknown): boolean {
  const { type, enum: choices, anyOf } = (items ?? {}) as { type?: unknown; enum?: unknown; anyOf?: unknown }
  return (type === 'string' && areStrings(choices)) || areTitled(anyOf)
}

function areStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function areTitled(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((one) => typeof one?.const === 'string' && typeof one.title === 'string')
  )
}
