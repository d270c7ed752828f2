/**
 * Deno and Deno Deploy. An `MCPServer` already is a default export for `deno serve`; this adapter creates a handler for
 * `Deno.serve`, which also provides the caller's address.
 */

import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import { isLoopbackPeer } from '../src/request/connection.ts'
import { type FetchServer, requireServer, serveRequest } from '../src/request/platform.ts'
import { isLongLived } from './_bus/long-lived.ts'

/** The members of `Deno.serve`'s second argument that are used here. */
export interface ServeHandlerInfo {
  readonly remoteAddr: { readonly transport: string; readonly hostname?: string }
}

/** Options of `deno`. */
export interface DenoOptions {
  /** The environment for `ctx.env`. Default: all environment variables, read once; this needs `--allow-env`. */
  env?: unknown
  /** The address the listener is bound to. A loopback address turns the DNS-rebinding guard on. Default: that of each connection. */
  hostname?: string
}

const OPTIONS: Names<DenoOptions> = { env: 1, hostname: 'string' }

interface DenoGlobal {
  readonly Deno: { readonly env: { toObject(): Record<string, string> } }
}

/**
 * Creates a handler for `Deno.serve`, or the `fetch` of a default export. Needs the permissions net and env. A promise passed to
 * `ctx.waitUntil` continues after the response, as long as the process or isolate lives.
 *
 * ```ts
 * Deno.serve(deno(server))
 * ```
 */
export function deno(
  server: FetchServer,
  options: DenoOptions = {},
): (request: Request, info?: ServeHandlerInfo) => Promise<Response> {
  requireServer('deno', server)
  refuseUnknown('deno', options, OPTIONS)
  const { hostname } = options
  const isLocal = isLoopbackPeer(hostname)
  // Read at the first request: a module that is only imported needs no permission.
  let process: Process | undefined
  return (request, info) => {
    process ??= describe(options.env ?? platform().Deno.env.toObject())
    const { env, mayNotify, isDeployed } = process
    const clientAddress = info?.remoteAddr.hostname
    return serveRequest(server, request, {
      env,
      isLongLived: mayNotify,
      loopback: isLocal || isLoopbackPeer(clientAddress),
      // Deno Deploy routes a host only to the app that owns the domain.
      vouchesForHost: isDeployed,
      clientAddress,
    })
  }
}

/** What is the same for each request. */
interface Process {
  readonly env: object
  readonly mayNotify: boolean
  readonly isDeployed: boolean
}

function describe(env: unknown): Process {
  const { DENO_DEPLOYMENT_ID } = env as { readonly DENO_DEPLOYMENT_ID?: unknown }
  return { env: env as object, mayNotify: isLongLived(env), isDeployed: DENO_DEPLOYMENT_ID !== undefined }
}

/** The globals of the runtime. */
function platform(): DenoGlobal {
  return globalThis as unknown as DenoGlobal
}
