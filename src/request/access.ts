/**
 * What a caller may use of a server. The auth layer decides; a request without authentication has no `Access` and may use everything.
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
  readonly isAnonymous: boolean
  allows(item: Guarded): boolean
  /** The error for a caller without access, with the scopes that it needs (RFC 6750 §3.1, MCP "Scope Challenge Handling"). */
  refusal(item: Guarded): ProtocolError
}

/** A caller that the host has authenticated, and what it may use. */
export interface Caller {
  /** Undefined if the host's description of the caller cannot be read. */
  readonly auth: AuthInfo | undefined
  readonly access: Access
}
