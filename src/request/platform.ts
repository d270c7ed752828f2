/**
 * What a platform provides for a request, and the server that an adapter calls.
 */
import type { AuthInfo, ClientCapabilities, Implementation, LogLevel } from '../definition/context.ts'
import type { Rendezvous } from '../interaction/rendezvous.ts'
import type { Access, Caller } from './access.ts'
import { isConnection, isLoopbackPeer, NO_VARIABLES, peerOf } from './connection.ts'
import { hasUrl, withUrl } from './request-url.ts'

/**
 * What a platform provides for one request. Filled in by an adapter; everything is optional.
 *
 * The accompanying `Request` has the URL that clients use, if the platform reports it reliably.
 */
export interface RequestPlatform {
  /** Bindings or environment variables, for `ctx.env`. */
  readonly env?: unknown
  /** Keeps the invocation alive until `promise` settles. */
  readonly waitUntil?: (promise: Promise<unknown>) => void
  /** When the platform ends this call, in milliseconds since the epoch. */
  readonly deadline?: number
  /**
   * Milliseconds for which the platform runs the code of a request after its client left, if it is passed to `waitUntil`; it is then
   * ended without being told. Default: the code runs until it ends.
   */
  readonly abandonedMs?: number
  /** Whether timers end with the request that set them, so that none has to be cleared, which costs. Default false. */
  readonly timersEnd?: boolean
  /** When the response must have begun, in milliseconds since the epoch. Without streaming, this is the deadline of the whole call. */
  readonly firstByteBy?: number
  /** The name of the limit behind the deadline, in the platform's terms: `the timeout of the Lambda function`. */
  readonly deadlineName?: string
  /** Whether a response can be streamed. Default true. */
  readonly canStream?: boolean
  /** Whether `request.signal` aborts, or a streamed body is cancelled, when the client disconnects. Default true. */
  readonly seesDisconnect?: boolean
  /** Maximum bytes of the body of a buffered response. Default: no limit. */
  readonly maxResponseBytes?: number
  /** Maximum bytes of the body of a streamed response. Default: no limit. */
  readonly maxStreamedBytes?: number
  /** The path that the platform adds before the server's own, part of the request's URL: `/functions/v1/shop`, `/prod`. */
  readonly prefix?: string
  /** The connection comes over a loopback address: only local hosts and origins are accepted, and named ones (DNS rebinding). */
  readonly loopback?: boolean
  /** The platform routes only this server's hosts to it, so the host in the URL can be trusted. Default false. */
  readonly vouchesForHost?: boolean
  /** The caller's address, as the platform reports it. */
  readonly clientAddress?: string | undefined
  /** Creates the `Request` that user code receives, if the served one is a cheaper substitute. Default: the served one. */
  readonly toRequest?: (served: Request) => Request
  /**
   * Creates the response to a buffered reply, if the platform has a cheaper way than `new Response`. Default: `new Response`.
   */
  readonly respond?: (
    text: string | null,
    status: number,
    headers: { readonly [name: string]: string },
  ) => Response
  /**
   * The caller, if the host authenticated it, or a function that asks the host. If it returns nothing, the host answers the request itself.
   * Refused if its `expiresAt` is past. Ignored and not called if the server has `auth`.
   */
  readonly caller?: Caller | (() => Promise<Caller | undefined>)
  /** Whether `caller` is also used if the server has `auth`, which then does not verify tokens: see `Auth.admitCaller`. Default false. */
  readonly callerReplacesAuth?: boolean
  /** The process outlives its requests and serves all clients of the server: changes reach them without a bus. Default false. */
  readonly isLongLived?: boolean
  /** The connection of the request, if it outlives the request. Default: none. */
  readonly session?: ClientSession
}

/** Who subscribes to a resource. */
export interface Subscriber {
  readonly access: Access | undefined
  readonly auth: AuthInfo | undefined
  readonly platform: RequestPlatform
}

/** A persistent connection: it stores what the client declared, and its client can be asked. */
export interface ClientSession {
  /** Undefined if the connection itself is the session, as on stdio. */
  readonly id: string | undefined
  /** What `initialize` declared. Undefined before, and for modern clients, which declare it in each request. */
  declared:
    | {
        readonly protocolVersion: string
        readonly clientInfo: Implementation | undefined
        readonly clientCapabilities: ClientCapabilities
      }
    | undefined
  /** As set by `logging/setLevel`. */
  logLevel: LogLevel | undefined
  /** Serves `resources/subscribe` and `resources/unsubscribe`. @throws ProtocolError `-32602` for more than a session stores. */
  readonly subscriptions: { change(method: string, uri: string, caller: Subscriber): Promise<void> }
  /** Matches the client's answers with the calls that wait for them. */
  readonly rendezvous: Rendezvous
}

/** What an adapter serves: `handle` is called if it exists (an `MCPServer`), otherwise `fetch` (a Hono app). */
export interface FetchServer {
  fetch(request: Request, env?: unknown, executionContext?: unknown): Response | Promise<Response>
  handle?(request: Request, platform: RequestPlatform): Promise<Response>
  /**
   * The same function as `handle`, if it accepts `toRequest` and `respond` of a platform. Ignored if `handle` is another function: a
   * wrapper around it needs real requests and responses.
   */
  readonly leanHandle?: FetchServer['handle']
  /** What the server lacks in an environment: see `requireVariables`. */
  getDeploymentInfo?(env?: unknown): unknown
  /** Ends what outlives requests, such as open streams. Adapters call it when the process ends. */
  close?(): Promise<void>
}

/** Whether a server accepts `toRequest` and `respond` of a platform. */
export function isLean({ handle, leanHandle }: FetchServer): boolean {
  return leanHandle !== undefined && leanHandle === handle
}

/** The request that user code receives. */
export function givenRequest(served: Request, { toRequest }: RequestPlatform): Request {
  return toRequest === undefined ? served : toRequest(served)
}

/** `abandonedMs` where `fetch` receives an execution context with `waitUntil`, as in a Worker. */
export const WORKER_ABANDONED_MS = 30_000

/** The member of an execution context that passes the platform through an app to a mounted server. */
const PLATFORM = 'mayfly-mcp.platform'

interface ExecutionContext {
  readonly waitUntil?: (promise: Promise<unknown>) => void
  readonly [PLATFORM]?: RequestPlatform
}

/**
 * Serves one request, with as much of the platform as `server` supports. An app sees paths without the platform's prefix, so that its
 * routes are the same on every platform.
 */
export function serveRequest(
  server: FetchServer,
  request: Request,
  platform: RequestPlatform,
): Promise<Response> {
  return server.handle === undefined ? serveApp(server, request, platform) : server.handle(request, platform)
}

async function serveApp(server: FetchServer, request: Request, platform: RequestPlatform): Promise<Response> {
  // An app reads the URL without expecting that it can be invalid.
  if (!hasUrl(request)) return new Response(null, { status: 400 })
  const { env, waitUntil = () => {}, prefix = '' } = platform
  return server.fetch(withoutPrefix(request, prefix), env, { waitUntil, [PLATFORM]: platform })
}

/** The same request with the path that the app expects. */
export function withoutPrefix(request: Request, prefix: string): Request {
  if (prefix === '') return request
  const url = new URL(request.url)
  if (url.pathname !== prefix && !url.pathname.startsWith(`${prefix}/`)) return request
  url.pathname = url.pathname.slice(prefix.length)
  return withUrl(request, url)
}

/**
 * The platform's time limit for one call in milliseconds, for platforms that do not report it: `MAYFLY_MAX_DURATION_MS` of the environment
 * (for a plan or setting other than the default), otherwise `fallbackMs`.
 */
export function maxDurationFrom(env: unknown, fallbackMs: number): number {
  const named = Number(
    (env as { MAYFLY_MAX_DURATION_MS?: unknown } | null | undefined)?.MAYFLY_MAX_DURATION_MS,
  )
  return named > 0 ? named : fallbackMs
}

/** The platform of the adapter that called the app around a server, from the app's execution context. */
export function platformIn(executionContext: unknown): RequestPlatform | undefined {
  return (executionContext as ExecutionContext | undefined)?.[PLATFORM]
}

/** The platform of `fetch(request, env, executionContext)`: complete if an adapter called the app around the server. */
export function platformOf(env: unknown, executionContext: unknown, request?: Request): RequestPlatform {
  const platform = platformIn(executionContext)
  if (platform !== undefined) return { ...platform, env }
  if (request !== undefined && isConnection(env)) {
    const clientAddress = peerOf(env, request)
    const loopback = isLoopbackPeer(clientAddress)
    return { env: NO_VARIABLES, loopback, ...(clientAddress !== undefined && { clientAddress }) }
  }
  const context = executionContext as ExecutionContext | undefined
  if (typeof context?.waitUntil !== 'function') return { env }
  return {
    env,
    waitUntil: (promise) => context.waitUntil!(promise),
    abandonedMs: WORKER_ABANDONED_MS,
    timersEnd: hasEndingTimers(context),
  }
}

/** Whether timers end with the request of this execution context: not in a Durable Object, nor in a process whose app passes `waitUntil`. */
export function hasEndingTimers(executionContext: object | undefined): boolean {
  return executionContext?.constructor?.name === 'ExecutionContext'
}

/** The execution context of a Hono context. Hono throws if there is none. */
export function executionContextOf(c: { readonly executionCtx?: unknown }): unknown {
  try {
    return c.executionCtx
  } catch {
    return undefined
  }
}

/** @throws TypeError for anything that serves no requests. */
export function requireServer(where: string, server: unknown): void {
  if (typeof (server as { fetch?: unknown } | null | undefined)?.fetch === 'function') return
  throw new TypeError(
    `${where} needs a server: ${where}(new MCPServer({ … })), or the result of fromSdk or fromNode.`,
  )
}
