/**
 * What a caller may use of a server. The auth layer decides; a request without `Access` may use everything: on stdio, on a
 * trusted transport, and on a server where nothing needs a scope.
 */
import type { AuthInfo } from '../definition/context.ts'
import type { ProtocolError } from '../definition/protocol-error.ts'

/** A tool, prompt, resource, or a method outside MCP. `name` is its name; for a resource its URI or URI template. */
export interface Guarded {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'method'
  readonly name: string
  /** All of these scopes are required. */
  readonly scopes: readonly string[] | undefined
}

export interface Access {
  /** What the host's code said of the caller, as it said it: `req.auth`. Decides nothing. */
  readonly said?: unknown
  /** Whether only what is named as open may be used. */
  readonly isAnonymous: boolean
  /** Whether the caller is identified. For one that is not, closed names and names that do not exist are refused alike. */
  readonly isKnown: boolean
  allows(item: Guarded): boolean
  /** The error for a caller without access, with the scopes that it needs (RFC 6750 §3.1, MCP "Scope Challenge Handling"). */
  refusal(item: Guarded): ProtocolError
}

/** Whether names that the caller may not use are kept from it, so that nothing may mention them. */
export function hidesNames(access: Access | undefined, hasScopes: boolean): boolean {
  return access !== undefined && !access.isKnown && (access.isAnonymous || hasScopes)
}

/** A caller that the host has authenticated, and what it may use. */
export interface Caller {
  /** Undefined if the host's description of the caller cannot be read. */
  readonly auth: AuthInfo | undefined
  readonly access: Access
}

/** A declared resource, by its URI or URI template. Resources listed by callbacks need no scope. */
export function guardedBy(name: string, config: { scopes?: readonly string[] } = {}): Guarded {
  return { kind: 'resource', name, scopes: config.scopes }
}
