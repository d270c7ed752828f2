/**
 * Vercel: Functions on Node (fluid compute) and on the Edge runtime.
 *
 * Exports `vercel`, the default export of a function, and `routeHandlers`, the exports of a Next.js route.
 */

import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import { type FetchServer, maxDurationFrom, requireServer, serveRequest } from '../src/request/platform.ts'

/** Options of `vercel` and `routeHandlers`. */
export interface VercelOptions {
  /** The environment for `ctx.env`. Default `process.env`. */
  env?: unknown
  /** Milliseconds after which the platform ends a call. Default `MAYFLY_MAX_DURATION_MS`, else 300 000. */
  maxDurationMs?: number
  /** Milliseconds within which the response must begin. Default 25 000 on the Edge runtime, no limit on Node. */
  firstByteMs?: number
}

const OPTIONS: Names<VercelOptions> = { env: 1, maxDurationMs: [0], firstByteMs: [0] }

/** What the Edge runtime passes to a function. */
export interface VercelContext {
  waitUntil?(promise: Promise<unknown>): void
}

type Handler = (request: Request, context?: unknown) => Promise<Response>

/** The methods of the endpoint; `GET` shows the page and the health check. */
export interface RouteHandlers {
  readonly GET: Handler
  readonly HEAD: Handler
  readonly POST: Handler
  readonly DELETE: Handler
  readonly OPTIONS: Handler
}

/** https://vercel.com/docs/functions/limitations */
const DEFAULT_DURATION_MS = 300_000
const EDGE_FIRST_BYTE_MS = 25_000

interface VercelGlobal {
  readonly process?: { readonly env: { readonly [name: string]: string | undefined } }
  readonly EdgeRuntime?: string
}

/**
 * Creates a function's default export. A promise passed to `ctx.waitUntil` keeps the invocation alive after the response.
 *
 * ```ts
 * export default vercel(server)
 * ```
 */
export function vercel(server: FetchServer, options: VercelOptions = {}): { fetch: Handler } {
  requireServer('vercel', server)
  refuseUnknown('vercel', options, OPTIONS)
  return { fetch: createHandler(server, options, () => false) }
}

/**
 * Creates the exports of a Next.js `route.ts` on any path: `app/api/[transport]/route.ts`, `app/mcp/route.ts`. In `next dev` (`NODE_ENV` is
 * `development`) only hosts of this machine are served, and those that `http.allowedHosts`, `http.publicUrl` or `MAYFLY_ALLOWED_HOSTS` name.
 *
 * ```ts
 * export const { GET, HEAD, POST, DELETE, OPTIONS } = routeHandlers(server)
 * ```
 */
export function routeHandlers(server: FetchServer, options: VercelOptions = {}): RouteHandlers {
  requireServer('routeHandlers', server)
  refuseUnknown('routeHandlers', options, OPTIONS)
  const serve = createHandler(server, options, isInDevelopment)
  // Next.js passes the route's parameters as the second argument, not a platform context.
  const handle: Handler = (request) => serve(request)
  return { GET: handle, HEAD: handle, POST: handle, DELETE: handle, OPTIONS: handle }
}

/**
 * Whether this is `next dev`. It does not tell a route the address of the connection (a page may set `X-Forwarded-For`), so every connection
 * counts as one from this machine, whose browser a page could use (DNS rebinding).
 */
function isInDevelopment(): boolean {
  return platform().process?.env.NODE_ENV === 'development'
}

/** @param isLocal Whether only this machine's own hosts are served, unless Vercel routes the request. */
function createHandler(server: FetchServer, options: VercelOptions, isLocal: () => boolean): Handler {
  return (request, context) => {
    const { process, EdgeRuntime } = platform()
    const given = requestContext()
    const env = options.env ?? process?.env ?? {}
    const { waitUntil } = { ...given, ...(context as VercelContext | undefined) }
    const { maxDurationMs = maxDurationFrom(env, DEFAULT_DURATION_MS) } = options
    const { firstByteMs = EdgeRuntime === undefined ? undefined : EDGE_FIRST_BYTE_MS } = options
    // Vercel overwrites this header if a client sends it; elsewhere a client could set it. The variable alone proves nothing: a file of
    // `vercel env pull` has it, too, but only Vercel's runtime has a context for each request.
    const isVercel = process?.env.VERCEL !== undefined && given !== undefined
    const clientAddress = isVercel ? request.headers.get('x-real-ip') : null
    const now = Date.now()
    return serveRequest(server, request, {
      env,
      deadline: now + maxDurationMs,
      deadlineName: 'the maximum duration of the Vercel Function',
      // Vercel routes a host only to the project that owns the domain.
      vouchesForHost: isVercel,
      ...(!isVercel && isLocal() && { loopback: true }),
      ...(firstByteMs !== undefined && { firstByteBy: now + firstByteMs }),
      ...(typeof waitUntil === 'function' && {
        waitUntil: (promise: Promise<unknown>) => waitUntil.call(context, promise),
      }),
      ...(clientAddress !== null && { clientAddress }),
    })
  }
}

/** Reads the context of the current request, where Vercel's Node runtime stores it. */
function requestContext(): VercelContext | undefined {
  const key = Symbol.for('@vercel/request-context')
  const store = Reflect.get(globalThis, key) as { get?(): VercelContext | undefined } | undefined
  return store?.get?.()
}

/** The globals of the runtime. */
function platform(): VercelGlobal {
  return globalThis as unknown as VercelGlobal
}
