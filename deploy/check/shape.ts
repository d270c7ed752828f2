/** The shape of a value in a message, and a description of the first error. */
import { isObject } from '../../src/definition/is-object.ts'
import { cite, quote } from './safe-text.ts'

/** The error of a value at `place`: `"description" is null, not a string`. Undefined if it is valid. */
export type Shape = (value: unknown, place: string) => string | undefined

export const string: Shape = of('a string', (value) => typeof value === 'string')
export const boolean: Shape = of('a boolean', (value) => typeof value === 'boolean')
export const number: Shape = of('a number', (value) => typeof value === 'number')
export const anyObject: Shape = of('an object', isObject)
export const priority: Shape = of(
  'a number from 0 to 1',
  (value) => typeof value === 'number' && value >= 0 && value <= 1,
)
/** ISO 8601 as official clients accept it, with seconds and with `Z` or an offset. */
export const dateTime: Shape = of(
  'a date and time with an offset',
  (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
)

export function oneOf(...values: readonly string[]): Shape {
  return of(`one of ${values.join(', ')}`, (value) => values.some((each) => each === value))
}

export function array(item: Shape): Shape {
  return (value, place) => {
    if (!Array.isArray(value)) return fault(value, place, 'an array')
    return first(value, (each, index) => item(each, `${place}[${index}]`))
  }
}

export function record(member: Shape): Shape {
  return (value, place) => {
    if (!isObject(value)) return fault(value, place, 'an object')
    return first(Object.entries(value), ([name, each]) => member(each, `${place}.${cite(name)}`))
  }
}

/** An object with these members; others are allowed. A member that is present must match, even if it is optional. */
export function object(
  required: { readonly [name: string]: Shape },
  optional: { readonly [name: string]: Shape } = {},
): Shape {
  return (value, place) => {
    if (!isObject(value)) return fault(value, place, 'an object')
    const at = (name: string): string => (place === '' ? name : `${place}.${name}`)
    const missing = Object.keys(required).find((name) => value[name] === undefined)
    if (missing !== undefined) return `${at(missing)} is missing`
    return first(Object.entries({ ...required, ...optional }), ([name, shape]) =>
      value[name] === undefined ? undefined : shape(value[name], at(name)),
    )
  }
}

function of(name: string, fits: (value: unknown) => boolean): Shape {
  return (value, place) => (fits(value) ? undefined : fault(value, place, name))
}

function fault(value: unknown, place: string, expected: string): string {
  return `${place || 'it'} is ${nameOf(value)}, not ${expected}`
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? quote(value) : String(value)
}

function first<T>(
  values: readonly T[],
  judge: (value: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, value] of values.entries()) {
    const found = judge(value, index)
    if (found !== undefined) return found
  }
  return undefined
}
