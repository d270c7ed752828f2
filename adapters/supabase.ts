/**
 * Supabase Edge Functions: Deno behind a gateway, which serves a function under `/functions/v1/<name>` and shows it
 * `/<name>` alone.
 */
import { type FetchServer, maxDurationFrom, serveRequest } from '../src/request/platform.ts'

export interface SupabaseOptions {
  /** `ctx.env`. Default: all environment variables, read once. */
  env?: unknown
  /** Milliseconds after which the platform ends a worker. Default `MAYFLY_MAX_DURATION_MS`, else 150 000, as on the Free plan. */
  maxDurationMs?: number
}

interface EdgeGlobal {
  readonly Deno: { readonly env: { toObject(): Record<string, string> } }
  readonly EdgeRuntime?: { waitUntil(promise: Promise<unknown>): void }
}

/** https://supabase.com/docs/guides/functions/limits */
const FREE_PLAN_MS = 150_000
const FIRST_BYTE_MS = 150_000

const GATEWAY_PREFIX = '/functions/v1'

/**
 * A handler for `Deno.serve` in an Edge Function. The public address is that of `SUPABASE_URL`; behind your own domain
 * set `http.publicUrl`. Call it once, while the module loads: the platform counts a worker's time from there.
 *
 * ```ts
 * Deno.serve(supabase(server))
 * ```
 */
export function supabase(
  server: FetchServer,
  options: SupabaseOptions = {},
): (request: Request) => Promise<Response> {
  const { Deno, EdgeRuntime } = platform()
  const variables = Deno.env.toObject()
  const { env = variables, maxDurationMs = maxDurationFrom(variables, FREE_PLAN_MS) } = options
  const workerStartedAt = Date.now()
  return (request) => {
    const now = Date.now()
    const { url, prefix, vouchesForHost } = publicAddress(request.url, variables.SUPABASE_URL)
    return serveRequest(server, new Request(url, request), {
      env,
      prefix,
      vouchesForHost,
      // Plain deno has no such end.
      deadline:
        EdgeRuntime === undefined ? now + maxDurationMs : workerEnd(workerStartedAt, now, maxDurationMs),
      deadlineName: 'the wall clock limit of the Edge Function',
      firstByteBy: now + FIRST_BYTE_MS,
      ...(EdgeRuntime !== undefined && { waitUntil: (promise) => EdgeRuntime.waitUntil(promise) }),
    })
  }
}

/**
 * A worker takes calls until half of its time is over, and whatever then runs ends with it. So one that still takes a call has at
 * least as long again: also on a paid plan that is not configured here.
 */
function workerEnd(startedAt: number, now: number, maxDurationMs: number): number {
  return startedAt + Math.max(maxDurationMs, 2 * (now - startedAt))
}

/** As clients write it: the gateway has taken its own prefix off, and the function's name is the first segment left. */
function publicAddress(
  seen: string,
  projectUrl: string | undefined,
): { url: string; prefix: string; vouchesForHost: boolean } {
  const url = new URL(seen)
  const path = url.pathname.startsWith(`${GATEWAY_PREFIX}/`)
    ? url.pathname.slice(GATEWAY_PREFIX.length)
    : url.pathname
  const name = path.split('/', 2)[1] ?? ''
  // Of a local stack it names a host inside its network, `http://kong:8000`, which no client knows.
  const publicOrigin = projectUrl?.startsWith('https://') ? new URL(projectUrl).origin : undefined
  const origin = publicOrigin ?? url.origin
  return {
    vouchesForHost: publicOrigin !== undefined,
    url: origin + GATEWAY_PREFIX + path + url.search,
    prefix: name === '' ? GATEWAY_PREFIX : `${GATEWAY_PREFIX}/${name}`,
  }
}

/** Its globals, where this runs. */
function platform(): EdgeGlobal {
  return globalThis as unknown as EdgeGlobal
}
