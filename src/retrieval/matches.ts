/** Applies filters in memory, for in-memory stores and for the nodes of a graph. */
import type { Condition, Scalar } from './filter.ts'

export type Metadata = { readonly [field: string]: unknown }

/** Whether the metadata meets the condition. A comparison with a value of another type is false. */
export function matches(condition: Condition, metadata: Metadata): boolean {
  switch (condition.op) {
    case 'and':
      return condition.all.every((one) => matches(one, metadata))
    case 'or':
      return condition.all.some((one) => matches(one, metadata))
    case 'not':
      return !matches(condition.one, metadata)
    case 'exists':
      return isPresent(valueAt(metadata, condition.field)) === condition.value
    case 'in':
      return condition.values.includes(valueAt(metadata, condition.field) as Scalar)
    case 'nin':
      return !condition.values.includes(valueAt(metadata, condition.field) as Scalar)
    case 'contains':
      return contains(valueAt(metadata, condition.field), condition.value)
    case 'eq':
      return valueAt(metadata, condition.field) === condition.value
    case 'ne':
      return valueAt(metadata, condition.field) !== condition.value
    default:
      return compare(condition.op, valueAt(metadata, condition.field), condition.value)
  }
}

/** The own member of that name, or at that path. */
function valueAt(metadata: Metadata, field: string): unknown {
  let value: unknown = metadata
  for (const name of field.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
      return undefined
    value = (value as Metadata)[name]
  }
  return value
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function contains(value: unknown, part: Scalar): boolean {
  if (Array.isArray(value)) return value.includes(part)
  return typeof value === 'string' && typeof part === 'string' && value.includes(part)
}

function compare(op: 'gt' | 'gte' | 'lt' | 'lte', value: unknown, other: Scalar): boolean {
  if (typeof value !== typeof other || (typeof value !== 'number' && typeof value !== 'string')) return false
  const order = typeof value === 'number' ? value - (other as number) : byCodePoint(value, other as string)
  if (op === 'gt') return order > 0
  if (op === 'gte') return order >= 0
  return op === 'lt' ? order < 0 : order <= 0
}

/**
 * Compares strings in UTF-8 order, like databases, since UTF-16 order puts characters beyond the first plane before U+E000. Stops at the
 * first difference, since a filter compares each row.
 */
function byCodePoint(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  let at = 0
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return at === length ? one.length - other.length : rankAt(one, at) - rankAt(other, at)
}

/** Surrogates, which stand for the other planes, come last. */
function rankAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
