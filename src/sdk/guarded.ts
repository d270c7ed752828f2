/**
 * Scopes for the tools, prompts, resources and methods of a server that knows none: what a caller may not use is refused, and left
 * out of lists. What is not known to be open needs a token that the server's `auth` lets in.
 */
import { invalidParams } from '../definition/protocol-error.ts'
import { isPlainUri } from '../definition/uri.ts'
import { parseFilter } from '../events/subscription.ts'
import { isObject } from '../protocol/json-rpc.ts'
import type { Access, Guarded } from '../request/access.ts'
import { type ResourceKey, toResourceKey } from './resource-keys.ts'

/** Scopes by name; resources by URI or URI template. */
export interface GuardedNames {
  readonly tools?: { readonly [name: string]: readonly string[] }
  readonly prompts?: { readonly [name: string]: readonly string[] }
  /**
   * A template's hold for every URI that a server could serve by it. A URI that is a key itself needs what that key says, and nothing
   * else.
   */
  readonly resources?: { readonly [uriOrTemplate: string]: readonly string[] }
  /** Methods that MCP does not have, and that a server adds. */
  readonly methods?: { readonly [method: string]: readonly string[] }
}

type Params = { readonly [name: string]: unknown }

/** The methods that need no token on a server with anonymous access. Lists are filtered. */
const OPEN = new Set([
  'initialize',
  'ping',
  'server/discover',
  'logging/setLevel',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
])

const LISTS = {
  'tools/list': ['tool', 'tools', 'name'],
  'prompts/list': ['prompt', 'prompts', 'name'],
  'resources/list': ['resource', 'resources', 'uri'],
  'resources/templates/list': ['resource', 'resourceTemplates', 'uriTemplate'],
} as const

/** Characters; longer URIs are not looked at. */
const MAX_URI_LENGTH = 8192

/** Compiled once, for each configuration. */
const compiledKeys = new WeakMap<object, readonly ResourceKey[]>()

/**
 * Checks what can be known to be wrong before the first request.
 *
 * @throws TypeError naming the scopes that are not a list of strings, or the invalid URI template.
 */
export function checkScopes(scopes: GuardedNames = {}): void {
  for (const [kind, names] of Object.entries(scopes)) {
    for (const [name, needed] of Object.entries(names as object)) {
      if (Array.isArray(needed) && needed.every((scope) => typeof scope === 'string')) continue
      throw new TypeError(`"scopes.${kind}" of ${JSON.stringify(name)} must be a list of strings.`)
    }
  }
  keysOf(scopes)
}

/**
 * Checks a message, a request or a notification.
 *
 * @throws ProtocolError with HTTP status 401 or 403 where the caller may not use what the message names, and `-32602` where it names
 * nothing that could be told: no name, or a URI that is not in its normal form.
 */
export function checkAccess(
  method: string,
  params: Params,
  access: Access | undefined,
  scopes: GuardedNames | undefined,
): void {
  if (access === undefined || OPEN.has(method)) return
  for (const { kind, name, written = name } of namedBy(method, params)) {
    if (kind === 'resource') checkUri(name, written, access, scopes)
    else {
      const item = guarded(kind, name, scopes)
      if (!access.allows(item)) throw access.refusal(item)
    }
  }
}

interface Named extends Pick<Guarded, 'kind' | 'name'> {
  /** Of a template, a URI that it could be the template of. */
  readonly written?: string
}

/** What a message wants to use. A method that is not MCP's is used itself. */
function namedBy(method: string, params: Params): readonly Named[] {
  switch (method) {
    case 'tools/call':
      return [{ kind: 'tool', name: textIn(params, 'name') }]
    case 'prompts/get':
      return [{ kind: 'prompt', name: textIn(params, 'name') }]
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return [{ kind: 'resource', name: textIn(params, 'uri') }]
    case 'subscriptions/listen': {
      const { resourceSubscriptions = [] } = parseFilter(params.notifications)
      return resourceSubscriptions.map((name) => ({ kind: 'resource', name }))
    }
    case 'completion/complete':
      return [referredTo(isObject(params.ref) ? params.ref : {})]
    default:
      return [{ kind: 'method', name: method }]
  }
}

function referredTo(ref: Params): Named {
  if (ref.type === 'ref/prompt') return { kind: 'prompt', name: textIn(ref, 'name') }
  if (ref.type !== 'ref/resource')
    throw invalidParams('Invalid params: "ref.type" must be "ref/prompt" or "ref/resource".')
  const name = textIn(ref, 'uri')
  return { kind: 'resource', name, written: name.replace(/\{[^{}]*\}/g, 'x') }
}

/** A list's result without what the caller may not use. Anything else as it is. */
export function visibleTo(
  method: string,
  result: unknown,
  access: Access | undefined,
  scopes: GuardedNames | undefined,
): unknown {
  if (access === undefined || !Object.hasOwn(LISTS, method)) return result
  const [kind, member, key] = LISTS[method as keyof typeof LISTS]
  const items = (result as { [name: string]: unknown } | undefined)?.[member]
  if (!Array.isArray(items)) return result
  const visible = items.filter((item) => {
    const name = String(item?.[key])
    return kind === 'resource'
      ? mayUse(name, access, keysOf(scopes))
      : access.allows(guarded(kind, name, scopes))
  })
  return { ...(result as object), [member]: visible, ...('cacheScope' in (result as object) && PRIVATE) }
}

const PRIVATE = { cacheScope: 'private' }

/** @param written the URI as it must be written; of a template, with its expressions filled in. */
function checkUri(uri: string, written: string, access: Access, scopes: GuardedNames | undefined): void {
  if (uri.length > MAX_URI_LENGTH) throw invalidParams(`A URI may have at most ${MAX_URI_LENGTH} characters.`)
  const keys = keysOf(scopes)
  if (!mayUse(uri, access, keys)) throw access.refusal(resource(uri, keysFor(uri, keys)))
  if (!access.isAnonymous && keys.length === 0) return
  const isNamed =
    keys.some(({ key }) => key === uri) || (access.isAnonymous && access.allows(resource(uri, [])))
  if (isNamed || isPlainUri(written)) return
  throw invalidParams(
    'Invalid params: write the URI in its normal form (RFC 3986, 6.2.2), as it is listed.',
    { uri },
  )
}

function mayUse(uri: string, access: Access, keys: readonly ResourceKey[]): boolean {
  const needed = keysFor(uri, keys)
  if (access.allows(resource(uri, needed))) return true
  // A subset may name a template, and no URI that another key keeps.
  return (
    access.isAnonymous &&
    needed.some(({ opens }) => opens(uri)) &&
    needed.every((key) => access.allows(resource(key.key, [key])))
  )
}

/** The keys that hold for a URI, or a template: the one that is spelled alike, or all that might cover it. */
function keysFor(uri: string, keys: readonly ResourceKey[]): readonly ResourceKey[] {
  const own = keys.filter(({ key }) => key === uri)
  return own.length > 0 ? own : keys.filter(({ covers }) => covers(uri))
}

function keysOf(scopes: GuardedNames = {}): readonly ResourceKey[] {
  const { resources = {} } = scopes
  const known = compiledKeys.get(resources)
  if (known !== undefined) return known
  const keys = Object.entries(resources).map(([key, needed]) => toResourceKey(key, needed))
  compiledKeys.set(resources, keys)
  return keys
}

function resource(name: string, keys: readonly ResourceKey[]): Guarded {
  return { kind: 'resource', name, scopes: [...new Set(keys.flatMap(({ scopes }) => scopes))] }
}

function guarded(
  kind: 'tool' | 'prompt' | 'method',
  name: string,
  scopes: GuardedNames | undefined,
): Guarded {
  const ofKind = scopes?.[`${kind}s`]
  return {
    kind,
    name,
    scopes: ofKind !== undefined && Object.hasOwn(ofKind, name) ? ofKind[name] : undefined,
  }
}

function textIn(params: Params, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw invalidParams(`Invalid params: "${name}" must be a string.`)
}
