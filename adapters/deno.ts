/**
 * Deno and Deno Deploy. An `MCPServer` already is a default export for `deno serve`; this adapter makes a handler for
 * `Deno.serve`, which also tells the caller's address.
 */
import { isLoopbackAddress } from '../src/request/address.ts'
import { type FetchServer, serveRequest } from '../src/request/platform.ts'

/** What `Deno.serve` passes to its handler, as far as it is used here. */
export interface ServeHandlerInfo {
  readonly remoteAddr: { readonly transport: string; readonly hostname?: string }
}

export interface DenoOptions {
  /** `ctx.env`. Default: all environment variables, read once, which needs `--allow-env`. */
  env?: unknown
  /** The address the listener is bound to. A loopback one turns the DNS-rebinding guard on. Default: not known. */
  hostname?: string
}

interface DenoGlobal {
  readonly Deno: { readonly env: { toObject(): Record<string, string> } }
}

/**
 * A handler for `Deno.serve`, or the `fetch` of a default export. Needs the permissions net and env. What is passed to
 * `ctx.waitUntil` goes on after the response, as long as the process or isolate lives.
 *
 * ```ts
 * Deno.serve(deno(server))
 * ```
 */
export function deno(
  server: FetchServer,
  options: DenoOptions = {},
): (request: Request, info?: ServeHandlerInfo) => Promise<Response> {
  const { hostname } = options
  const loopback = hostname !== undefined && isLoopbackAddress(hostname)
  let { env } = options
  return (request, info) => {
    env ??= platform().Deno.env.toObject()
    const { DENO_DEPLOYMENT_ID } = env as { readonly DENO_DEPLOYMENT_ID?: unknown }
    const clientAddress = info?.remoteAddr.hostname
    return serveRequest(server, request, {
      env,
      loopback,
      // Deno Deploy routes by host, to the app that has the domain.
      vouchesForHost: DENO_DEPLOYMENT_ID !== undefined,
      ...(clientAddress !== undefined && { clientAddress }),
    })
  }
}

/** Its globals, where this runs. */
function platform(): DenoGlobal {
  return globalThis as unknown as DenoGlobal
}
