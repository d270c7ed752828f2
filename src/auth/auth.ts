/**
 * The interface between a server and the code that checks its callers (MCP 2026-07-28 and 2025-11-25, "Authorization").
 */
import type { AuthInfo } from '../definition/context.ts'
import type { CompiledPrompts } from '../definition/prompt.ts'
import type { CompiledResources } from '../definition/resource.ts'
import type { Access } from '../request/access.ts'

/** The server as a protected resource (RFC 9728). */
export interface ResourceLocation {
  /** The resource identifier: the URL of the MCP endpoint as clients see it. */
  readonly resource: string
  /** Whether the operator or the platform confirms this URL. If false, it comes from the caller's `Host` header. */
  readonly isVouchedFor: boolean
  /** The URL of that resource's metadata. */
  readonly metadataUrl: string
  /** The server's name for people, if known. */
  readonly name?: string
}

/** What `admit` of an `Auth` receives besides the request. */
export interface AuthContext {
  readonly env: unknown
  /** The `id` of the server, if it has one. */
  readonly server?: string | undefined
  /** Refuses every caller without a token, even if parts are open to everyone. Default false. */
  readonly isTokenRequired?: boolean
  /** Computed on demand: most requests do not need it. */
  location(): ResourceLocation
  /** Keeps the invocation alive for work after the answer. Default: nothing does. */
  waitUntil?(work: Promise<unknown>): void
  /** The request for the verifier, if it differs from the one passed to `admit`. */
  request?(): Request
}

/** What `serve` of an `Auth` receives besides the request. */
export interface ServeContext extends AuthContext {
  /** The caller's address, if the platform reports it. */
  readonly address?: string
  /** How the request's path begins on the platform, before the server's own: `/functions/v1/notes`. Default: empty. */
  readonly prefix?: string
  /** Writes an error to the server's log. */
  report(error: unknown): void
}

/**
 * Answers a request for a path of an `Auth`. The body of a POST is there, up to 64 KiB; no other request has one. The answer has 20 seconds,
 * and gets `Cache-Control: no-store` and `X-Content-Type-Options` unless it has its own.
 */
export type AnswerOwn = (request: Request) => Promise<Response>

/** The decision about a request: the caller and its access, or the refusal. */
export type Admission =
  | {
      readonly ok: true
      readonly auth: AuthInfo | undefined
      readonly access: Access
      /** The one that checks this caller again while a stream is open. Default: the one that was asked. */
      readonly by?: Auth
      /** What failed although the caller was admitted, for the server's log. */
      readonly cause?: unknown
    }
  | { readonly ok: false; readonly refusal: AuthRefusal }

/** The response to a caller who is refused. */
export interface AuthRefusal {
  readonly status: 400 | 401 | 403 | 503
  readonly message: string
  readonly headers: { readonly [name: string]: string }
  /** It does not know the token: of several refusals, another one says more. Default false. */
  readonly isUnknown?: boolean
  /** The reason, for the server's log; never sent. */
  readonly cause?: unknown
}

/** What a server has, by name; resources by URI or URI template. Undefined: not known before a request. */
export interface NamedParts {
  readonly tools: ReadonlyMap<string, unknown>
  readonly prompts?: Pick<CompiledPrompts, 'declared' | 'callbacks'>
  readonly resources?: Pick<CompiledResources, 'fixed' | 'templates' | 'callbacks'>
}

/** Who signs people in with the variables of one environment. */
export interface SignInFacts {
  /** The identity provider, for people. */
  readonly provider: string
  /** Whether the stand-in of `mayfly dev` takes its place. */
  readonly isStandIn: boolean
  /** The variables of the provider that are not set. */
  readonly unset: readonly string[]
  /** All that it reads. */
  readonly variables: readonly string[]
  /** All scopes that it gives out. Undefined: others admit callers, too, with scopes of their own. */
  readonly scopes?: readonly string[] | undefined
  /** Those that a first sign-in asks for. */
  readonly initialScopes: readonly string[]
  /** Whether `MAYFLY_SECRET` seals what it stores, and not an option. */
  readonly needsSecret: boolean
  /** Whether connections are only in the memory of a process. Undefined: the store cannot be made from the environment that was given. */
  readonly hasLocalStore?: boolean | undefined
  /** The provider itself, an `Upstream`, for `mayfly doctor --online`. */
  readonly upstream?: () => unknown
}

/** The `auth` option of a server: created by `jwt`, `introspection`, `staticTokens`, `bearer`, `anyOf` or a preset. */
export interface Auth {
  /** Decides who sent a request, and what the sender may use. Never reads the body. */
  admit(request: Request, context: AuthContext): Promise<Admission>
  /**
   * Decides about a known caller by what `admit` checks for a valid token: its expiry and the server's scopes. For tests. Without it, only
   * the expiry is checked.
   */
  admitCaller?(caller: AuthInfo, context: AuthContext): Admission
  /**
   * Called once, before the first request.
   *
   * @param warn is called, instead of an error, about tools that may be added for single requests.
   * @throws TypeError for a name in the options that the server does not have.
   */
  checkNames?(parts: NamedParts, warn?: (message: string) => void): void
  /** What an operator must set in `env` before all callers of the server can be checked, for `mayfly doctor`. Undefined: nothing. */
  faultIn?(env: unknown, server?: string): string | undefined
  /**
   * Milliseconds after which the caller of an open stream is checked again, as by `admit`: the stream of a caller that is refused ends.
   * Default: only its expiry ends one.
   */
  readonly recheckMs?: number
  /** It has to be told the `id` of the server with each request. Default false. */
  readonly needsServer?: boolean
  /** The header with the token. Default `Authorization`. */
  readonly header?: string
  /** A header that is read before that one, if it is sent; of several, the first one sent. Default: none. */
  readonly keyHeader?: string | readonly string[]
  /** Who vouches for its callers, for `anyOf`: the issuer's URL, or a name for the kind of callers. */
  readonly realm?: string
  /** `WWW-Authenticate` for a 401 (RFC 6750 §3), for `anyOf`. `reason`: what is wrong with the token. Undefined: none was sent. */
  challenge?(location: ResourceLocation, reason?: string): string
  /** The store of the server's API keys, for `mayfly keys`. May throw. Default: it has none. */
  keyStore?(env: unknown, server?: string): unknown
  /** Who signs people in, for `mayfly dev` and `mayfly doctor`. Default: nobody. */
  signInFacts?(env: unknown): SignInFacts
  /**
   * Returns what answers a request for a path that it has beside the MCP endpoint, such as those of an authorization server; undefined for
   * any other request. Looks at the URL and the headers only, and changes nothing: it may be asked several times. The answer runs after the
   * checks of hosts and limits. An `Origin` is not checked: its own forms must refuse other sites.
   */
  serve?(request: Request, context: ServeContext): AnswerOwn | undefined
  /** The protected resource metadata (RFC 9728 §2). */
  metadata(location: ResourceLocation): object
  /** What callers without a token may use. */
  readonly anonymous: Access
}
