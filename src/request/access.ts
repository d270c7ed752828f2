/**
 * What a caller may use of a server. The auth layer decides; a request without it has no `Access`, and may use everything.
 */
import type { AuthInfo } from '../definition/context.ts'
import type { ProtocolError } from '../definition/protocol-error.ts'

/** A tool, prompt, resource, or a method that MCP does not have: `name` is its name, of a resource its URI or URI template. */
export interface Guarded {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'method'
  readonly name: string
  /** All of these scopes are needed. */
  readonly scopes: readonly string[] | undefined
}

export interface Access {
  readonly isAnonymous: boolean
  allows(item: Guarded): boolean
  /** The answer to a caller who may not: with what it takes to be allowed (RFC 6750 §3.1, MCP "Scope Challenge Handling"). */
  refusal(item: Guarded): ProtocolError
}

/** A caller whom the host has let in, and what they may use. */
export interface Caller {
  /** Undefined where what the host says of them is not understood. */
  readonly auth: AuthInfo | undefined
  readonly access: Access
}
