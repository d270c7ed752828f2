/**
 * Vercel: Functions on Node (fluid compute) and on the Edge runtime.
 *
 * Exports `vercel`, the default export of a function, and `routeHandlers`, the exports of a Next.js route.
 */
import { type FetchServer, maxDurationFrom, serveRequest } from '../src/request/platform.ts'

export interface VercelOptions {
  /** `ctx.env`. Default `process.env`. */
  env?: unknown
  /** Milliseconds after which the platform ends a call. Default `MAYFLY_MAX_DURATION_MS`, else 300 000. */
  maxDurationMs?: number
  /** Milliseconds within which the response must begin. Default 25 000 on the Edge runtime, no limit on Node. */
  firstByteMs?: number
}

/** What the Edge runtime passes to a function. */
export interface VercelContext {
  waitUntil?(promise: Promise<unknown>): void
}

type Handler = (request: Request, context?: unknown) => Promise<Response>

/** Methods of the endpoint; `GET` shows the page and the health check. */
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
 * A function's default export. What is passed to `ctx.waitUntil` keeps the invocation alive after the response.
 *
 * ```ts
 * export default vercel(server)
 * ```
 */
export function vercel(server: FetchServer, options: VercelOptions = {}): { fetch: Handler } {
  return {
    fetch: (request, context) => {
      const { process, EdgeRuntime } = platform()
      const env = options.env ?? process?.env ?? {}
      const { waitUntil } = { ...requestContext(), ...(context as VercelContext | undefined) }
      const { maxDurationMs = maxDurationFrom(env, DEFAULT_DURATION_MS) } = options
      const { firstByteMs = EdgeRuntime === undefined ? undefined : EDGE_FIRST_BYTE_MS } = options
      // Vercel sets it, whatever a client sent under that name; elsewhere anybody could.
      const isVercel = process?.env.VERCEL !== undefined
      const clientAddress = isVercel ? request.headers.get('x-real-ip') : null
      const now = Date.now()
      return serveRequest(server, request, {
        env,
        deadline: now + maxDurationMs,
        deadlineName: 'the maximum duration of the Vercel Function',
        // It routes by host, to the project that has the domain.
        vouchesForHost: isVercel,
        ...(firstByteMs !== undefined && { firstByteBy: now + firstByteMs }),
        ...(typeof waitUntil === 'function' && {
          waitUntil: (promise: Promise<unknown>) => waitUntil.call(context, promise),
        }),
        ...(clientAddress !== null && { clientAddress }),
      })
    },
  }
}

/**
 * What a Next.js `route.ts` exports, of any path: `app/api/[transport]/route.ts`, `app/mcp/route.ts`.
 *
 * ```ts
 * export const { GET, HEAD, POST, DELETE, OPTIONS } = routeHandlers(server)
 * ```
 */
export function routeHandlers(server: FetchServer, options: VercelOptions = {}): RouteHandlers {
  const { fetch } = vercel(server, options)
  // Next.js passes the route's parameters second: no context of the platform's.
  const handle: Handler = (request) => fetch(request)
  return { GET: handle, HEAD: handle, POST: handle, DELETE: handle, OPTIONS: handle }
}

/** Where Vercel's Node runtime keeps what belongs to the request at hand. */
function requestContext(): VercelContext | undefined {
  const key = Symbol.for('@vercel/request-context')
  const store = Reflect.get(globalThis, key) as { get?(): VercelContext | undefined } | undefined
  return store?.get?.()
}

/** Its globals, where this runs. */
function platform(): VercelGlobal {
  return globalThis as unknown as VercelGlobal
}
