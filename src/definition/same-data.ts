/** Whether a copy of data was changed. */
import { isPlain } from './is-object.ts'

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
