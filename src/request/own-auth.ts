/** The caller as given to the code of tools: each call gets a copy, since a verifier may return the same object for many requests. */
import type { AuthInfo } from '../definition/context.ts'
import { isPlain } from '../definition/is-object.ts'

/**
 * Copies a caller: its scopes, and the plain data in `extra` at every depth. Instances of classes and functions stay the same objects.
 * What one call changes in its copy is in no other call, and changes nobody's access.
 */
export function ownAuth(auth: AuthInfo): AuthInfo {
  return {
    ...auth,
    scopes: [...auth.scopes],
    ...(auth.extra !== undefined && { extra: ownData(auth.extra) as Record<string, unknown> }),
  }
}

/** The same for any value. */
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
