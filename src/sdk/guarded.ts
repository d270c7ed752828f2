/**
 * Scopes for the tools, prompts and resources of a server that knows none: what a caller may not use is refused, and
 * left out of lists.
 */
import { isObject } from '../protocol/json-rpc.ts'
import type { Access, Guarded } from '../request/access.ts'

/**
 * Scopes by name; resources and resource templates by URI. A template's scopes are needed for all that begins as it does, as nobody
 * but the server knows what it matches; a URI that is named itself has its own.
 */
export interface GuardedNames {
  readonly tools?: { readonly [name: string]: readonly string[] }
  readonly prompts?: { readonly [name: string]: readonly string[] }
  readonly resources?: { readonly [uri: string]: readonly string[] }
}

const CALLS = {
  'tools/call': ['tool', 'name'],
  'prompts/get': ['prompt', 'name'],
  'resources/read': ['resource', 'uri'],
  'resources/subscribe': ['resource', 'uri'],
} as const

const LISTS = {
  'tools/list': ['tool', 'tools', 'name'],
  'prompts/list': ['prompt', 'prompts', 'name'],
  'resources/list': ['resource', 'resources', 'uri'],
  'resources/templates/list': ['resource', 'resourceTemplates', 'uriTemplate'],
} as const

/** @throws ProtocolError where the caller may not use what the request names. */
export function checkAccess(
  method: string,
  params: { readonly [name: string]: unknown },
  access: Access | undefined,
  scopes: GuardedNames | undefined,
): void {
  if (access === undefined) return
  const item = method === 'completion/complete' ? completed(params, scopes) : called(method, params, scopes)
  if (item !== undefined && !access.allows(item)) throw access.refusal(item)
}

function called(
  method: string,
  params: { readonly [name: string]: unknown },
  scopes: GuardedNames | undefined,
): Guarded | undefined {
  if (!Object.hasOwn(CALLS, method)) return undefined
  const [kind, key] = CALLS[method as keyof typeof CALLS]
  return guarded(kind, String(params[key]), scopes)
}

/** What an argument is completed of. */
function completed(
  { ref }: { readonly [name: string]: unknown },
  scopes: GuardedNames | undefined,
): Guarded | undefined {
  if (!isObject(ref)) return undefined
  return ref.type === 'ref/prompt'
    ? guarded('prompt', String(ref.name), scopes)
    : guarded('resource', String(ref.uri), scopes)
}

/** The parameters of `subscriptions/listen` without the resources of which this caller may not hear. */
export function audibleTo(
  params: { readonly [name: string]: unknown },
  access: Access | undefined,
  scopes: GuardedNames | undefined,
): { readonly [name: string]: unknown } {
  const { notifications } = params
  if (access === undefined || !isObject(notifications)) return params
  const { resourceSubscriptions: uris } = notifications
  if (!Array.isArray(uris)) return params
  const resourceSubscriptions = uris.filter((uri) => access.allows(guarded('resource', String(uri), scopes)))
  return { ...params, notifications: { ...notifications, resourceSubscriptions } }
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
  const visible = items.filter((item) => access.allows(guarded(kind, String(item?.[key]), scopes)))
  return { ...(result as object), [member]: visible, ...('cacheScope' in (result as object) && PRIVATE) }
}

const PRIVATE = { cacheScope: 'private' }

function guarded(kind: Guarded['kind'], name: string, scopes: GuardedNames | undefined): Guarded {
  const ofKind = scopes?.[`${kind}s`]
  if (ofKind === undefined) return { kind, name, scopes: undefined }
  return { kind, name, scopes: kind === 'resource' ? scopesOfUri(name, ofKind) : scopesOf(name, ofKind) }
}

type Scopes = { readonly [name: string]: readonly string[] }

function scopesOf(name: string, ofKind: Scopes): readonly string[] | undefined {
  return Object.hasOwn(ofKind, name) ? ofKind[name] : undefined
}

/** The official SDKs look for a URI as `URL` writes it: `NOTE://x` is `note://x` to them. */
function scopesOfUri(uri: string, ofKind: Scopes): readonly string[] | undefined {
  const spellings = URL.canParse(uri) ? [uri, new URL(uri).href] : [uri]
  const exact = spellings.flatMap((spelling) => scopesOf(spelling, ofKind) ?? [])
  if (spellings.some((spelling) => Object.hasOwn(ofKind, spelling))) return exact
  const templates = Object.keys(ofKind).filter((name) => {
    const head = name.indexOf('{')
    return head >= 0 && spellings.some((spelling) => spelling.startsWith(name.slice(0, head)))
  })
  return templates.flatMap((template) => ofKind[template]!)
}
