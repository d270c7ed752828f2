/**
 * The client's side of an elicitation, for tests and for hosts: making answers, and filling in a form by its defaults.
 */

/** A form as the client receives it (MCP 2026-07-28, "Requested Schema"). */
export interface RequestedSchema {
  readonly type?: 'object'
  readonly properties: { readonly [field: string]: RequestedField }
  readonly required?: readonly string[]
}

interface RequestedField {
  readonly type?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly oneOf?: readonly { readonly const: string }[]
  readonly items?: {
    readonly enum?: readonly string[]
    readonly anyOf?: readonly { readonly const: string }[]
  }
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

export type FormContent = Record<string, string | number | boolean | string[]>

/** An answer as on the wire. */
export interface ElicitResult {
  action: 'accept' | 'decline' | 'cancel'
  content?: FormContent
}

/** The defaults a form declares. */
export function getDefaults({ properties }: RequestedSchema): FormContent {
  const entries = Object.entries(properties).filter(([, field]) => field.default !== undefined)
  return Object.fromEntries(entries.map(([name, field]) => [name, field.default])) as FormContent
}

/** `content`, with the form's defaults where it says nothing. */
export function applyDefaults(schema: RequestedSchema, content: FormContent = {}): FormContent {
  return { ...getDefaults(schema), ...content }
}

/** The user filled in the form, or went to the URL. */
export function accept(content?: FormContent): ElicitResult {
  return { action: 'accept', ...(content !== undefined && { content }) }
}

/** The user took the form's defaults, but for `content`. */
export function acceptWithDefaults(schema: RequestedSchema, content?: FormContent): ElicitResult {
  return accept(applyDefaults(schema, content))
}

/** The user said no. */
export function decline(): ElicitResult {
  return { action: 'decline' }
}

/** The user said nothing, and closed the form. */
export function cancel(): ElicitResult {
  return { action: 'cancel' }
}

/** The same as `decline`, under the name some hosts give the button. */
export const reject: typeof decline = decline

/** What is wrong with `content`, by field; an empty list where the form takes it. Formats are left to the server. */
export function validate(
  { properties, required = [] }: RequestedSchema,
  content: { readonly [field: string]: unknown },
): { readonly field: string; readonly message: string }[] {
  return Object.entries(properties).flatMap(([field, schema]) => {
    const message = faultOf(content[field], schema, required.includes(field))
    return message === undefined ? [] : [{ field, message }]
  })
}

function faultOf(value: unknown, field: RequestedField, isRequired: boolean): string | undefined {
  if (value === undefined) return isRequired ? 'is required' : undefined
  const { type, minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity } = field
  const choices = field.enum ?? field.oneOf?.map((choice) => choice.const)
  if (type === 'array') return faultOfList(value, field)
  if (choices !== undefined)
    return choices.includes(value as string) ? undefined : `must be one of ${choices.join(', ')}`
  if (type === 'boolean') return typeof value === 'boolean' ? undefined : 'must be true or false'
  if (type === 'string') {
    if (typeof value !== 'string') return 'must be text'
    return value.length >= minLength && value.length <= maxLength
      ? undefined
      : `must have ${minLength} to ${maxLength} characters`
  }
  if (typeof value !== 'number') return 'must be a number'
  if (type === 'integer' && !Number.isInteger(value)) return 'must be a whole number'
  return value >= minimum && value <= maximum ? undefined : `must be from ${minimum} to ${maximum}`
}

function faultOfList(
  value: unknown,
  { items, minItems = 0, maxItems = Infinity }: RequestedField,
): string | undefined {
  const choices = items?.enum ?? items?.anyOf?.map((choice) => choice.const) ?? []
  if (!Array.isArray(value) || !value.every((one) => choices.includes(one as string)))
    return `must be a list of ${choices.join(', ')}`
  return value.length >= minItems && value.length <= maxItems
    ? undefined
    : `must have ${minItems} to ${maxItems} entries`
}
