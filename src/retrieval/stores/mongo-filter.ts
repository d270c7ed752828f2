/** Filters for stores whose own language is MongoDB's, or a part of it. */
import { type Condition, type Leaf, toFilter } from '../filter.ts'
import { unsupported } from '../store.ts'

export interface MongoDialect {
  readonly store: string
  /** Operators that the store supports. */
  readonly operators: readonly Condition['op'][]
  /** Whether `$gt` and similar operators compare strings. */
  readonly ordersTexts: boolean
  /** Why a field or value cannot be used; undefined if it can. */
  readonly refuse?: (condition: Leaf) => string | undefined
}

/** @throws VectorStoreError naming an operator that the store lacks. */
export function toMongoFilter(condition: Condition, dialect: MongoDialect): object {
  check(condition, dialect)
  return toFilter(condition)
}

function check(condition: Condition, dialect: MongoDialect): void {
  const { store, operators, ordersTexts, refuse } = dialect
  if (!operators.includes(condition.op)) throw unsupported(store, `$${condition.op}`)
  if (condition.op === 'and' || condition.op === 'or') {
    for (const one of condition.all) check(one, dialect)
    return
  }
  if (condition.op === 'not') {
    check(condition.one, dialect)
    return
  }
  if (
    /^[gl]te?$/.test(condition.op) &&
    !ordersTexts &&
    'value' in condition &&
    typeof condition.value === 'string'
  )
    throw unsupported(store, `$${condition.op} with a string`)
  const reason = refuse?.(condition)
  if (reason !== undefined) throw unsupported(store, reason)
}
