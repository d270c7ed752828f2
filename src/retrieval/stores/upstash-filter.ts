/**
 * Filters for Upstash Vector, which only accepts text. Its documentation describes no escapes, so strings that would need one are refused.
 */
import type { Condition, Scalar } from '../filter.ts'
import { unsupported } from '../store.ts'

const OPERATORS = { eq: '=', ne: '!=', gt: '>', gte: '>=', lt: '<', lte: '<=', contains: 'CONTAINS' } as const

/** @throws VectorStoreError naming an unsupported part. */
export function toUpstashFilter(condition: Condition): string {
  switch (condition.op) {
    case 'and':
    case 'or':
      return `(${condition.all.map(toUpstashFilter).join(` ${condition.op.toUpperCase()} `)})`
    case 'not':
      throw unsupported('Upstash', '$not')
    case 'exists':
      return `HAS ${condition.value ? '' : 'NOT '}FIELD ${toField(condition.field)}`
    case 'in':
    case 'nin': {
      if (condition.values.length === 0) throw unsupported('Upstash', `$${condition.op} with an empty list`)
      const list = condition.values.map(toLiteral).join(', ')
      return `${toField(condition.field)} ${condition.op === 'in' ? 'IN' : 'NOT IN'} (${list})`
    }
    default:
      if (/^[gl]te?$/.test(condition.op) && typeof condition.value === 'string')
        throw unsupported('Upstash', `$${condition.op} with a string`)
      return `${toField(condition.field)} ${OPERATORS[condition.op]} ${toLiteral(condition.value)}`
  }
}

/** Keywords of its own language are not valid names. */
const RESERVED = /^(?:and|or|not|in|has|field|glob|contains|true|false)$/i

function toField(field: string): string {
  if (field.split('.').every((name) => /^[A-Za-z_]\w*$/.test(name) && !RESERVED.test(name))) return field
  throw unsupported('Upstash', 'a field with other characters than letters, digits, _ and dots in its name')
}

function toLiteral(value: Scalar): string {
  if (typeof value !== 'string') return typeof value === 'number' ? toNumber(value) : String(value)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are refused.
  if (/[\\\u0000-\u001f]/.test(value) || (value.includes("'") && value.includes('"')))
    throw unsupported('Upstash', 'a string with a backslash, a control character, or both kinds of quotes')
  return value.includes("'") ? `"${value}"` : `'${value}'`
}

function toNumber(value: number): string {
  const text = String(value)
  if (text.includes('e')) throw unsupported('Upstash', 'a number that needs an exponent')
  return text
}
