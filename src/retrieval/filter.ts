/**
 * The one filter language of all stores: MongoDB's operators, parsed into a tree of a few shapes. A store only receives and translates the
 * tree.
 */

/** A value that a field is compared with. */
export type Scalar = string | number | boolean

/** The operators on one field. */
export interface FieldFilter {
  readonly $eq?: Scalar
  readonly $ne?: Scalar
  readonly $gt?: string | number
  readonly $gte?: string | number
  readonly $lt?: string | number
  readonly $lte?: string | number
  readonly $in?: readonly Scalar[]
  readonly $nin?: readonly Scalar[]
  readonly $exists?: boolean
  /** The field is an array with this element, or a string with this substring. */
  readonly $contains?: Scalar
  readonly $not?: FieldFilter
}

/**
 * Conditions on a chunk's metadata, all of which must be met: `{ lang: 'en', year: { $gte: 2024 } }`. A dot in a name refers to a nested
 * object.
 */
export type Filter = {
  readonly $and?: readonly Filter[]
  readonly $or?: readonly Filter[]
  readonly $not?: Filter
} & { readonly [field: string]: unknown }

export type Comparison = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte'

/** One member of a union for each of `Op`, so that the compiler can tell them apart by `op`. */
type ForEach<Op, Members> = Op extends string ? { readonly op: Op } & Members : never

/** A parsed condition on one field. */
export type Leaf =
  | ForEach<Comparison | 'contains', { readonly field: string; readonly value: Scalar }>
  | ForEach<'in' | 'nin', { readonly field: string; readonly values: readonly Scalar[] }>
  | ForEach<'exists', { readonly field: string; readonly value: boolean }>

/** A parsed filter. */
export type Condition =
  | ForEach<'and' | 'or', { readonly all: readonly Condition[] }>
  | ForEach<'not', { readonly one: Condition }>
  | Leaf

/** An invalid filter, with a message that helps a model to correct it. */
export class FilterError extends Error {
  readonly code = 'INVALID_FILTER'
  override readonly name = 'FilterError'
}

const MAX_CONDITIONS = 100
const MAX_DEPTH = 8
/** Maximum values of one list, and of all conditions together. */
const MAX_VALUES = 1000
const MAX_CHARACTERS = 8192
/** Maximum characters of all strings together, since each row may be compared with every one. */
const MAX_ALL_CHARACTERS = 65_536
const MAX_FIELD_CHARACTERS = 512
const MAX_JSON_CHARACTERS = 262_144

const OPERATORS = '$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $and, $or, $not, $exists and $contains'

const COMPARISONS: { readonly [operator: string]: Comparison | 'contains' } = {
  $eq: 'eq',
  $ne: 'ne',
  $gt: 'gt',
  $gte: 'gte',
  $lt: 'lt',
  $lte: 'lte',
  $contains: 'contains',
}

/**
 * Parses a filter: an object, or its JSON, as models write it. Undefined for none: `undefined`, `null`, an empty text or object.
 *
 * @throws FilterError that says what is wrong.
 */
export function parseFilter(given: unknown): Condition | undefined {
  const filter = typeof given === 'string' ? parseJson(given) : given
  if (filter === undefined || filter === null) return undefined
  const parser = new Parser()
  const all = parser.object(filter, 1)
  return all.length === 0 ? undefined : join(all)
}

/** Combines conditions with `and`. Undefined ones are omitted. */
export function allOf(conditions: readonly (Condition | undefined)[]): Condition | undefined {
  const given = conditions.filter((one) => one !== undefined)
  return given.length === 0 ? undefined : join(given)
}

/** Writes a parsed filter in full form, with explicit operators and `and`. */
export function toFilter(condition: Condition): Filter {
  switch (condition.op) {
    case 'and':
    case 'or':
      return { [`$${condition.op}`]: condition.all.map(toFilter) }
    case 'not':
      return { $not: toFilter(condition.one) }
    case 'in':
    case 'nin':
      return { [condition.field]: { [`$${condition.op}`]: condition.values } }
    default:
      return { [condition.field]: { [`$${condition.op}`]: condition.value } }
  }
}

function join(all: readonly Condition[]): Condition {
  return all.length === 1 ? all[0]! : { op: 'and', all }
}

function parseJson(text: string): unknown {
  if (text.length > MAX_JSON_CHARACTERS)
    throw new FilterError(`The filter has over ${MAX_JSON_CHARACTERS} characters.`)
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new FilterError('The filter is not valid JSON: send an object.')
  }
}

class Parser {
  #count = 0
  #values = 0
  #characters = 0

  object(filter: unknown, depth: number): Condition[] {
    if (depth > MAX_DEPTH) throw new FilterError(`The filter is nested more than ${MAX_DEPTH} deep.`)
    return entriesOf(filter, 'A filter').map(([key, value]) => {
      if (key === '$and' || key === '$or') return this.#group(key, value, depth)
      if (key === '$not') return { op: 'not', one: this.#some(this.object(value, depth + 1), '$not') }
      if (key.startsWith('$')) throw unknownOperator(key)
      if (key === '' || key.length > MAX_FIELD_CHARACTERS || key.includes('\0'))
        throw new FilterError(`A field's name must have 1 to ${MAX_FIELD_CHARACTERS} characters.`)
      return this.#field(key, value, depth + 1)
    })
  }

  #group(key: '$and' | '$or', value: unknown, depth: number): Condition {
    if (!Array.isArray(value) || value.length === 0)
      throw new FilterError(`${key} takes a list of one or more filters.`)
    const all = value.map((one) => this.#some(this.object(one, depth + 1), key))
    return { op: key === '$and' ? 'and' : 'or', all }
  }

  #field(field: string, value: unknown, depth: number): Condition {
    if (depth > MAX_DEPTH) throw new FilterError(`The filter is nested more than ${MAX_DEPTH} deep.`)
    if (isScalar(value) || value === null)
      return this.#leaf({ op: 'eq', field, value: checked(value, '$eq') })
    const all = entriesOf(value, `The condition on "${field}"`).map(([operator, operand]): Condition => {
      if (operator === '$not') return { op: 'not', one: this.#field(field, operand, depth + 1) }
      return this.#leaf(toLeaf(field, operator, operand))
    })
    return this.#some(all, `"${field}"`)
  }

  #leaf(leaf: Condition): Condition {
    this.#count += 1
    if (this.#count > MAX_CONDITIONS)
      throw new FilterError(`The filter has over ${MAX_CONDITIONS} conditions.`)
    const values = 'values' in leaf ? leaf.values : 'value' in leaf ? [leaf.value] : []
    this.#values += values.length
    for (const value of values) this.#characters += typeof value === 'string' ? value.length : 0
    if (this.#values > MAX_VALUES || this.#characters > MAX_ALL_CHARACTERS)
      throw new FilterError(
        `The filter has over ${MAX_VALUES} values, or ${MAX_ALL_CHARACTERS} characters in them.`,
      )
    return leaf
  }

  #some(all: readonly Condition[], where: string): Condition {
    if (all.length === 0) throw new FilterError(`The filter has an empty condition in ${where}.`)
    return join(all)
  }
}

function toLeaf(field: string, operator: string, operand: unknown): Condition {
  if (operator === '$exists') {
    if (typeof operand !== 'boolean') throw new FilterError('$exists takes true or false.')
    return { op: 'exists', field, value: operand }
  }
  if (operator === '$in' || operator === '$nin') {
    if (!Array.isArray(operand) || operand.length > MAX_VALUES)
      throw new FilterError(`${operator} takes a list of at most ${MAX_VALUES} values.`)
    return {
      op: operator === '$in' ? 'in' : 'nin',
      field,
      values: operand.map((one) => checked(one, operator)),
    }
  }
  if (!Object.hasOwn(COMPARISONS, operator)) throw unknownOperator(operator)
  const value = checked(operand, operator)
  const op = COMPARISONS[operator]!
  if (/^[gl]te?$/.test(op) && typeof value === 'boolean')
    throw new FilterError(`${operator} takes a number or a string.`)
  // The compiler does not distribute a union of 7 literals over the members.
  return { op, field, value } as Leaf
}

function checked(value: unknown, operator: string): Scalar {
  if (!isScalar(value))
    throw new FilterError(
      `${operator} takes a string, a number, true or false. For a missing value, write { $exists: false }.`,
    )
  // Databases do not store NUL in strings.
  if (typeof value === 'string' && (value.length > MAX_CHARACTERS || value.includes('\0')))
    throw new FilterError(`A string in the filter has over ${MAX_CHARACTERS} characters, or contains NUL.`)
  return value
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

function entriesOf(value: unknown, what: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FilterError(`${what} must be an object.`)
  return Object.entries(value)
}

function unknownOperator(operator: string): FilterError {
  return new FilterError(
    `Unknown filter operator "${operator.slice(0, 40)}": the operators are ${OPERATORS}.`,
  )
}
