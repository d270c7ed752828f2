/**
 * Scopes for the tools, prompts, resources and methods of a server that does not support them: what a caller may not use is refused and
 * omitted from lists. Everything that is not explicitly open needs a valid token.
 */
import { isObject } from '../definition/is-object.ts'
import { invalidParams, type ProtocolError } from '../definition/protocol-error.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import { isPlainUri } from '../definition/uri.ts'
import { parseFilter } from '../events/listen-filter.ts'
import { type CallersConfig, requireCallers } from '../http/known-callers.ts'
import { type Access, type Guarded, hidesNames } from '../request/access.ts'
import { type ResourceKey, spelled, toResourceKey } from './resource-keys.ts'

/** Required scopes by name; resources by URI or URI template. */
export interface GuardedNames {
  readonly tools?: { readonly [name: string]: readonly string[] }
  readonly prompts?: { readonly [name: string]: readonly string[] }
  /**
   * The scopes of a template apply to every URI that a server could serve by it. If the URI itself is a key, only that key's scopes apply.
   */
  readonly resources?: { readonly [uriOrTemplate: string]: readonly string[] }
  /** Methods outside MCP that a server adds. */
  readonly methods?: { readonly [method: string]: readonly string[] }
}

type Params = { readonly [name: string]: unknown }

/** Methods that need no token on a server with anonymous access. Lists are filtered. */
export const OPEN: ReadonlySet<string> = new Set([
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

/** Whether they name a resource that exists, their answer does not tell. */
const SUBSCRIBING = new Set(['resources/subscribe', 'resources/unsubscribe', 'subscriptions/listen'])

const LISTS = {
  'tools/list': ['tool', 'tools', 'name'],
  'prompts/list': ['prompt', 'prompts', 'name'],
  'resources/list': ['resource', 'resources', 'uri'],
  'resources/templates/list': ['resource', 'resourceTemplates', 'uriTemplate'],
} as const

const INTRODUCTIONS = new Set(['initialize', 'server/discover'])

const KINDS = {
  tools: 'Tool',
  prompts: 'Prompt',
  resources: 'Resource',
  methods: 'Method',
} as const satisfies { readonly [kind in keyof GuardedNames]: string }
const NAMES: Names<GuardedNames> = {
  tools: 'object',
  prompts: 'object',
  resources: 'object',
  methods: 'object',
}

/** Maximum characters; longer URIs are refused. */
const MAX_URI_LENGTH = 8192

/** Compiled once per configuration. */
const compiledKeys = new WeakMap<object, readonly ResourceKey[]>()

/**
 * Checks the scopes before the first request.
 *
 * @throws TypeError naming scopes that are not a list of strings, an invalid URI template, and scopes on a server that cannot know its
 * callers.
 */
export function checkScopes(scopes: GuardedNames = {}, callers: CallersConfig): void {
  refuseUnknown('"scopes"', scopes, NAMES)
  for (const [kind, names] of Object.entries(scopes)) {
    for (const [name, needed] of Object.entries(names as object)) {
      if (Array.isArray(needed) && needed.every((scope) => typeof scope === 'string')) {
        requireCallers(callers, KINDS[kind as keyof GuardedNames], name, needed)
        continue
      }
      throw new TypeError(`"scopes.${kind}" of ${JSON.stringify(name)} must be a list of strings.`)
    }
  }
  keysOf(scopes)
}

/**
 * Checks access for a request or a notification.
 *
 * @throws ProtocolError with HTTP status 401 or 403 if the caller may not use the target of the message, and `-32602` if that cannot be
 * determined: without a name, or with a URI that is not in normal form.
 */
export function checkAccess(
  method: string,
  params: Params,
  access: Access | undefined,
  scopes: GuardedNames | undefined,
): void {
  if (access === undefined || OPEN.has(method)) return
  for (const { kind, name, written = name } of namedBy(method, params)) {
    if (kind === 'resource') {
      checkUri(name, written, access, scopes)
      if (SUBSCRIBING.has(method)) checkOpened(name, access, keysOf(scopes))
    } else {
      const item = guarded(kind, name, scopes)
      if (!access.allows(item)) throw access.refusal(item)
    }
  }
}

/**
 * The refusal of a name that may not exist, for a caller that nobody has identified: it is that of a closed name. Undefined if the caller
 * may know, as an anonymous one of what it passed `checkAccess` for: that was opened by name.
 */
export function hiddenName(
  method: string,
  params: Params,
  access: Access | undefined,
  scopes: GuardedNames = {},
): ProtocolError | undefined {
  if (access === undefined || access.isKnown || access.isAnonymous || OPEN.has(method)) return undefined
  const needed = Object.values(scopes).flatMap((names) => Object.values(names as object).flat())
  const [named] = needed.length === 0 ? [] : namedBy(method, params)
  return named && access.refusal({ ...named, scopes: undefined })
}

interface Named extends Pick<Guarded, 'kind' | 'name'> {
  /** For a template: a URI that matches it. */
  readonly written?: string
}

/** The target of a message. For a method outside MCP, the method itself. */
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

/**
 * The result without what the caller may not see: items of lists, and instructions, which may mention them. It may only be cached for this
 * caller.
 */
export function visibleTo(
  method: string,
  given: unknown,
  access: Access | undefined,
  scopes: GuardedNames | undefined,
): unknown {
  if (access === undefined || !isObject(given)) return given
  const result = given.cacheScope === 'public' ? { ...given, cacheScope: 'private' } : given
  if (INTRODUCTIONS.has(method) && hidesNames(access, scopes !== undefined)) {
    const { instructions: _, ...others } = result
    return others
  }
  if (!Object.hasOwn(LISTS, method)) return result
  const [kind, member, key] = LISTS[method as keyof typeof LISTS]
  const items = result[member]
  if (!Array.isArray(items)) return result
  const visible = items.filter((item) => {
    const name = String(item?.[key])
    return kind === 'resource'
      ? mayUse(name, access, keysFor(name, keysOf(scopes)))
      : access.allows(guarded(kind, name, scopes))
  })
  return { ...result, [member]: visible }
}

/** @param written The URI to check for its normal form; for a template, with its expressions filled in. */
function checkUri(uri: string, written: string, access: Access, scopes: GuardedNames | undefined): void {
  if (uri.length > MAX_URI_LENGTH) throw invalidParams(`A URI may have at most ${MAX_URI_LENGTH} characters.`)
  const keys = keysOf(scopes)
  const needed = keysFor(uri, keys)
  if (!mayUse(uri, access, needed)) throw access.refusal(resource(uri, needed))
  if (!access.isAnonymous && keys.length === 0) return
  const isNamed =
    keys.some(({ key }) => key === uri) || (access.isAnonymous && access.allows(resource(uri, [])))
  if (isNamed || isPlainUri(written)) return
  throw invalidParams('Invalid params: write the URI in its normal form (RFC 3986, 6.2.2), as listed.', {
    uri,
  })
}

/**
 * To subscribe, a caller that nobody has identified needs a key that is the URI and has no scopes, if another key has any: a server accepts
 * every other URI, and so would tell which ones are closed.
 */
function checkOpened(uri: string, access: Access, keys: readonly ResourceKey[]): void {
  if (access.isKnown || access.isAnonymous || keys.every(({ scopes }) => scopes.length === 0)) return
  if (!keys.some(({ key }) => key === uri)) throw access.refusal(resource(uri, []))
}

function mayUse(uri: string, access: Access, needed: readonly ResourceKey[]): boolean {
  if (access.allows(resource(uri, needed))) return true
  // An anonymous subset may name a template, but does not open URIs that another key protects.
  return (
    access.isAnonymous &&
    needed.some(({ opens }) => opens(uri)) &&
    needed.every((key) => access.allows(resource(key.key, [key])))
  )
}

/** The keys that apply to a URI or a template: the identical key, or all keys that might cover it. */
function keysFor(uri: string, keys: readonly ResourceKey[]): readonly ResourceKey[] {
  const own = keys.filter(({ key }) => key === uri)
  if (own.length > 0 || keys.length === 0) return own
  const asked = spelled(uri)
  return keys.filter(({ covers }) => covers(asked))
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
