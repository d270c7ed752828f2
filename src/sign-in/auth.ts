/** Sign-in as `auth` of a server: the authorization server beside it, and the check of its tokens. */
import type { Auth } from '../auth/auth.ts'
import { toGate } from '../auth/gate.ts'
import { UnknownTokenError, type Verifier } from '../auth/verifier.ts'
import type { Env } from '../definition/context.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { endpointOf, mayBeRoute, placeOf, withoutPrefix } from './place.ts'
import {
  CORE_OPTIONS,
  type CoreOptions,
  checkScopes,
  createSignIn,
  refuseUndeclared,
  type SignIn,
  type SignInContext,
} from './sign-in.ts'
import { oauthError } from './signing.ts'
import { isSignInToken, type SignedIn } from './tokens/verify.ts'
import { requireRecord } from './upstream/settings.ts'

/** Options of `signIn`. */
export interface SignInOptions<E = Env> extends CoreOptions<E> {
  /** Scopes that every call needs, of those in `scopes`. Default: none. */
  required?: readonly string[]
  /** What may be used without a token, by name. Default: nothing. */
  anonymous?: {
    readonly tools?: readonly string[]
    readonly prompts?: readonly string[]
    readonly resources?: readonly string[]
  }
}

const OPTIONS: Names<SignInOptions> = { ...CORE_OPTIONS, required: 'strings', anonymous: 'object' }

/** Milliseconds between the checks of a connection whose stream is open. */
const RECHECK_MS = 15_000

/** An `Auth` that answers the paths of an authorization server. */
export type SignInAuth = Auth & Required<Pick<Auth, 'serve'>>

/**
 * Lets people sign in with an identity provider that registers no clients: the server is an authorization server of its own (MCP
 * 2026-07-28, "Authorization"; RFC 6749, 7009, 7591, 7636, 8414, 8707 and 9207), with tokens of its own. `ctx.auth.subject` is the
 * person, `ctx.auth.claims` what the provider says, `ctx.auth.extra` has `name` and `email`, and `ctx.auth.upstreamToken()` gets the provider's access token.
 *
 * Clients are found by their metadata document, or register. A person sees the name and the address of a client before it gets access, and
 * removes it at `/connections`. Codes and refresh tokens are used once, also with several instances; the use of one that was used ends the
 * connection. Needs `MAYFLY_SECRET`, and the server's URL: `http.publicUrl`, or a platform that names it. It has no users, issues no ID
 * tokens, and does not notice that a person left the provider until the provider's token is refreshed.
 *
 * ```ts
 * signIn({
 *   upstream: google({ clientId: (env) => env.GOOGLE_ID, clientSecret: (env) => env.GOOGLE_SECRET }),
 *   store: postgresGrants(pool, { createTable: true }),
 *   scopes: { notes: 'Read your notes' },
 * })
 * ```
 *
 * @throws TypeError for invalid options.
 */
export function signIn<E = Env>(options: SignInOptions<E>): SignInAuth {
  requireOptions('signIn', options, OPTIONS, 'upstream', 'store', 'scopes')
  const { required = [], anonymous, ...core } = options
  checkScopes('signIn', options.scopes)
  refuseUndeclared('"required" of signIn', required, options.scopes)
  if (anonymous !== undefined)
    requireRecord('"anonymous" of signIn', anonymous, "names, as in { tools: ['greet'] }")
  const initialScopes = core.initialScopes && [...required, ...core.initialScopes]
  const server: SignIn = createSignIn('signIn', { ...core, ...(initialScopes && { initialScopes }) })
  const verifier: Verifier = {
    authorizationServers: ({ resource }) => [placeOf(endpointOf(resource)).issuer],
    realm: 'sign-in',
    async verify(token, { env, resource, waitUntil }) {
      if (!isSignInToken(token)) throw new UnknownTokenError()
      const context: SignInContext = { env, resource, waitUntil }
      const answer = await server.verify(token, context)
      if (answer.extra.sub === undefined) return { ...answer }
      const { sub, connection } = answer.extra
      const { clientId, scopes, expiresAt, claims, extra } = answer as SignedIn
      const upstreamToken = () => server.upstreamToken(sub, connection, context)
      return { clientId, scopes, expiresAt, claims, extra, upstreamToken }
    },
  }
  const gate = toGate(verifier, {
    scopes: required,
    // The challenge of a 401, and `scopes_supported` of the resource (MCP 2026-07-28, "Scope Selection Strategy").
    scopeHints: server.initialScopes,
    ...(anonymous !== undefined && { anonymous }),
  })
  return {
    ...gate,
    recheckMs: RECHECK_MS,
    faultIn: (env) => server.faultIn(env),
    signInFacts: (env) => server.facts(env),
    serve(request, context) {
      const { pathname } = new URL(request.url)
      if (!mayBeRoute(pathname)) return undefined
      const { resource, isVouchedFor, name } = context.location()
      // That of the endpoint is another one if `http.publicUrl` says so.
      const path = withoutPrefix(pathname, context.prefix)
      const endpoint = endpointOf(resource)
      if (!server.hasRoute(path, endpoint)) return undefined
      if (!isVouchedFor) return async () => unknownUrl()
      const { env, address, report } = context
      return (given) => server.serve(given, path, { env, resource: endpoint, name, address, report })!
    },
  }
}

function unknownUrl(): Response {
  const what = 'The URL of this server is not known: set http.publicUrl, or put its host (and port) in'
  return oauthError(503, 'temporarily_unavailable', `${what} http.allowedHosts or MAYFLY_ALLOWED_HOSTS.`)
}
