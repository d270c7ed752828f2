/**
 * Filters of Qdrant: `must`, `should` and `must_not` around conditions on one key.
 */
import type { Condition, Scalar } from '../filter.ts'
import { unsupported } from '../store.ts'

/** A clause, or a condition on one key. */
export type QdrantFilter = { readonly [clause: string]: unknown }

/** @throws VectorStoreError naming an unsupported part. */
export function toQdrantFilter(condition: Condition): QdrantFilter {
  switch (condition.op) {
    case 'and':
      return { must: condition.all.map(toQdrantFilter) }
    case 'or':
      return { should: condition.all.map(toQdrantFilter) }
    case 'not':
      return { must_not: [toQdrantFilter(condition.one)] }
    case 'eq':
    case 'contains':
      return { must: [isEqual(condition.field, condition.value)] }
    case 'ne':
      return { must_not: [isEqual(condition.field, condition.value)] }
    case 'in':
    case 'nin':
      return toList(condition.op, condition.field, condition.values)
    case 'exists':
      return { [condition.value ? 'must_not' : 'must']: [{ is_empty: { key: toKey(condition.field) } }] }
    default:
      if (typeof condition.value === 'string') throw unsupported('Qdrant', `$${condition.op} with a string`)
      return { must: [{ key: toKey(condition.field), range: { [condition.op]: condition.value } }] }
  }
}

/** Numbers become a range, since `match` does not accept fractions. */
function isEqual(field: string, value: Scalar): QdrantFilter {
  const key = toKey(field)
  return typeof value === 'number' ? { key, range: { gte: value, lte: value } } : { key, match: { value } }
}

function toList(op: 'in' | 'nin', field: string, values: readonly Scalar[]): QdrantFilter {
  if (values.length === 0) throw unsupported('Qdrant', `$${op} with an empty list`)
  return { [op === 'in' ? 'should' : 'must_not']: values.map((value) => isEqual(field, value)) }
}

/** Other characters have a special meaning in Qdrant's paths. */
function toKey(field: string): string {
  if (/^[\w-]+(?:\.[\w-]+)*$/.test(field)) return field
  throw unsupported('Qdrant', 'a field with other characters than letters, digits, _, - and dots in its name')
}
