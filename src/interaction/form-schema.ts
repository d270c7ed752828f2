/**
 * What a form may ask (MCP 2026-07-28, "Elicitation", "Requested Schema"): a flat object of strings, numbers, booleans
 * and choices, so that every client can draw it. Checked when the question is built, never at the user's expense.
 */
import type { ElicitOptions } from '../definition/ask.ts'
import { type CompiledSchema, compileSchema, type JsonSchema, type Schema } from '../definition/schema.ts'

/** The keywords a field of each type may carry. */
const COMMON = ['type', 'title', 'description', 'default']
const KEYWORDS: { readonly [type: string]: readonly string[] } = {
  string: [...COMMON, 'minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf'],
  number: [...COMMON, 'minimum', 'maximum'],
  integer: [...COMMON, 'minimum', 'maximum'],
  boolean: COMMON,
  array: [...COMMON, 'items', 'minItems', 'maxItems'],
}
const FORMATS = ['email', 'uri', 'date', 'date-time']
const SECRET =
  /pass(word|phrase|wd|code)|^pass$|secret|token|api[-_ ]?key|private[-_ ]?key|access[-_ ]?key|credential|^(pin|cvv|cvc|ssn)$/i

/** By schema: a tool asks with the same form in every call. */
const compiledForms = new WeakMap<object, CompiledSchema>()

/**
 * Compiles the schema of a form, once.
 *
 * @throws TypeError naming the field that a form cannot have.
 */
export function compileForm(schema: Schema, { notSecret = [] }: ElicitOptions = {}): CompiledSchema {
  const form = compiledForms.get(schema) ?? compile(schema)
  compiledForms.set(schema, form)
  const secret = Object.keys(form.jsonSchema.properties as object).find(
    (name) => SECRET.test(name) && !notSecret.includes(name),
  )
  if (secret !== undefined) {
    throw new TypeError(
      `The form field "${secret}" looks like a secret: ask for it in URL mode, or list it in "notSecret" if it is none.`,
    )
  }
  return form
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
    Object.entries(properties).map(([name, field]) => [name, toField(name, field)]),
  )
  return {
    ...compiled,
    jsonSchema: { type: 'object', properties: fields, ...(required?.length && { required }) },
  }
}

function toField(name: string, field: JsonSchema): JsonSchema {
  const refuse = (reason: string): never => {
    throw new TypeError(
      `The form field "${name}" ${reason}: forms hold flat strings, numbers, booleans and choices.`,
    )
  }
  const { pattern, ...rest } = field
  // Libraries spell a known format out as a pattern too; the client needs only the format.
  const shown: JsonSchema = rest.format === undefined ? field : rest
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
