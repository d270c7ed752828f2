/** Copies of data for one caller. */
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
  const copy: Record<string, unknown> = Object.create(Object.getPrototypeOf(original))
  copies.set(original, copy)
  for (const [name, item] of Object.entries(original)) {
    const value = copyOf(item, copies)
    // An assignment could set the prototype, or be refused by a frozen one.
    if (name in copy)
      Object.defineProperty(copy, name, { value, writable: true, enumerable: true, configurable: true })
    else copy[name] = value
  }
  return copy
}
