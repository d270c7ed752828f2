/** Whether a server can know its callers, without which scopes could not be checked. */
import type { Auth } from '../auth/auth.ts'
import { UNKNOWN_CALLER } from '../auth/unknown-caller.ts'
import type { Access } from '../request/access.ts'

/** How a server knows its callers. */
export interface CallersConfig {
  /**
   * Checks the callers: `jwt({ … })` or another of `mayfly-mcp/auth`. `'host'`: the app around the server checks them, and passes them on
   * as `req.auth` of Express or by `auth` of Hono's `mcp`; a caller that it does not name may not use what needs a scope. Default: no
   * authentication.
   */
  auth?: Auth | 'host'
  /**
   * Everyone who can connect over HTTP may use everything, also what needs a scope: for a server that is reached only from its own process
   * or by a gateway that checks scopes. stdio is trusted in any case. Default false.
   */
  trustedTransport?: boolean
}

interface Scoped {
  readonly scopes?: readonly string[]
  readonly uri?: string
  readonly uriTemplate?: string
}

/** @throws TypeError for options that contradict each other or are not of their type. */
export function checkCallers({ auth, trustedTransport }: CallersConfig): void {
  if (auth !== undefined && auth !== 'host' && typeof auth?.admit !== 'function') {
    throw new TypeError(
      '"auth" must be created by apiKeys (mayfly-mcp/keys), signIn (mayfly-mcp/sign-in), or jwt, auth0, introspection, staticTokens, bearer or another of mayfly-mcp/auth (wrap your own function in bearer(…)), or be "host".',
    )
  }
  if (trustedTransport && auth !== undefined)
    throw new TypeError(
      '"trustedTransport" lets every caller use everything, and "auth" does not: remove one of them.',
    )
}

/** Whether the scopes of a caller can be checked, or do not matter. */
function knowsCallers({ auth, trustedTransport }: CallersConfig): boolean {
  return auth !== undefined || trustedTransport === true
}

/** @throws TypeError if `item` needs a scope, and no caller of the server could have one. */
export function requireCallers(
  config: CallersConfig,
  kind: 'Tool' | 'Agent' | 'Workflow' | 'Prompt' | 'Resource' | 'Method',
  name: string,
  scopes: readonly string[] | undefined,
): void {
  if (knowsCallers(config) || !Array.isArray(scopes) || scopes.length === 0) return
  throw unknownCallers(`${kind} "${name}" needs the scope ${scopes.join(' ')}`)
}

function unknownCallers(what: string): TypeError {
  return new TypeError(
    `${what}, but the server cannot know its callers: set "auth", or auth: "host" if the app around it checks them, or trustedTransport: true if everyone who can connect may use everything.`,
  )
}

/** The same for all items of a configuration, and for the servers behind a gateway. */
export function requireCallersOf(
  config: CallersConfig,
  items: {
    readonly [kind in 'tools' | 'agents' | 'workflows' | 'prompts' | 'resources']?: object | undefined
  } & {
    readonly gateway?: { readonly hasScopes: boolean } | undefined
  },
): void {
  if (items.gateway?.hasScopes && !knowsCallers(config))
    throw unknownCallers('A server of "gateway" has "scopes"')
  for (const [kind, what] of [
    ['tools', 'Tool'],
    ['agents', 'Agent'],
    ['workflows', 'Workflow'],
    ['prompts', 'Prompt'],
    ['resources', 'Resource'],
  ] as const) {
    for (const [key, item] of Object.entries(
      (items[kind] ?? {}) as { readonly [key: string]: Scoped | undefined },
    ))
      requireCallers(config, what, item?.uri ?? item?.uriTemplate ?? key, item?.scopes)
  }
}

/** The access of callers that are not identified. Undefined: they may use everything. `isScoped`: whether anything may need a scope. */
export function accessOfUnknown({ trustedTransport }: CallersConfig, isScoped: boolean): Access | undefined {
  return isScoped && !trustedTransport ? UNKNOWN_CALLER : undefined
}

/** @throws TypeError if `auth` has to be told the id of its server, for `where`, which has none. */
export function requireNoServer(where: string, auth: Auth | undefined): void {
  if (auth?.needsServer)
    throw new TypeError(
      `apiKeys needs "server" for ${where}: a name for this server, which its keys are for, such as apiKeys({ store, server: 'shop' }).`,
    )
}

/** What checks tokens in the server itself. */
export function tokenAuthOf({ auth }: CallersConfig): Auth | undefined {
  return auth === 'host' ? undefined : auth
}
