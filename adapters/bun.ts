/**
 * Bun: serves an `MCPServer`, or anything with a `fetch`, through `Bun.serve`.
 *
 * Exports `bun`, which returns the options of `Bun.serve` or a module's default export, and `serve`, which listens and closes
 * gracefully.
 */
import { printError } from '../src/definition/print-error.ts'
import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import { isLoopbackPeer } from '../src/request/connection.ts'
import { type FetchServer, requireServer, serveRequest } from '../src/request/platform.ts'
import { requireVariables } from '../src/request/start.ts'
import { isLongLived } from './_bus/long-lived.ts'

/** The used members of `Bun.serve`'s result; inlined, so that the type needs no package. */
export interface BunServer {
  readonly port?: number | undefined
  readonly hostname?: string | undefined
  requestIP(request: Request): { readonly address: string } | null
  timeout(request: Request, seconds: number): void
  stop(closeActiveConnections?: boolean): Promise<void>
}

/** Options of `bun`. */
export interface BunOptions {
  /** The environment for `ctx.env`. Default `process.env`. */
  env?: unknown
}

/** Options of `serve`. */
export interface ServeOptions extends BunOptions {
  /** Default 3000; 0 for any free port. */
  port?: number
  /** The address to listen on. Default `127.0.0.1`, which only this machine can reach. */
  hostname?: string
}

/** A listening server. */
export interface RunningServer {
  /** The endpoint for clients, such as `http://127.0.0.1:3000/mcp`. */
  readonly url: string
  readonly port: number
  /** Stops accepting requests, waits up to 5 seconds for running ones and `waitUntil` work, then drops the rest. */
  close(): Promise<void>
}

interface BunGlobal {
  readonly Bun: {
    serve(options: BunHandler & { port: number; hostname: string }): BunServer
  }
  readonly process: { readonly env: unknown }
}

const OPTIONS: Names<BunOptions> = { env: 1 }
const SERVE_OPTIONS: Names<ServeOptions> = { ...OPTIONS, port: [0, 65535], hostname: 'string' }

type BunFetch = (request: Request, server: BunServer) => Promise<Response>

interface BunHandler {
  fetch: BunFetch
  development: false
  reusePort: false
}

type Track = (work: Promise<unknown>) => void

const CLOSE_GRACE_MS = 5000

/**
 * Creates the options of `Bun.serve`, or a module's default export. A connection over a loopback address is guarded against DNS rebinding.
 * Does not trust forwarded headers.
 *
 * ```ts
 * export default { ...bun(server), port: 3000, hostname: '127.0.0.1' }
 * ```
 */
export function bun(server: FetchServer, options: BunOptions = {}): BunHandler {
  requireServer('bun', server)
  refuseUnknown('bun', options, OPTIONS)
  return createFetch(server, options, () => {})
}

/**
 * Serves until `close()`. Throws Bun's error if it cannot listen, and a `TypeError` if `staticTokens` has an entry whose token is not set
 * in `env`. Does not install signal handlers.
 *
 * ```ts
 * const { url, close } = serve(server, { port: 3000 })
 * ```
 */
export function serve(server: FetchServer, options: ServeOptions = {}): RunningServer {
  requireServer('serve', server)
  refuseUnknown('serve', options, SERVE_OPTIONS)
  const { port = 3000, hostname = '127.0.0.1' } = options
  requireVariables(server, options.env ?? platform().process?.env)
  const running = new Set<Promise<unknown>>()
  const track: Track = (work) => {
    running.add(work)
    work.finally(() => running.delete(work))
  }
  const listener = platform().Bun.serve({ ...createFetch(server, options, track), port, hostname })
  const bound = listener.port ?? port
  const host = hostname === '0.0.0.0' || hostname === '::' ? '127.0.0.1' : hostname
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/mcp`,
    port: bound,
    close: async () => {
      // Open `subscriptions/listen` streams would not end by themselves.
      const ended = server.close?.().catch(printError)
      const drained = listener.stop().then(() => settled(running))
      const grace = new Promise((resolve) => setTimeout(resolve, CLOSE_GRACE_MS))
      await Promise.race([drained, grace])
      await Promise.all([listener.stop(true), ended])
    },
  }
}

function createFetch(server: FetchServer, options: BunOptions, track: Track): BunHandler {
  const waitUntil = (promise: Promise<unknown>): void => track(promise.catch(printError))
  const mayNotify = isLongLived(platform().process?.env)
  return {
    // Otherwise Bun answers an error of an app with a page that shows its source, unless NODE_ENV is `production`.
    development: false,
    // Otherwise Bun 1.4 shares the port with another process where `development` is false: a second server starts, and gets half of the calls.
    reusePort: false,
    fetch: (request, listener) => {
      const clientAddress = listener.requestIP(request)?.address
      // Bun closes a connection after 10 seconds without data; a call that is answered in JSON may take longer.
      listener.timeout(request, 0)
      return serveRequest(server, request, {
        env: options.env ?? platform().process.env,
        waitUntil,
        canStream: true,
        isLongLived: mayNotify,
        // Not by its hostname: that is `localhost` for a listener on all interfaces, if none was set.
        loopback: isLoopbackPeer(clientAddress),
        clientAddress,
      })
    },
  }
}

/** The globals of Bun, if this runs there. */
function platform(): BunGlobal {
  return globalThis as unknown as BunGlobal
}

/** In a loop, since running requests may register more `waitUntil` work. */
async function settled(running: Set<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled(running)
}
