/** Copies of data for one caller, and whether a copy was changed. */
import { isPlain } from './is-object.ts'

/** Copies plain data at every depth, with Dates, Maps and Sets. Instances of classes and functions stay the same objects. */
export function ownData(value: unknown): unknown {
  return copyOf(value, new Map())
}

/** `copies`: by original, for values that are contained more than once or in themselves. */
function copyOf(value: unknown, copies: Map<unknown, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const known = copies.get(value)
  if (known !== undefined) return known
  if (Array.isArray(value)) {
    const list: unknown[] = []
    copies.set(value, list)
    for (const item of value) list.push(copyOf(item, copies))
    return list
  }
  if (value instanceof Date) return new Date(value)
  if (value instanceof Map) {
    const map = new Map<unknown, unknown>()
    copies.set(value, map)
    for (const [key, item] of value) map.set(copyOf(key, copies), copyOf(item, copies))
    return map
  }
  if (value instanceof Set) {
    const set = new Set<unknown>()
    copies.set(value, set)
    for (const item of value) set.add(copyOf(item, copies))
    return set
  }
  return isPlain(value) ? copyOfObject(value, copies) : value
}

function copyOfObject(original: object, copies: Map<unknown, unknown>): object {
  const copy: object = Object.create(Object.getPrototypeOf(original))
  copies.set(original, copy)
  for (const [name, item] of Object.entries(original)) {
    // Defined, since an assignment to `__proto__` would set the prototype.
    const value = copyOf(item, copies)
    Object.defineProperty(copy, name, { value, writable: true, enumerable: true, configurable: true })
  }
  return copy
}

/** Whether a copy made by `ownData` has the same data. The order of members does not count, nor do those that are undefined. */
export function isSameData(one: unknown, other: unknown): boolean {
  return isSame(one, other, new Map())
}

/** `known`: what each value is being compared with, for values that contain themselves. */
function isSame(one: unknown, other: unknown, known: Map<unknown, Set<unknown>>): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const others = known.get(one) ?? new Set()
  if (others.has(other)) return true
  known.set(one, others.add(other))
  const areSame = (some: readonly unknown[], others: readonly unknown[]): boolean =>
    some.length === others.length && some.every((item, index) => isSame(item, others[index], known))
  if (Array.isArray(one)) return Array.isArray(other) && areSame(one, other)
  if (one instanceof Date) return other instanceof Date && Object.is(one.getTime(), other.getTime())
  if (one instanceof Map || one instanceof Set)
    return one.constructor === other.constructor && areSame([...one], [...(other as Set<unknown>)])
  if (!isPlain(one) || !isPlain(other)) return false
  const names = namesIn(one)
  return (
    names.length === namesIn(other).length &&
    names.every(
      (name) => Object.hasOwn(other, name) && isSame(Reflect.get(one, name), Reflect.get(other, name), known),
    )
  )
}

function namesIn(object: object): string[] {
  return Object.keys(object).filter((name) => Reflect.get(object, name) !== undefined)
}
