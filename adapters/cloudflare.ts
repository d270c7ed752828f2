/**
 * Cloudflare Workers. An `MCPServer` already is a Worker's default export; this adapter is for Workers that have other
 * handlers beside it.
 */
import { type FetchServer, serveRequest } from '../src/request/platform.ts'

export {
  type DurableObjectNamespace,
  durableObjectRendezvous,
  MayflyRendezvous,
} from './cloudflare-rendezvous.ts'

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
      ...(clientAddress !== null && { clientAddress }),
    })
  }
}
