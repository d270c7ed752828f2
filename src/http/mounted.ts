/** Mounts additional endpoints at their own paths next to a server; the result is exported instead of the server. */
import { toFetch } from '../request/fetch-call.ts'
import { type FetchServer, isLean, type RequestPlatform, serveRequest } from '../request/platform.ts'

/** The members that `mayfly doctor` reads. */
export interface Described {
  getDeploymentInfo?(env?: unknown): unknown
  getToolListInfo?(): { readonly tools: readonly unknown[] }
}

export type DescribedServer = FetchServer & Described

export interface MountedServer extends FetchServer, Described {
  /** The wrapped server, which may be a wrapper itself. */
  readonly mayflyServer: DescribedServer
}

/** The innermost server; `served` itself if it is not a wrapper. */
export function serverWithin(served: unknown): unknown {
  const inner = (served as Partial<MountedServer> | null | undefined)?.mayflyServer
  return inner === undefined ? served : serverWithin(inner)
}

/** Whether a value is an `MCPServer`. Not by its class: a bundle may contain it twice. */
export function isMCPServer<Server extends { getSessionParts(): unknown }>(value: unknown): value is Server {
  return typeof (value as Partial<Server> | null | undefined)?.getSessionParts === 'function'
}

/** @param serveBeside Returns undefined for a request that the server handles. */
export function mounted(
  server: DescribedServer,
  serveBeside: (request: Request, platform: RequestPlatform) => Promise<Response> | undefined,
): MountedServer {
  const handle = (request: Request, platform: RequestPlatform): Promise<Response> =>
    serveBeside(request, platform) ?? serveRequest(server, request, platform)
  return {
    fetch: toFetch(handle),
    handle,
    // A wrapper around a server's `handle` needs real requests.
    ...(isLean(server) && { leanHandle: handle }),
    mayflyServer: server,
    async close() {
      await server.close?.()
    },
    getDeploymentInfo: (env?: unknown) => server.getDeploymentInfo?.(env),
    getToolListInfo: () => server.getToolListInfo?.() ?? { tools: [] },
  }
}

/**
 * An endpoint at its own path.
 *
 * @throws TypeError for an invalid path, and for that of the MCP endpoint.
 */
export function mountedAt(
  server: DescribedServer,
  path: string,
  what: string,
  serve: (request: Request, platform: RequestPlatform) => Promise<Response>,
): MountedServer {
  if (!isPath(path))
    throw new TypeError(`mount needs the path of the ${what}, as in "/tasks", not that of the MCP endpoint.`)
  return mounted(server, (request, platform) =>
    // Not a given request, which has no body: an event has one.
    isAt(request.url, path, platform.prefix) ? serve(request, platform) : undefined,
  )
}

/**
 * The server with what is mounted already.
 *
 * @throws TypeError if that is another server.
 */
export function besideOf(server: DescribedServer, beside: DescribedServer): DescribedServer {
  if (serverWithin(beside) === serverWithin(server)) return beside
  throw new TypeError(
    'mount takes the server of this endpoint, as another endpoint has mounted it: events.mount("/events", tasks.mount("/tasks")).',
  )
}

function isPath(path: string): boolean {
  return (
    path !== '/' &&
    path !== '/mcp' &&
    /^\/[^/]/.test(path) &&
    new URL(path, 'http://localhost').pathname === path
  )
}

/** Most requests are for other paths and do not need their URL parsed. */
function isAt(url: string, path: string, prefix = ''): boolean {
  return url.includes(path) && new URL(url).pathname === `${prefix}${path}`
}
