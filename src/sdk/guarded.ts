/**
 * Scopes for the tools, prompts and resources of a server that knows none: what a caller may not use is refused, and
 * left out of lists.
 */
import type { Access, Guarded } from '../request/access.ts'

/** Scopes by name; resources and resource templates by URI. */
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
  if (access === undefined || !Object.hasOwn(CALLS, method)) return
  const [kind, key] = CALLS[method as keyof typeof CALLS]
  const item = guarded(kind, String(params[key]), scopes)
  if (!access.allows(item)) throw access.refusal(item)
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
  return {
    kind,
    name,
    scopes: ofKind !== undefined && Object.hasOwn(ofKind, name) ? ofKind[name] : undefined,
  }
}
