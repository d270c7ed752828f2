/**
 * Netlify: Functions (v2, on Node) and Edge Functions (on Deno). Both are called as `(request, context)`.
 *
 * Exports `netlify` for Functions and `netlifyEdge` for Edge Functions: their limits differ.
 */
import {
  type FetchServer,
  maxDurationFrom,
  type RequestPlatform,
  serveRequest,
} from '../src/request/platform.ts'

/** What Netlify passes with a request, as far as it is used here. */
export interface NetlifyContext {
  readonly ip?: string
  waitUntil?(promise: Promise<unknown>): void
}

export interface NetlifyOptions {
  /** `ctx.env`. Default: all environment variables. */
  env?: unknown
  /** Milliseconds after which the platform ends a call. Default `MAYFLY_MAX_DURATION_MS`, else 60 000 for Functions. */
  maxDurationMs?: number
}

type Handler = (request: Request, context?: NetlifyContext) => Promise<Response>

interface NetlifyGlobal {
  readonly Netlify?: { readonly env: { toObject(): Record<string, string> } }
  readonly process?: { readonly env: unknown }
}

/** https://docs.netlify.com/build/functions/configuration: of a response that is not streamed, with room for headers. */
const MAX_RESPONSE_BYTES = 6_000_000
const FUNCTION_MS = 60_000

/** https://docs.netlify.com/build/edge-functions/limits: the response header timeout. */
const EDGE_FIRST_BYTE_MS = 40_000

/**
 * A Function's default export. What is passed to `ctx.waitUntil` goes on after the response.
 *
 * ```ts
 * export default netlify(server)
 * export const config = { path: '/*' }
 * ```
 */
export function netlify(server: FetchServer, options: NetlifyOptions = {}): Handler {
  return createHandler(server, options, (env) => ({
    deadline: Date.now() + (options.maxDurationMs ?? maxDurationFrom(env, FUNCTION_MS)),
    deadlineName: 'the execution limit of the Netlify Function',
    maxResponseBytes: MAX_RESPONSE_BYTES,
  }))
}

/**
 * An Edge Function's default export. Its calls have no limit but that the response begins within 40 seconds.
 *
 * ```ts
 * export default netlifyEdge(server)
 * export const config = { path: '/*' }
 * ```
 */
export function netlifyEdge(server: FetchServer, options: NetlifyOptions = {}): Handler {
  return createHandler(server, options, (env) => ({
    firstByteBy: Date.now() + (options.maxDurationMs ?? maxDurationFrom(env, EDGE_FIRST_BYTE_MS)),
    deadlineName: 'the response header timeout of Netlify Edge Functions',
  }))
}

function createHandler(
  server: FetchServer,
  options: NetlifyOptions,
  limitsOf: (env: unknown) => RequestPlatform,
): Handler {
  return (request, context) => {
    const { Netlify, process } = platform()
    const env = options.env ?? Netlify?.env.toObject() ?? process?.env ?? {}
    return serveRequest(server, request, {
      env,
      // It routes by host, to the site that has the domain.
      vouchesForHost: Netlify !== undefined,
      ...limitsOf(env),
      ...(context?.waitUntil !== undefined && {
        waitUntil: (promise: Promise<unknown>) => context.waitUntil?.(promise),
      }),
      ...(context?.ip !== undefined && { clientAddress: context.ip }),
    })
  }
}

/** Its globals, where this runs. */
function platform(): NetlifyGlobal {
  return globalThis as unknown as NetlifyGlobal
}
