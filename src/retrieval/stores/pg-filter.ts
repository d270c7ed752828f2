/** Filters as SQL conditions on a `jsonb` column of Postgres. Names and values are parameters, and never part of the SQL. */
import type { Condition, Leaf, Scalar } from '../filter.ts'

/** Every parameter is text with a cast in the SQL, so that drivers do not convert it. */
export class PgParameters {
  readonly values: string[] = []

  /** Adds a value, and returns its placeholder. */
  add(value: string, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::text${type === 'text' ? '' : `::${type}`}`
  }
}

const OPERATORS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** A condition that is true or false for every row, never unknown. */
export function toPgCondition(condition: Condition, parameters: PgParameters): string {
  switch (condition.op) {
    case 'and':
    case 'or': {
      const all = condition.all.map((one) => toPgCondition(one, parameters))
      return `(${all.join(condition.op === 'and' ? ' AND ' : ' OR ')})`
    }
    case 'not':
      return `(NOT ${toPgCondition(condition.one, parameters)})`
    default:
      return toLeaf(condition, pathOf(condition.field, parameters), parameters)
  }
}

function toLeaf(leaf: Leaf, path: string, parameters: PgParameters): string {
  switch (leaf.op) {
    case 'eq':
      // The containment is redundant, but can use an index on the column.
      return isTrue(
        `metadata @> ${json(nested(leaf.field, leaf.value), parameters)} AND ${path} = ${json(leaf.value, parameters)}`,
      )
    case 'ne':
      return `(${path} IS DISTINCT FROM ${json(leaf.value, parameters)})`
    case 'in':
      return isTrue(`${path} IN (SELECT jsonb_array_elements(${json(leaf.values, parameters)}))`)
    case 'nin':
      return `(NOT ${isTrue(`${path} IN (SELECT jsonb_array_elements(${json(leaf.values, parameters)}))`)})`
    case 'exists':
      return `(coalesce(jsonb_typeof(${path}), 'null') ${leaf.value ? '<>' : '='} 'null')`
    case 'contains':
      return toContains(leaf.value, path, parameters)
    default:
      return isTrue(toComparison(leaf.value, `${path}`, OPERATORS[leaf.op], parameters))
  }
}

function toComparison(value: Scalar, path: string, operator: string, parameters: PgParameters): string {
  if (typeof value === 'number')
    return `jsonb_typeof(${path}) = 'number' AND ${path} ${operator} ${json(value, parameters)}`
  const text = parameters.add(String(value), 'text')
  return `jsonb_typeof(${path}) = 'string' AND (${path} #>> '{}') COLLATE "C" ${operator} ${text}`
}

function toContains(value: Scalar, path: string, parameters: PgParameters): string {
  const element = `jsonb_typeof(${path}) = 'array' AND ${path} @> ${json([value], parameters)}`
  if (typeof value !== 'string') return isTrue(element)
  const part = `jsonb_typeof(${path}) = 'string' AND strpos(${path} #>> '{}', ${parameters.add(value, 'text')}) > 0`
  return isTrue(`(${element}) OR (${part})`)
}

function isTrue(sql: string): string {
  return `coalesce(${sql}, false)`
}

function json(value: unknown, parameters: PgParameters): string {
  return parameters.add(JSON.stringify(value), 'jsonb')
}

/** Only by name, since array elements have no names. */
function pathOf(field: string, parameters: PgParameters): string {
  const names = field.split('.').map((name) => parameters.add(name, 'text'))
  return `(metadata -> ${names.join(' -> ')})`
}

function nested(field: string, value: Scalar): object {
  return field
    .split('.')
    .reduceRight<unknown>((inner, name) => Object.fromEntries([[name, inner]]), value) as object
}
