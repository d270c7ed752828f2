/**
 * What a platform is to a request, and what it serves.
 */
import type { ClientCapabilities, Implementation, LogLevel } from '../definition/context.ts'
import type { Rendezvous } from '../interaction/rendezvous.ts'
import type { Caller } from './access.ts'

/**
 * What a platform gives to one request. An adapter fills it in; everything is optional.
 *
 * The `Request` that goes with it has the URL that clients use, as far as the platform vouches for it.
 */
export interface RequestPlatform {
  /** Bindings or environment variables, `ctx.env`. */
  readonly env?: unknown
  /** Keeps the invocation alive until `promise` settles. */
  readonly waitUntil?: (promise: Promise<unknown>) => void
  /** When the platform ends this call, in milliseconds since the epoch. */
  readonly deadline?: number
  /** When the response must have begun, in milliseconds since the epoch: the deadline of what is not streamed. */
  readonly firstByteBy?: number
  /** What sets the deadline, as the platform's users know it: `the timeout of the Lambda function`. */
  readonly deadlineName?: string
  /** Whether a response may be sent piece by piece. Default true. */
  readonly canStream?: boolean
  /** Bytes that the body of a whole response may have. Default: no limit. */
  readonly maxResponseBytes?: number
  /** The path that the platform puts before the server's own, part of the request's URL: `/functions/v1/shop`, `/prod`. */
  readonly prefix?: string
  /** The listener is bound to a loopback address: only local hosts and origins are served (DNS rebinding). */
  readonly loopback?: boolean
  /** The platform serves no hosts but this server's: the host in the URL is more than what the client wrote. Default false. */
  readonly vouchesForHost?: boolean
  /** The caller's address as the platform vouches for it. */
  readonly clientAddress?: string
  /**
   * Makes the `Request` that code of the server's author is given, where the one that is served is a look-alike, cheaper to make than a
   * real one. Default: the one that is served.
   */
  readonly toRequest?: (served: Request) => Request
  /**
   * Makes the response to an answer that is there as a whole, where there is a cheaper way than a `Response` of the platform's. Default:
   * `new Response`.
   */
  readonly respond?: (
    text: string | null,
    status: number,
    headers: { readonly [name: string]: string },
  ) => Response
  /** Whom code of the host has let in before. Counts where the server has no `auth`, which decides by itself. */
  readonly caller?: Caller
  /** The connection that the request came on, where it lasts longer than the request. Default: no connection. */
  readonly session?: ClientSession
}

/** A connection that lasts: what is said on it is remembered, and its client can be asked. */
export interface ClientSession {
  /** Undefined where the connection itself is the session, as on stdio. */
  readonly id: string | undefined
  /** What `initialize` declared; undefined before, and for modern clients, who declare it in each request. */
  declared:
    | {
        readonly protocolVersion: string
        readonly clientInfo: Implementation | undefined
        readonly clientCapabilities: ClientCapabilities
      }
    | undefined
  /** As `logging/setLevel` has set it. */
  logLevel: LogLevel | undefined
  /** URIs of the resources that the client has subscribed to. */
  readonly subscribed: Set<string>
  /** Where its answers meet the calls that wait for them. */
  readonly rendezvous: Rendezvous
}

/** What an adapter serves: `handle` is called where there is one (an `MCPServer`), else `fetch` (a Hono app). */
export interface FetchServer {
  fetch(request: Request, env?: unknown, executionContext?: unknown): Response | Promise<Response>
  handle?(request: Request, platform: RequestPlatform): Promise<Response>
  /**
   * `handle` itself, where it takes a platform's `toRequest` and `respond`. Who puts another `handle` around it reads and makes real
   * requests and responses, so it counts only where both are the same function.
   */
  readonly leanHandle?: FetchServer['handle']
  /** Ends what outlives requests, where there is such a thing: called by adapters of processes that end. */
  close?(): Promise<void>
}

/** The request that code of the server's author is given. */
export function givenRequest(served: Request, { toRequest }: RequestPlatform): Request {
  return toRequest === undefined ? served : toRequest(served)
}

/** Serves one request with all that an adapter knows, as far as `server` takes it. */
export async function serveRequest(
  server: FetchServer,
  request: Request,
  platform: RequestPlatform,
): Promise<Response> {
  if (server.handle !== undefined) return server.handle(request, platform)
  const { env, waitUntil = () => {} } = platform
  return server.fetch(request, env, { waitUntil })
}

/**
 * Milliseconds that the platform gives one call, where it does not say so itself: `MAYFLY_MAX_DURATION_MS` of its environment,
 * for a plan or a setting other than the default.
 */
export function maxDurationFrom(env: unknown, fallbackMs: number): number {
  const named = Number(
    (env as { MAYFLY_MAX_DURATION_MS?: unknown } | null | undefined)?.MAYFLY_MAX_DURATION_MS,
  )
  return named > 0 ? named : fallbackMs
}
