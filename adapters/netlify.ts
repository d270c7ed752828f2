/**
 * Netlify: Functions (v2, on Node) and Edge Functions (on Deno). Both are called as `(request, context)`.
 *
 * Exports `netlify` for Functions and `netlifyEdge` for Edge Functions: their limits differ.
 */

import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import {
  type FetchServer,
  maxDurationFrom,
  type RequestPlatform,
  requireServer,
  serveRequest,
} from '../src/request/platform.ts'

/** The members of Netlify's context that are used here. */
export interface NetlifyContext {
  readonly ip?: string
  waitUntil?(promise: Promise<unknown>): void
}

/** Options of `netlify` and `netlifyEdge`. */
export interface NetlifyOptions {
  /** The environment for `ctx.env`. Default: all environment variables. */
  env?: unknown
  /** Milliseconds after which the platform ends a call. Default `MAYFLY_MAX_DURATION_MS`, else 60 000 for Functions. */
  maxDurationMs?: number
}

const OPTIONS: Names<NetlifyOptions> = { env: 1, maxDurationMs: [0] }

type Handler = (request: Request, context?: NetlifyContext) => Promise<Response>

interface NetlifyGlobal {
  readonly Netlify?: { readonly env: { toObject(): Record<string, string> } }
  readonly process?: { readonly env: unknown }
}

/** https://docs.netlify.com/build/functions/configuration: the limits of a response, with room for headers. */
const MAX_RESPONSE_BYTES = 6_000_000
const MAX_STREAMED_BYTES = 20_000_000
const FUNCTION_MS = 60_000

/** https://docs.netlify.com/build/edge-functions/limits: the response header timeout. */
const EDGE_FIRST_BYTE_MS = 40_000

/**
 * Creates a Function's default export. A promise passed to `ctx.waitUntil` continues after the response.
 *
 * ```ts
 * export default netlify(server)
 * export const config = { path: '/*' }
 * ```
 */
export function netlify(server: FetchServer, options: NetlifyOptions = {}): Handler {
  requireServer('netlify', server)
  refuseUnknown('netlify', options, OPTIONS)
  return createHandler(server, options, (env) => ({
    deadline: Date.now() + (options.maxDurationMs ?? maxDurationFrom(env, FUNCTION_MS)),
    deadlineName: 'the execution limit of the Netlify Function',
    maxResponseBytes: MAX_RESPONSE_BYTES,
    maxStreamedBytes: MAX_STREAMED_BYTES,
  }))
}

/**
 * Creates an Edge Function's default export. The only time limit is that the response must begin within 40 seconds.
 *
 * ```ts
 * export default netlifyEdge(server)
 * export const config = { path: '/*' }
 * ```
 */
export function netlifyEdge(server: FetchServer, options: NetlifyOptions = {}): Handler {
  requireServer('netlifyEdge', server)
  refuseUnknown('netlifyEdge', options, OPTIONS)
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
      // Netlify routes a host only to the site that owns the domain.
      vouchesForHost: Netlify !== undefined,
      ...limitsOf(env),
      ...(context?.waitUntil !== undefined && {
        waitUntil: (promise: Promise<unknown>) => context.waitUntil?.(promise),
      }),
      ...(context?.ip !== undefined && { clientAddress: context.ip }),
    })
  }
}

/** The globals of the runtime. */
function platform(): NetlifyGlobal {
  return globalThis as unknown as NetlifyGlobal
}
