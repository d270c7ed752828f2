/** Values of providers that may come from the environment of a request. */
import type { Env } from '../../definition/context.ts'
import { UpstreamFault } from './upstream.ts'

/** A value, or a function that reads it: `(env) => env.GOOGLE_SECRET`. */
export type Setting = string | ((env: Env) => unknown)

/** What `Names` says of a `Setting`. */
export const SETTING = 'string function'

const NO_ENV: Env = {}

/** @throws UpstreamFault naming the option, if the value is not set, blank or no string. */
export function readSetting(where: string, option: string, setting: Setting, env: unknown): string {
  const value = readFrom(setting, env)
  if (isPromise(value))
    throw new UpstreamFault(
      'misconfigured',
      `"${option}" of ${where} must not be async: it returned a promise.`,
    )
  if (isGiven(value)) return value
  if (value !== undefined && value !== null && typeof value !== 'string')
    throw new UpstreamFault(
      'misconfigured',
      `"${option}" of ${where} must be a string: its function returned something else.`,
    )
  const { unset } = readVariables(env, (given) => readFrom(setting, given))
  const what = unset.length === 0 ? 'is the variable that it comes from set?' : `set ${unset.join(' and ')}.`
  throw new UpstreamFault('misconfigured', `"${option}" of ${where} is not set: ${what}`)
}

/** The variables that `read` asks for, and those of them that are not set, in the order in which it does. */
export function readVariables(
  env: unknown,
  read: (env: Env) => unknown,
): { readonly variables: readonly string[]; readonly unset: readonly string[] } {
  const variables = new Set<string>()
  const unset = new Set<string>()
  const given = typeof env === 'object' && env !== null ? (env as Env) : NO_ENV
  read(
    new Proxy(given, {
      get(values, name) {
        const value: unknown = Reflect.get(values, name)
        if (typeof name !== 'string') return value
        variables.add(name)
        if (value !== undefined && (typeof value !== 'string' || isGiven(value))) return value
        unset.add(name)
        // Goes on to the next one, as if this one was set.
        return 'unset'
      },
    }),
  )
  return { variables: [...variables], unset: [...unset] }
}

/** A string at construction must be one: an empty or blank variable is not a value. */
export function checkSettings(
  where: string,
  given: { readonly [option: string]: Setting | undefined },
): void {
  for (const [option, setting] of Object.entries(given)) {
    if (typeof setting === 'string' && !isGiven(setting))
      throw new TypeError(`"${option}" of ${where} is empty: is the variable that it comes from set?`)
  }
}

/**
 * An option that says who may sign in must have a value if it is given: a variable that is not set would let everyone in.
 *
 * @throws TypeError naming the option.
 */
export function refuseUndefined(where: string, given: object, ...options: readonly string[]): void {
  for (const option of options) {
    if (
      !Object.hasOwn(given, option) ||
      (given as { readonly [name: string]: unknown })[option] !== undefined
    )
      continue
    const cause = 'is the variable that it comes from set? Without the option, more people may sign in.'
    throw new TypeError(`"${option}" of ${where} is undefined: ${cause}`)
  }
}

/**
 * What is listed by name: the members of a list would be 0 and 1, and a map or a function has none.
 *
 * @throws TypeError saying what the option `where` must have.
 */
export function requireRecord(where: string, given: unknown, what: string): void {
  if (Object.prototype.toString.call(given) !== '[object Object]')
    throw new TypeError(`${where} must have ${what}.`)
}

/** Whether a function that must answer now was async. One that rejects would end the process of Node. */
export function isPromise(value: unknown): boolean {
  const then = typeof value === 'object' && value !== null && 'then' in value ? value.then : undefined
  if (typeof then !== 'function') return false
  void Promise.resolve(value).catch(() => {})
  return true
}

/** Blanks are what a variable has that somebody meant to fill in. */
function isGiven(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function readFrom(setting: Setting, env: unknown): unknown {
  if (typeof setting !== 'function') return setting
  try {
    return setting(typeof env === 'object' && env !== null ? (env as Env) : NO_ENV)
  } catch {
    // Such as a member of a binding that is not there.
    return undefined
  }
}
