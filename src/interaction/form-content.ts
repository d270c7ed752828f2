/** Validates a user's answer to a form against the schema that the client received (MCP 2026-07-28, "Requested Schema"). */

/** A form as the client receives it (MCP 2026-07-28, "Requested Schema"). */
export interface RequestedSchema {
  readonly type?: 'object' | undefined
  readonly properties: { readonly [field: string]: RequestedField }
  readonly required?: readonly string[] | undefined
}

interface RequestedField {
  readonly type?: string | undefined
  readonly default?: unknown
  readonly enum?: readonly string[] | undefined
  readonly oneOf?: readonly { readonly const: string }[]
  readonly items?: {
    readonly enum?: readonly string[] | undefined
    readonly anyOf?: readonly { readonly const: string }[]
  }
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
}

/** The errors in `content`, by field; an empty list if it is valid. Formats are not checked. */
export function validate(
  schema: RequestedSchema,
  content: { readonly [field: string]: unknown },
): { readonly field: string; readonly message: string }[] {
  const { properties, required = [] } = requireForm(schema)
  return Object.entries(properties).flatMap(([field, fieldSchema]) => {
    const value = Object.hasOwn(content, field) ? content[field] : undefined
    const message = faultOf(value, fieldSchema, required.includes(field))
    return message === undefined ? [] : [{ field, message }]
  })
}

function faultOf(value: unknown, field: RequestedField, isRequired: boolean): string | undefined {
  if (value === undefined) return isRequired ? 'is required' : undefined
  const { type, minimum, maximum, minLength, maxLength } = field
  const choices = field.enum ?? field.oneOf?.map((choice) => choice.const)
  if (type === 'array') return faultOfList(value, field)
  if (choices !== undefined)
    return choices.includes(value as string) ? undefined : `must be one of ${choices.join(', ')}`
  if (type === 'boolean') return typeof value === 'boolean' ? undefined : 'must be true or false'
  if (type === 'string') {
    if (typeof value !== 'string') return 'must be text'
    return outside(value.length, minLength, maxLength, 'must have', ' characters')
  }
  if (typeof value !== 'number') return 'must be a number'
  if (type === 'integer' && !Number.isInteger(value)) return 'must be a whole number'
  return outside(value, minimum, maximum, 'must be', '')
}

function faultOfList(value: unknown, { items, minItems, maxItems }: RequestedField): string | undefined {
  const choices = items?.enum ?? items?.anyOf?.map((choice) => choice.const) ?? []
  if (!Array.isArray(value) || !value.every((one) => choices.includes(one as string)))
    return `must be a list of ${choices.join(', ')}`
  return outside(value.length, minItems, maxItems, 'must have', ' entries')
}

function outside(
  value: number,
  least = Number.NEGATIVE_INFINITY,
  most = Number.POSITIVE_INFINITY,
  verb: string,
  unit: string,
): string | undefined {
  if (value < least) return `${verb} at least ${least}${unit}`
  return value > most ? `${verb} at most ${most}${unit}` : undefined
}

/** @throws TypeError for anything but the schema of a form. */
export function requireForm(schema: RequestedSchema): RequestedSchema {
  if (typeof schema?.properties === 'object' && schema.properties !== null) return schema
  throw new TypeError('The schema of a form is missing: { type: "object", properties }.')
}
