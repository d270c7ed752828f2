/**
 * Supabase Edge Functions: Deno behind a gateway, which serves a function under `/functions/v1/<name>` and shows it
 * `/<name>` alone.
 */
import { type FetchServer, maxDurationFrom, serveRequest } from '../src/request/platform.ts'

export interface SupabaseOptions {
  /** `ctx.env`. Default: all environment variables, read once. */
  env?: unknown
  /** Milliseconds after which the platform ends a call. Default `MAYFLY_MAX_DURATION_MS`, else 150 000, as on the Free plan. */
  maxDurationMs?: number
}

interface EdgeGlobal {
  readonly Deno: { readonly env: { toObject(): Record<string, string> } }
  readonly EdgeRuntime?: { waitUntil(promise: Promise<unknown>): void }
}

/** https://supabase.com/docs/guides/functions/limits */
const FREE_PLAN_MS = 150_000

const GATEWAY_PREFIX = '/functions/v1'

/**
 * A handler for `Deno.serve` in an Edge Function. The public address is that of `SUPABASE_URL`; behind a domain of your own
 * set `http.publicUrl`.
 *
 * ```ts
 * Deno.serve(supabase(server))
 * ```
 */
export function supabase(
  server: FetchServer,
  options: SupabaseOptions = {},
): (request: Request) => Promise<Response> {
  let { env } = options
  return (request) => {
    const { Deno, EdgeRuntime } = platform()
    const variables = Deno.env.toObject()
    env ??= variables
    const { maxDurationMs = maxDurationFrom(variables, FREE_PLAN_MS) } = options
    const { url, prefix } = publicAddress(request.url, variables.SUPABASE_URL)
    return serveRequest(server, new Request(url, request), {
      env,
      prefix,
      deadline: Date.now() + maxDurationMs,
      deadlineName: 'the wall clock limit of the Edge Function',
      ...(EdgeRuntime !== undefined && { waitUntil: (promise) => EdgeRuntime.waitUntil(promise) }),
    })
  }
}

/** As clients write it: the gateway has taken its own prefix off, and the function's name is the first segment left. */
function publicAddress(seen: string, projectUrl: string | undefined): { url: string; prefix: string } {
  const url = new URL(seen)
  const path = url.pathname.startsWith(`${GATEWAY_PREFIX}/`)
    ? url.pathname.slice(GATEWAY_PREFIX.length)
    : url.pathname
  const name = path.split('/', 2)[1] ?? ''
  // Of a local stack it names a host inside its network, `http://kong:8000`, which no client knows.
  const origin = projectUrl?.startsWith('https://') ? new URL(projectUrl).origin : url.origin
  return {
    url: origin + GATEWAY_PREFIX + path + url.search,
    prefix: name === '' ? GATEWAY_PREFIX : `${GATEWAY_PREFIX}/${name}`,
  }
}

/** Its globals, where this runs. */
function platform(): EdgeGlobal {
  return globalThis as unknown as EdgeGlobal
}
