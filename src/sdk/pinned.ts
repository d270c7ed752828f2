/** Objects that keep their members when somebody replaces their prototype, as Express does with every request and response. */

/** By prototype. */
const known = new WeakMap<object, PropertyDescriptorMap>()

/** The members of a class and of those it extends, up to `until`, as properties that hold on the object itself. */
export function membersOf(from: object, until: object): PropertyDescriptorMap {
  const found = known.get(from)
  if (found !== undefined) return found
  const members: Record<PropertyKey, PropertyDescriptor> = Object.create(null)
  for (let level = from; level !== until; level = Object.getPrototypeOf(level) as object) {
    for (const name of Reflect.ownKeys(level)) {
      if (name === 'constructor' || name in members) continue
      members[name] = {
        ...Object.getOwnPropertyDescriptor(level, name)!,
        enumerable: false,
        configurable: true,
      }
    }
  }
  known.set(from, members)
  return members
}

/** Writes members over those of a class. Code in middleware may replace them again. */
export function override(object: object, members: { readonly [name: string]: unknown }): void {
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true })
}
