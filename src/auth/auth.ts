/**
 * The interface between a server and the code that checks its callers (MCP 2026-07-28 and 2025-11-25, "Authorization").
 */
import type { AuthInfo } from '../definition/context.ts'
import type { Access } from '../request/access.ts'

/** This server as a protected resource (RFC 9728). */
export interface ResourceLocation {
  /** The resource identifier: the URL of the MCP endpoint as clients see it. */
  readonly resource: string
  /** Whether the operator or the platform says that this is our address; else it is what the caller's `Host` header says. */
  readonly isVouchedFor: boolean
  /** Where clients find the metadata of that resource. */
  readonly metadataUrl: string
}

export interface AuthContext {
  readonly env: unknown
  /** Refuses a caller without a token, whatever is open to everybody. Default false. */
  readonly isTokenRequired?: boolean
  /** Computed when it is asked for: most requests never need it. */
  location(): ResourceLocation
  /** The request as a verifier is given it, where that is another object than the one let in. */
  request?(): Request
}

export type Admission =
  | { readonly ok: true; readonly auth: AuthInfo | undefined; readonly access: Access }
  | { readonly ok: false; readonly refusal: AuthRefusal }

/** An answer instead of the server's. */
export interface AuthRefusal {
  readonly status: 400 | 401 | 403 | 503
  readonly message: string
  readonly headers: { readonly [name: string]: string }
  /** Why, for the server's own log; never sent. */
  readonly cause?: unknown
}

/** What `auth` of a server's configuration takes: made by `jwt`, `introspection`, `staticTokens`, `bearer` or a preset. */
export interface Auth {
  /** Decides who a request comes from, and what it may do. Never reads the body. */
  admit(request: Request, context: AuthContext): Promise<Admission>
  /** The protected resource metadata (RFC 9728 §2). */
  metadata(location: ResourceLocation): object
  /** What of this server anybody may use. */
  readonly anonymous: Access
}
