/** The kinds of values that options take, as data: small in a bundle, and checked in one place. */

/** Numbers from `least` to `most`; default: any finite number from `least`. */
export type Range = readonly [least: number, most?: number]

/** As `least`: any number above 0. */
export const ABOVE_ZERO = Number.MIN_VALUE

/** The values of an enumeration. */
export type Choices<Value extends string> = { readonly [choice in Value]: 1 }

type Kind<Value> = 0 extends 1 & Value
  ? unknown
  : [Value] extends [never]
    ? unknown
    : [Value] extends [boolean]
      ? 'boolean'
      : [Value] extends [number]
        ? Range
        : [Value] extends [string]
          ? string extends Value
            ? 'string'
            : Choices<Value>
          : [Value] extends [(...inputs: never) => unknown]
            ? 'function'
            : [Value] extends [readonly string[]]
              ? 'strings' | 1
              : [Value] extends [object]
                ? 'object' | 1
                : unknown

/** What a table of options must say of an option with values of this type. For unions, kinds with a space between; `1` for what the function itself checks. */
export type KindOf<Value> = Kind<Exclude<Value, undefined>>

const WORDS: { readonly [kind: string]: string } = {
  boolean: 'true or false',
  string: 'a string',
  function: 'a function',
  strings: 'a list of strings',
  object: 'an object',
}

/** What the value must be, and what it is; undefined if it is of its kind. */
export function mismatch(kind: unknown, value: unknown): string | undefined {
  if (typeof kind === 'string') {
    const kinds = kind.split(' ')
    if (kinds.some((one) => isOf(one, value))) return undefined
    // What is not a string may still be a secret: a token of digits.
    return kinds.map((one) => WORDS[one]).join(' or ') + (kind === 'boolean' ? shown(value) : '')
  }
  if (Array.isArray(kind)) return outside(kind as unknown as Range, value)
  if (typeof kind !== 'object' || kind === null) return undefined
  if (typeof value === 'string' && Object.hasOwn(kind, value)) return undefined
  const choices = Object.keys(kind).map((choice) => `"${choice}"`)
  return `${choices.length > 1 ? 'one of ' : ''}${choices.join(', ')}${shown(value)}`
}

function isOf(kind: string, value: unknown): boolean {
  if (kind === 'strings') return Array.isArray(value) && value.every((item) => typeof item === 'string')
  if (kind === 'object') return Object(value) === value
  return typeof value === kind
}

function outside([least, most = Number.MAX_VALUE]: Range, value: unknown): string | undefined {
  if (typeof value === 'number' && value >= least && value <= most) return undefined
  const isAbove = least === ABOVE_ZERO
  const from = isAbove ? ' above 0' : ` from ${least}`
  const to = most < Number.MAX_VALUE ? `${isAbove ? ', up' : ''} to ${most}` : ''
  return `a number${least === -Infinity ? '' : from}${to}${shown(value)}`
}

/** Long strings could be secrets in the wrong place. */
function shown(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return `, not ${value}`
  return typeof value === 'string' && value.length < 16 ? `, not "${value}"` : ''
}
