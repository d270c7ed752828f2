/** Values that are made from the environment of the requests. */
import type { Env } from './context.ts'

/** Environments remembered if each request brings an object of its own. */
const MAX_COPIES = 8

interface Made<Thing> {
  readonly env: object
  readonly thing: Thing | undefined
}

/**
 * Returns a function that finds the value for an environment. A function is called once for each environment: for each object, and once for
 * several objects with the same variables, since some platforms copy theirs for each request. If it throws, it is called again.
 */
export function forEnv<Thing extends object>(
  given: Thing | ((env: Env) => Thing | undefined) | undefined,
): (env: unknown) => Thing | undefined {
  if (typeof given !== 'function') return () => given
  const byObject = new WeakMap<object, Made<Thing>>()
  const recent: Made<Thing>[] = []
  return (value) => {
    const env = typeof value === 'object' && value !== null ? value : NO_ENV
    const known = byObject.get(env) ?? recent.find((made) => isSame(made.env, env))
    const made = known ?? { env: { ...env }, thing: given(env as Env) }
    if (known === undefined) {
      if (recent.length >= MAX_COPIES) recent.shift()
      recent.push(made)
    }
    byObject.set(env, made)
    return made.thing
  }
}

const NO_ENV = {}

/** Compares the variables, one level deep: bindings are the same objects. */
function isSame(one: object, other: object): boolean {
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  return names.every(
    (name) => Object.hasOwn(other, name) && Reflect.get(one, name) === Reflect.get(other, name),
  )
}
