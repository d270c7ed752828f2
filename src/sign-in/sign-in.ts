/** Sign-in as `auth` of a server. */

import type { SignInFacts } from '../auth/auth.ts'
import { createOnce } from '../auth/once.ts'
import type { Env } from '../definition/context.ts'
import { isDev } from '../definition/developed.ts'
import { textOf } from '../definition/error-text.ts'
import { forEnv } from '../definition/for-env.ts'
import { isObject } from '../definition/is-object.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { storeOf } from '../keyed/given-store.ts'
import { createDocuments } from './clients/documents.ts'
import { countersOfHost } from './clients/limits.ts'
import { type Machine, toMachines } from './clients/machines.ts'
import { checkSecrets, createKeys, type SignInKeys } from './keys.ts'
import { placeOf, routeOf } from './place.ts'
import { serveSignIn } from './server.ts'
import type { Signing } from './signing.ts'
import { type GrantStore, requireGrantStore } from './store/store.ts'
import { type Checks, createChecks } from './tokens/checks.ts'
import { type Caller, verifyToken } from './tokens/verify.ts'
import { upstreamTokenOf } from './upstream/refresh.ts'
import { isPromise, readVariables, requireRecord } from './upstream/settings.ts'
import { inUse } from './upstream/stand-in.ts'
import type { Upstream } from './upstream/upstream.ts'

/** Options of `createSignIn`. */
export interface CoreOptions<E = Env> {
  /** The identity provider that people sign in with: `google`, `github`, `entra`, `cognito` or `oidc`. */
  upstream: Upstream
  /** Where clients, connections and tokens are stored, or a function that gets the store from the platform's environment. */
  store: GrantStore | ((env: E) => GrantStore)
  /** What clients may ask for: each scope with a sentence for the page where people agree, such as "Change your notes". */
  scopes: { readonly [scope: string]: string }
  /**
   * Those of `scopes` that a first sign-in asks for. A client asks for another one when it calls a tool that needs it (403, MCP 2026-07-28,
   * "Scope Challenge Handling"); until then, lists leave that tool out. Default: all.
   */
  initialScopes?: readonly string[]
  /** Secrets of 32 or more characters: the first one seals, all of them open. Default: `MAYFLY_SECRET`, several separated by commas. */
  secrets?: readonly string[]
  /** Seconds that an access token is valid, from 60 to 86 400. Default 3600. */
  accessTokenSeconds?: number
  /** Days that a connection may be unused, from 1 to 365. Default 30. */
  unusedDays?: number
  /**
   * Milliseconds, up to 300 000, for which a valid token is remembered: a connection that another process ended is accepted for as long, and
   * its open streams 15 seconds longer. Default 5000.
   */
  cacheMs?: number
  /**
   * Clients without a person, by the name that each sends as `client_id`: `{ 'nightly-report': { scopes: ['notes:read'], secret: (env) =>
   * env.REPORT_SECRET } }`. Their tokens are valid for 15 minutes, or `accessTokenSeconds` if that is less, and cannot be refreshed. Default: none.
   */
  machines?: { readonly [name: string]: Machine }
  /** Fetches the metadata documents of clients, and the keys of machines. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

export const CORE_OPTIONS: Names<CoreOptions> = {
  upstream: 'object',
  store: 1,
  scopes: 'object',
  initialScopes: 'strings',
  secrets: 'strings',
  accessTokenSeconds: [60, 86_400],
  unusedDays: [1, 365],
  cacheMs: [0, 300_000],
  machines: 'object',
  fetch: 'function',
}

/** A request of one server. */
export interface SignInContext {
  readonly env: unknown
  /** The URL of its MCP endpoint. Sign-in is beside it. */
  readonly resource: string
  /** For people. */
  readonly name?: string | undefined
  /** Of the caller, for limits. */
  readonly address?: string | undefined
  readonly report?: ((error: unknown) => void) | undefined
  /** Keeps the invocation alive for work after the answer. Default: nothing does. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

export interface SignIn {
  /** What a first sign-in asks for. */
  readonly initialScopes: readonly string[]
  /** Whether `serve` answers requests for the path. */
  hasRoute(path: string, resource: string): boolean
  /** `path`: of the request, as its platform shows it. Undefined: sign-in has no such path. */
  serve(request: Request, path: string, context: SignInContext): Promise<Response> | undefined
  /** @throws InvalidTokenError or VerifierUnavailableError. */
  verify(token: string, context: SignInContext): Promise<Caller>
  upstreamToken(sub: string, connection: string, context: SignInContext): Promise<string>
  faultIn(env: unknown): string | undefined
  facts(env: unknown): SignInFacts
}

const DAY_SECONDS = 86_400

/** @throws TypeError for invalid options. */
export function createSignIn<E = Env>(where: string, options: CoreOptions<E>): SignIn {
  requireOptions(where, options, CORE_OPTIONS, 'upstream', 'store', 'scopes')
  const {
    upstream,
    store,
    scopes,
    secrets,
    accessTokenSeconds = 3600,
    unusedDays = 30,
    cacheMs = 5000,
  } = options
  checkUpstream(where, upstream)
  checkScopes(where, scopes)
  const initialScopes = toInitialScopes(where, options)
  if (typeof store !== 'function') requireGrantStore(where, store)
  if (secrets !== undefined) checkSecrets(`"secrets" of ${where}`, secrets)
  const fetch: typeof globalThis.fetch = options.fetch ?? ((...given) => globalThis.fetch(...given))
  const machines = toMachines(where, options.machines, scopes, fetch)
  const documents = createDocuments(fetch)
  const lifetimes = { access: accessTokenSeconds, idle: unusedDays * DAY_SECONDS }
  const storeFor = forEnv<GrantStore>(
    typeof store === 'function'
      ? (env) => {
          const made: unknown = store(env as E)
          if (isPromise(made))
            throw new TypeError(`"store" of ${where} must not be async: it returned a promise.`)
          requireGrantStore(where, made)
          return made
        }
      : store,
  )
  const keysFor = forEnv<SignInKeys>((env) => createKeys(secrets ?? secretsIn(env, storeFor(env)!)))
  const checksFor = forEnv<Checks>(() => createChecks(cacheMs))
  const stores = new Map<string, { readonly from: GrantStore; readonly own: Promise<GrantStore> }>()
  const ownStore = (from: GrantStore, issuer: string): Promise<GrantStore> => {
    const known = stores.get(issuer)
    if (known?.from === from) return known.own
    if (stores.size >= MAX_ISSUERS) stores.clear()
    const own = storeOf(from, issuer, 'store of grants', countersOfHost(issuer))
    stores.set(issuer, { from, own })
    return own
  }
  const once = createOnce()
  const reportedAt = new Map<string, number>()
  const open = async (context: SignInContext): Promise<Signing> => {
    const { env, resource, name, address, report = () => {}, waitUntil = () => {} } = context
    const place = placeOf(resource)
    return {
      env,
      place,
      store: checksFor(env)!.forgetting(await ownStore(storeFor(env)!, place.issuer)),
      keys: keysFor(env)!,
      upstream: inUse(upstream, env),
      scopes,
      initialScopes,
      lifetimes,
      name: name ?? new URL(resource).host,
      address,
      machines,
      documents,
      report,
      waitUntil,
      reportOnce(error) {
        const { cause } = once(error)
        if (cause !== undefined) report(cause)
      },
      reportSeldom(kind, error) {
        const now = Date.now()
        if (now - (reportedAt.get(kind) ?? Number.NEGATIVE_INFINITY) < SELDOM_MS) return
        reportedAt.set(kind, now)
        report(error)
      },
    }
  }
  return {
    initialScopes,
    hasRoute: (path, resource) => routeOf(path, placeOf(resource)) !== undefined,
    serve: (request, path, context) => {
      const route = routeOf(path, placeOf(context.resource))
      return route && serveSignIn(request, route, () => open(context), context.report ?? (() => {}))
    },
    verify: (token, context) =>
      checksFor(context.env)!.run(context.resource, token, async (watched) => {
        const signing = await open(context)
        return verifyToken(token, { ...signing, store: watched(signing.store) })
      }),
    upstreamToken: async (sub, connection, context) => upstreamTokenOf(await open(context), sub, connection),
    faultIn(env) {
      try {
        if (storeIn(storeFor, env) !== undefined) keysFor(env)
        // Bindings of a platform are not there when an operator asks.
        else if (secrets === undefined) secretsIn(env, { isLocal: isDev(env) })
      } catch (error) {
        return textOf(error)
      }
      for (const { faultIn } of machines.values())
        try {
          faultIn?.(env)
        } catch (error) {
          return textOf(error)
        }
      return inUse(upstream, env).faultIn?.(env)
    },
    facts: (env) => {
      const made = storeIn(storeFor, env)
      return {
        provider: upstream.name,
        isStandIn: inUse(upstream, env) !== upstream,
        scopes: Object.keys(scopes),
        initialScopes,
        needsSecret: secrets === undefined,
        ...readVariables(env, (given) => upstream.faultIn?.(given)),
        ...(made !== undefined && { hasLocalStore: made.isLocal === true }),
        upstream: () => upstream,
      }
    },
  }
}

/** Undefined: the environment has no binding or variable that it needs. */
function storeIn(storeFor: (env: unknown) => GrantStore | undefined, env: unknown): GrantStore | undefined {
  try {
    return storeFor(env)
  } catch {
    return undefined
  }
}

const MAX_ISSUERS = 16
const SELDOM_MS = 60_000

/** Development needs no secret: what it seals is lost with the process, as its store is. */
function secretsIn(env: unknown, { isLocal }: Pick<GrantStore, 'isLocal'>): string[] {
  const text: unknown = isObject(env) ? env.MAYFLY_SECRET : undefined
  const secrets = typeof text === 'string' ? text.split(',').flatMap((one) => one.trim() || []) : []
  if (secrets.length > 0 || isLocal !== true) {
    if (secrets.length === 0)
      throw new TypeError('MAYFLY_SECRET is not set: sign-in needs it, 32 or more random characters.')
    checkSecrets('MAYFLY_SECRET', secrets)
    return secrets
  }
  return [`${crypto.randomUUID()}${crypto.randomUUID()}`]
}

function checkUpstream(where: string, upstream: Upstream): void {
  const isRight =
    typeof upstream.name === 'string' &&
    typeof upstream.authorizeUrl === 'function' &&
    typeof upstream.exchange === 'function'
  if (!isRight)
    throw new TypeError(
      `"upstream" of ${where} must be an identity provider: google(…), github(…), entra(…), cognito(…) or oidc(…).`,
    )
}

/** RFC 6749 §3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** @throws TypeError naming the first that is not one. */
export function checkScopes(where: string, scopes: { readonly [scope: string]: unknown }): void {
  requireRecord(`"scopes" of ${where}`, scopes, "a sentence by scope, as in { notes: 'Read your notes' }")
  for (const [scope, sentence] of Object.entries(scopes)) {
    if (!SCOPE.test(scope)) throw new TypeError(`"scopes" of ${where}: a scope is a word without spaces.`)
    if (typeof sentence !== 'string' || sentence.trim() === '')
      throw new TypeError(`"scopes.${scope}" of ${where} must be a sentence for the page where people agree.`)
  }
}

/** What a request without `scope` asks for, too (RFC 6749 §3.3). */
function toInitialScopes(
  where: string,
  { scopes, initialScopes }: Pick<CoreOptions, 'scopes' | 'initialScopes'>,
): readonly string[] {
  const known = Object.keys(scopes)
  if (initialScopes === undefined) return known
  if (initialScopes.length === 0)
    throw new TypeError(`"initialScopes" of ${where} is empty: name a scope, or leave it out to ask for all.`)
  refuseUndeclared(`"initialScopes" of ${where}`, initialScopes, scopes)
  return known.filter((scope) => initialScopes.includes(scope))
}

/** @throws TypeError naming the first scope that `signIn` does not have. */
export function refuseUndeclared(where: string, given: readonly string[], scopes: object): void {
  const unknown = given.find((scope) => !Object.hasOwn(scopes, scope))
  if (unknown !== undefined)
    throw new TypeError(`${where} has ${JSON.stringify(unknown)}, which "scopes" does not have.`)
}
