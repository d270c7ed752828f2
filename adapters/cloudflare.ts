/**
 * Cloudflare Workers. An `MCPServer` already is a Worker's default export; this adapter is for Workers that have other
 * handlers beside it.
 */
import type { RateLimiter } from '../src/index.ts'
import { type FetchServer, serveRequest } from '../src/request/platform.ts'

export type { OutageOptions } from '../src/events/outage.ts'
export {
  type DurableObjectNamespace,
  durableObjectRendezvous,
  MayflyRendezvous,
} from './cloudflare-rendezvous.ts'

/** A rate limiting binding; inlined, so that no platform package is needed for its type. */
export interface RateLimitBinding {
  limit(options: { key: string }): Promise<{ success: boolean }>
}

/**
 * Counts calls by a rate limiting binding, for each of Cloudflare's locations.
 *
 * ```ts
 * rateLimiter: (env) => bindingRateLimiter(env.RATE_LIMITER)
 * ```
 *
 * @param periodSeconds the binding's `period`, which the binding itself does not tell: 10 or 60. Default 60.
 */
export function bindingRateLimiter(binding: RateLimitBinding, periodSeconds = 60): RateLimiter {
  return {
    limit: async (key) =>
      (await binding.limit({ key })).success ? { ok: true } : { ok: false, retryAfterSeconds: periodSeconds },
  }
}

/** What workerd passes to `fetch`; inlined, so that no platform package is needed for its type. */
export interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void
}

/**
 * A module worker's `fetch` for `server`.
 *
 * ```ts
 * export default { fetch: cloudflare(server), scheduled() {} }
 * ```
 */
export function cloudflare(
  server: FetchServer,
): (request: Request, env: unknown, executionContext: ExecutionContext) => Promise<Response> {
  return (request, env, executionContext) => {
    // Cloudflare sets it, whatever a client sent under that name.
    const clientAddress = request.headers.get('cf-connecting-ip')
    return serveRequest(server, request, {
      env,
      waitUntil: (promise) => executionContext.waitUntil(promise),
      // Cloudflare routes by host, to the Workers of the account that has it.
      vouchesForHost: true,
      ...(clientAddress !== null && { clientAddress }),
    })
  }
}
