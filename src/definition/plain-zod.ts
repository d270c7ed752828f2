/** Recognizes zod objects that a call can use without conversion to JSON Schema, which takes most of the time of a tool's first call. */

/** The part of a schema that zod exposes to libraries (zod 4, "For library authors"). */
interface ZodSchema {
  readonly _zod: {
    readonly def: {
      readonly type: string
      readonly shape?: { readonly [property: string]: ZodSchema }
      readonly catchall?: ZodSchema
      readonly element?: ZodSchema
      readonly innerType?: ZodSchema
    }
    readonly toJSONSchema?: unknown
  }
  /** Missing in zod/mini. */
  readonly meta?: () => { readonly [key: string]: unknown } | undefined
  readonly '~standard': { readonly jsonSchema?: unknown }
}

const PLAIN_TYPES = ['string', 'number', 'boolean', 'enum']

/** Any other metadata becomes part of the JSON Schema and may change its meaning. */
const NOTES = ['title', 'description']

/** A recursive schema would never end. */
const MAX_LEVELS = 10

/**
 * Whether it is an object of plain fields, lists and objects, with only titles and descriptions as metadata: as JSON Schema it is an object
 * without `x-mcp-header`. False if unsure. Never throws.
 */
export function isPlainZodObject(schema: object): boolean {
  try {
    const { _zod: zod, '~standard': standard } = schema as ZodSchema
    return zod.def.type === 'object' && standard.jsonSchema !== undefined && isPlain(schema, MAX_LEVELS)
  } catch {
    // Not a zod schema, or frozen before zod completed it.
    return false
  }
}

function isPlain(schema: object, levels: number): boolean {
  const given = schema as ZodSchema
  const { type, shape, catchall, element, innerType } = given._zod.def
  if (levels === 0 || given._zod.toJSONSchema !== undefined || !hasOnlyNotes(given)) return false
  const isPlainPart = (part: object | undefined): boolean => part !== undefined && isPlain(part, levels - 1)
  switch (type) {
    case 'object':
      return !hasMore(catchall) && Object.values(shape!).every(isPlainPart)
    case 'array':
      return isPlainPart(element)
    case 'optional':
    case 'nullable':
      return isPlainPart(innerType)
    default:
      return PLAIN_TYPES.includes(type)
  }
}

/** Whether an object describes members other than its fields; a strict one describes that there are none. */
function hasMore(catchall: ZodSchema | undefined): boolean {
  return catchall !== undefined && !(catchall._zod.def.type === 'never' && hasOnlyNotes(catchall))
}

function hasOnlyNotes(schema: ZodSchema): boolean {
  if (typeof schema.meta !== 'function') return false
  return Object.entries(schema.meta() ?? {}).every(
    ([name, value]) => NOTES.includes(name) && typeof value === 'string',
  )
}
