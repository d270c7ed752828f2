/**
 * Zod objects that a call needs not be written as JSON Schema for: that takes most of a tool's first call.
 */

/** What zod tells libraries of a schema (zod 4, "For library authors"). */
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
  /** Not in zod/mini. */
  readonly meta?: () => { readonly [key: string]: unknown } | undefined
  readonly '~standard': { readonly jsonSchema?: unknown }
}

/** Each can be written as JSON Schema, whatever its checks are. */
const PLAIN_TYPES = ['string', 'number', 'boolean', 'enum']

/** Of a strict object, and of a loose one. */
const CATCHALLS = ['never', 'unknown']

/** A getter may create a schema that contains itself anew each time. */
const MAX_LEVELS = 50

/** Whether it is an object of plain fields, lists and objects, none with an `x-mcp-header`. False also for what is not known. */
export function isPlainZodObject(schema: object): boolean {
  const { _zod: zod, '~standard': standard } = schema as Partial<ZodSchema>
  return (
    zod?.def.type === 'object' && standard?.jsonSchema !== undefined && isPlain(schema, MAX_LEVELS, new Set())
  )
}

/** `seen`: those that it is part of, and those that are plain. */
function isPlain(schema: object, levels: number, seen: Set<object>): boolean {
  if (seen.has(schema)) return true
  seen.add(schema)
  const { _zod: zod, meta } = schema as ZodSchema
  if (levels === 0 || zod.toJSONSchema !== undefined || typeof meta !== 'function') return false
  if ('x-mcp-header' in ((schema as ZodSchema).meta!() ?? {})) return false
  const { type, shape, catchall, element, innerType } = zod.def
  switch (type) {
    case 'object':
      return (
        (catchall === undefined || CATCHALLS.includes(catchall._zod.def.type)) &&
        Object.values(shape!).every((field) => isPlain(field, levels - 1, seen))
      )
    case 'array':
      return isPlain(element!, levels - 1, seen)
    case 'optional':
    case 'nullable':
    case 'default':
      return isPlain(innerType!, levels - 1, seen)
    default:
      return PLAIN_TYPES.includes(type)
  }
}
