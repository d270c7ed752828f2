/** Filters as SQL conditions on a column of JSON text of SQLite. Names and values are parameters, and never part of the SQL. */
import type { Condition, Leaf, Scalar } from '../filter.ts'
import { unsupported } from '../store.ts'

const OPERATORS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** A condition that is 1 or 0 for every row, never null. Adds its parameters to `values`. */
export function toSqliteCondition(condition: Condition, values: (string | number)[]): string {
  switch (condition.op) {
    case 'and':
    case 'or': {
      const all = condition.all.map((one) => toSqliteCondition(one, values))
      return `(${all.join(condition.op === 'and' ? ' AND ' : ' OR ')})`
    }
    case 'not':
      return `(NOT ${toSqliteCondition(condition.one, values)})`
    case 'ne':
      return `(NOT ${new Field(condition, values).equals([condition.value])})`
    case 'nin':
      return `(NOT ${new Field(condition, values).equals(condition.values)})`
    default:
      return toLeaf(condition, new Field(condition, values))
  }
}

function toLeaf(leaf: Exclude<Leaf, { op: 'ne' | 'nin' }>, field: Field): string {
  switch (leaf.op) {
    case 'eq':
      return field.equals([leaf.value])
    case 'in':
      return field.equals(leaf.values)
    case 'exists':
      return `(coalesce(${field.type()}, 'null') ${leaf.value ? '<>' : '='} 'null')`
    case 'contains':
      return field.contains(leaf.value)
    default:
      return field.compares(OPERATORS[leaf.op], leaf.value)
  }
}

/** One field of the metadata. Each method adds the parameters of the SQL that it returns, in their order. */
class Field {
  readonly #path: string
  readonly #values: (string | number)[]

  constructor({ field }: Leaf, values: (string | number)[]) {
    // SQLite's paths cannot contain these.
    if (/["\\]/.test(field)) throw unsupported('SQLite', 'a field with a quote or a backslash in its name')
    this.#path = `$${field
      .split('.')
      .map((name) => `."${name}"`)
      .join('')}`
    this.#values = values
  }

  type(): string {
    return `json_type(metadata, ${this.#add(this.#path)})`
  }

  equals(values: readonly Scalar[]): string {
    const texts = values.filter((value) => typeof value === 'string')
    const numbers = values.filter((value) => typeof value === 'number')
    const parts = [
      `(${this.type()} = 'text' AND ${this.#value()} IN (SELECT value FROM json_each(${this.#add(JSON.stringify(texts))})))`,
      `(${this.type()} IN ('integer', 'real') AND ${this.#value()} IN (SELECT value FROM json_each(${this.#add(JSON.stringify(numbers))})))`,
      ...values.filter((value) => typeof value === 'boolean').map((value) => `${this.type()} = '${value}'`),
    ]
    return `coalesce(${parts.join(' OR ')}, 0)`
  }

  compares(operator: string, value: Scalar): string {
    const types = typeof value === 'number' ? `('integer', 'real')` : `('text')`
    return `coalesce(${this.type()} IN ${types} AND ${this.#value()} ${operator} ${this.#add(value as string | number)}, 0)`
  }

  contains(value: Scalar): string {
    const type = this.type()
    const list = this.#add(this.#path)
    const element = toElement(value)
    const found = `(${type} = 'array' AND EXISTS (SELECT 1 FROM json_each(metadata, ${list}) AS element WHERE ${element}${
      typeof value === 'boolean' ? '' : ` AND element.value = ${this.#add(value)}`
    }))`
    if (typeof value !== 'string') return `coalesce(${found}, 0)`
    return `coalesce(${found} OR (${this.type()} = 'text' AND instr(${this.#value()}, ${this.#add(value)}) > 0), 0)`
  }

  #value(): string {
    return `json_extract(metadata, ${this.#add(this.#path)})`
  }

  #add(value: string | number): string {
    this.#values.push(value)
    return '?'
  }
}

function toElement(value: Scalar): string {
  if (typeof value === 'boolean') return `element.type = '${value}'`
  return typeof value === 'string' ? `element.type = 'text'` : `element.type IN ('integer', 'real')`
}
