/**
 * Supabase Edge Functions: Deno behind a gateway, which serves a function under `/functions/v1/<name>` but passes only `/<name>` to
 * it.
 */

import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import { type FetchServer, maxDurationFrom, requireServer, serveRequest } from '../src/request/platform.ts'
import { hasUrl, withUrl } from '../src/request/request-url.ts'

/** Options of `supabase`. */
export interface SupabaseOptions {
  /** The environment for `ctx.env`. Default: all environment variables, read once. */
  env?: unknown
  /** Milliseconds after which the platform ends a worker. Default `MAYFLY_MAX_DURATION_MS`, else 150 000, as on the Free plan. */
  maxDurationMs?: number
}

const OPTIONS: Names<SupabaseOptions> = { env: 1, maxDurationMs: [0] }

interface EdgeGlobal {
  readonly Deno: { readonly env: { toObject(): Record<string, string> } }
  readonly EdgeRuntime?: { waitUntil(promise: Promise<unknown>): void }
}

/** https://supabase.com/docs/guides/functions/limits */
const FREE_PLAN_MS = 150_000
const FIRST_BYTE_MS = 150_000

const GATEWAY_PREFIX = '/functions/v1'

/**
 * Creates a handler for `Deno.serve` in an Edge Function. The public URL is based on `SUPABASE_URL`; on your own domain, set
 * `http.publicUrl`. Call this once, while the module loads: the platform's time limit of a worker begins then.
 *
 * ```ts
 * Deno.serve(supabase(server))
 * ```
 */
export function supabase(
  server: FetchServer,
  options: SupabaseOptions = {},
): (request: Request) => Promise<Response> {
  requireServer('supabase', server)
  refuseUnknown('supabase', options, OPTIONS)
  const { Deno, EdgeRuntime } = platform()
  if (Deno === undefined) throw new TypeError('supabase() runs on Supabase Edge Functions, or on Deno.')
  const variables = Deno.env.toObject()
  const { env = variables, maxDurationMs = maxDurationFrom(variables, FREE_PLAN_MS) } = options
  const workerStartedAt = Date.now()
  return (request) => {
    const now = Date.now()
    // The server refuses a request without a valid URL.
    const address = hasUrl(request) ? publicAddress(request.url, variables.SUPABASE_URL) : undefined
    return serveRequest(server, address === undefined ? request : withUrl(request, address.url), {
      env,
      ...(address !== undefined && { prefix: address.prefix, vouchesForHost: address.vouchesForHost }),
      // Plain Deno has no limit.
      deadline:
        EdgeRuntime === undefined ? now + maxDurationMs : workerEnd(workerStartedAt, now, maxDurationMs),
      deadlineName: 'the wall clock limit of the Edge Function',
      firstByteBy: now + FIRST_BYTE_MS,
      ...(EdgeRuntime !== undefined && { waitUntil: (promise) => EdgeRuntime.waitUntil(promise) }),
    })
  }
}

/**
 * When a call must end. A worker accepts calls until half of its time is over, and its end also ends running calls. So a new call always
 * has at least half of the time, even on a paid plan that is not configured here.
 */
function workerEnd(startedAt: number, now: number, maxDurationMs: number): number {
  return startedAt + Math.max(maxDurationMs, 2 * (now - startedAt))
}

/** The URL as clients use it: the gateway removes its own prefix, so the function's name is the first remaining segment. */
function publicAddress(
  seen: string,
  projectUrl: string | undefined,
): { url: string; prefix: string; vouchesForHost: boolean } {
  const url = new URL(seen)
  const path = url.pathname.startsWith(`${GATEWAY_PREFIX}/`)
    ? url.pathname.slice(GATEWAY_PREFIX.length)
    : url.pathname
  const name = path.split('/', 2)[1] ?? ''
  // In a local stack it is a host inside the stack's network, `http://kong:8000`, which clients cannot reach.
  const publicOrigin = projectUrl?.startsWith('https://') ? new URL(projectUrl).origin : undefined
  const origin = publicOrigin ?? url.origin
  return {
    vouchesForHost: publicOrigin !== undefined,
    url: origin + GATEWAY_PREFIX + path + url.search,
    prefix: name === '' ? GATEWAY_PREFIX : `${GATEWAY_PREFIX}/${name}`,
  }
}

/** The globals of the runtime. */
function platform(): EdgeGlobal {
  return globalThis as unknown as EdgeGlobal
}
