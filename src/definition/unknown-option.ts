/**
 * Refuses options that do not exist, or whose value is of another kind: an ignored option, misspelt or from another framework, could leave
 * open what it should close, and so could "false" as a string.
 */
import { type KindOf, mismatch } from './option-kind.ts'

type NameIn<Options> = Options extends unknown ? keyof Options : never
type ValueIn<Options, Name> = Options extends unknown
  ? Name extends keyof Options
    ? Options[Name]
    : never
  : never

/**
 * All names of an options type, or of a union of them, with the kind of each value. A list with a name too few or too many, or with
 * another kind, does not compile.
 */
export type Names<Options> = { readonly [name in NameIn<Options>]: KindOf<ValueIn<Options, name>> }

/** For a generic parameter, where TypeScript does not look for excess members. */
export type Known<Given, Options> = { readonly [name in Exclude<keyof Given, NameIn<Options>>]: never }

/** What other frameworks call our options. */
const ELSEWHERE: { readonly [name: string]: string } = {
  _meta: 'mcp._meta',
  annotations: 'mcp.annotations',
  callback: 'execute',
  destructiveHint: 'annotations.destructiveHint',
  handler: 'execute',
  icons: 'mcp.icons',
  idempotentHint: 'annotations.idempotentHint',
  name: 'id',
  openWorldHint: 'annotations.openWorldHint',
  parameters: 'inputSchema',
  permissions: 'scopes',
  readOnlyHint: 'annotations.readOnlyHint',
  roles: 'scopes',
  tenant: 'filter',
  where: 'filter',
}

/** What other frameworks pass to their server, by where it belongs here. */
const NOT_OF_SERVERS: { readonly [name: string]: string } = {
  cors: 'a matter of http.allowedOrigins',
  host: 'the option "hostname" of serve',
  hostname: 'an option of serve',
  path: 'chosen where the server is mounted',
  port: 'an option of serve',
  transport: 'chosen by what serves it: serve, or mayfly stdio',
}

/**
 * @param where The function or the option that the user wrote, as in `jwt` or `"http" of MCPServer`.
 * @param known From `Names`.
 * @throws TypeError for a name that is not in `known`, a value of another kind, and for anything but an object.
 */
export function refuseUnknown(where: string, given: unknown, known: object): void {
  if (given !== undefined) requireOptions(where, given, known)
}

/** The same for options that must be given, and in them the `needed` ones. */
export function requireOptions(where: string, given: unknown, known: object, ...needed: string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError(`${where} needs an object with options: ${Object.keys(known).join(', ')}.`)
  // Without a copy of the names; what a class of the old style lists beside its own members is not an option.
  for (const name in given) {
    if (Object.hasOwn(known, name) || !Object.hasOwn(given, name)) continue
    const names = Object.keys(known)
    const near = nearest(name, names)
    const place =
      where === 'MCPServer' && Object.hasOwn(NOT_OF_SERVERS, name) ? NOT_OF_SERVERS[name] : undefined
    const meant = place ? `it is ${place}.` : near && `did you mean "${near}"?`
    const remedy = meant ? `${meant} Its` : 'its'
    throw new TypeError(`${where} has no option "${name}": ${remedy} options are ${names.join(', ')}.`)
  }
  for (const one of needed)
    if ((given as Named)[one] === undefined) throw new TypeError(`${where} needs "${one}".`)
  refuseKinds(where, given as Named, known as Named)
}

type Named = { readonly [name: string]: unknown }

/**
 * Copies nothing, and takes no kind apart for a value that is right: a server may have hundreds of tools, and its first call waits for their
 * checks.
 *
 * @throws TypeError for the first value that is not of the kind in `known`; names that are not in it may have any.
 */
function refuseKinds(where: string, given: Named, known: Named): void {
  for (const name in given) {
    const value = given[name]
    const kind = known[name]
    if (value === undefined || kind === 1 || (value && typeof value === kind)) continue
    const wrong = mismatch(kind, value)
    if (!wrong || !Object.hasOwn(given, name)) continue
    const quoted = where.replace(/^"([\w.]+)"/, `"$1.${name}"`)
    throw new TypeError(`${quoted === where ? `"${name}" of ${where}` : quoted} must be ${wrong}.`)
  }
}

/** Names that only a wish for access control explains. */
const GUARDING = /scope|permission|role|tenant|enabled|auth(?!ors?$)|^where$/i

/** The same, unless they say that there is none. */
const RESTRICTING =
  /^(?:disabled|hidden|private|guard|access|acl|canExecute|canAccess|securitySchemes|(?:needs|require)Approval)$/i

/** Whether a member can only be meant to keep callers out. */
export function isGuarding(name: string, value: unknown): boolean {
  return GUARDING.test(name) || (value !== undefined && value !== false && RESTRICTING.test(name))
}

/**
 * For objects of other frameworks, which may have more members: refuses only those that look like one of ours, or like access control.
 *
 * @throws TypeError naming the member, also for a value of another kind.
 */
export function refuseMisspelt(where: string, given: object, known: object): void {
  for (const name in given) {
    if (Object.hasOwn(known, name) || !Object.hasOwn(given, name)) continue
    const names = Object.keys(known)
    const near = name.length > 3 && closest(name, names, name.length > 7 ? 2 : 1)
    if (near || isGuarding(name, (given as Named)[name])) refuseUnknown(where, { [name]: 1 }, known)
  }
  refuseKinds(where, given as Named, known as Named)
}

/** The name that a user probably meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const listed = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined
  if (listed !== undefined && known.includes(listed.split('.')[0]!)) return listed
  return (
    closest(name, known, name.length > 3 ? Math.max(2, name.length / 3) : 1) ??
    known.find((one) => !OPENING.test(one) && (isPart(name, one) || isPart(one, name)))
  )
}

const stem = (name: string): string => name.toLowerCase().replace(/s$/, '')
/** Never suggested for a part of their name. */
const OPENING = /^(?:trusted|allow(?!ed))/

/** From the start of a word: "port" is not a part of "trustedTransport". */
function isPart(long: string, short: string): boolean {
  const words = long.split(/(?=[A-Z])/)
  return (
    stem(short).length > 3 && words.some((_, at) => stem(words.slice(at).join('')).startsWith(stem(short)))
  )
}

/** The name that differs in the fewest characters, at most `most`. */
function closest(name: string, known: readonly string[], most: number): string | undefined {
  let found: string | undefined
  let fewest = most + 1
  for (const one of known) {
    const differing = difference(name.toLowerCase(), one.toLowerCase())
    // "path" is not "auth".
    const isShort = differing > 1 && name.length < 6 && name[0]?.toLowerCase() !== one[0]
    if (differing < fewest && !isShort) [found, fewest] = [one, differing]
  }
  return found
}

/** The length of what is between the common start and the common end: 1 for a missing or another character, 2 for a swap. */
function difference(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++
  return Math.max(a.length, b.length) - start - end
}
