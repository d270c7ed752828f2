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
  /** The caller's address as the platform vouches for it. */
  readonly clientAddress?: string
}

/** What an adapter serves: `handle` is called where there is one (an `MCPServer`), else `fetch` (a Hono app). */
export interface FetchServer {
  fetch(request: Request, env?: unknown, executionContext?: unknown): Response | Promise<Response>
  handle?(request: Request, platform: RequestPlatform): Promise<Response>
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
