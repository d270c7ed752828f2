/**
 * Hono: serves an `MCPServer` as a route of an app, on every runtime of Hono.
 *
 * Exports `mcp`, which makes the handler, `honoContext`, which gives tools the app's context, `METADATA_ROUTE` and `metadataRoute`.
 */
import type { Context, Env } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { toCaller, unknownCaller } from '../src/auth/host-caller.ts'
import { METADATA_PATH } from '../src/auth/location.ts'
import { toReadable } from '../src/definition/error-text.ts'
import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import type { Caller } from '../src/request/access.ts'
import {
  type FetchServer,
  givenRequest,
  type RequestPlatform,
  serveRequest,
} from '../src/request/platform.ts'
import { platformOfApp } from './_hono/platform.ts'

/** Options of `mcp`. */
// biome-ignore lint/suspicious/noExplicitAny: as in Hono's own handlers, an app whose types are not named.
export interface HonoMcpOptions<E extends Env = any> {
  /**
   * The caller from an earlier authentication middleware: `(c) => c.get('user')`. Its result becomes `ctx.auth`: `{ token, clientId, scopes
   * }`, or the claims of a JWT. Nothing (undefined, null, false) is a caller without scopes. The result is trusted. Not called if the
   * server has its own `auth`, or for public requests: preflights, metadata, the health check. Errors go to `app.onError`. Default: no
   * caller.
   */
  auth?: (c: Context<E>) => unknown
  /**
   * The value of `ctx.env`, or a promise. Default: `c.env`; on Node, Deno and Bun the variables of the process, with the bindings in
   * `c.env` over them.
   */
  env?: (c: Context<E>) => unknown
  /**
   * The path prefix of every request of the app, if the app only gets requests below it: `/api` in a catch-all route of another
   * framework. OAuth metadata is then announced below it. Default: from the platform's adapter, otherwise none.
   */
  basePath?: string
  /** Who handles CORS: `app` if Hono's `cors()` is in front; then only its origins apply. Default `server`: any origin, no credentials. */
  cors?: 'server' | 'app'
  /** `app`: each response of status 400 or more is thrown as an `HTTPException` that contains it, for `app.onError`. Default `server`. */
  errors?: 'server' | 'app'
}

/** The path of the route that serves OAuth metadata (RFC 9728 §3.1), for a server with `auth` that is the only one in its app. */
export const METADATA_ROUTE: '/.well-known/oauth-protected-resource/*' = `${METADATA_PATH}/*`

/**
 * The same for one server of several: each has its own metadata.
 *
 * @param path of the server's route, with the paths of the apps around it: `/api/mcp`.
 */
export function metadataRoute(path: `/${string}`): string {
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw new TypeError('metadataRoute needs the path of a route, such as "/mcp".')
  return METADATA_PATH + path
}

/** How `mayfly doctor` finds the server in an app. */
interface Handler<E extends Env> {
  (c: Context<E>): Promise<Response>
  readonly mayflyServer: FetchServer
}

const OPTIONS: Names<HonoMcpOptions> = {
  auth: 'function',
  env: 'function',
  basePath: 'string',
  cors: { server: 1, app: 1 },
  errors: { server: 1, app: 1 },
}

/** Keyed by the request that the server received. */
const contexts = new WeakMap<Request, Context>()

/**
 * Creates a handler for any path and method of an app.
 *
 * ```ts
 * app.all('/mcp', mcp(server))
 * app.get(METADATA_ROUTE, mcp(server)) // for a server with `auth`; `metadataRoute('/mcp')` beside other servers
 * ```
 *
 * Bodies that a middleware read by `c.req` are passed on. Forwarded headers are not trusted: see `http.trustProxy` of the server.
 *
 * @param server An `MCPServer`, the result of `fromSdk` or `fromNode`, or a task endpoint.
 * @throws TypeError for an unknown option or an invalid value.
 */
// biome-ignore lint/suspicious/noExplicitAny: the same.
export function mcp<E extends Env = any>(server: FetchServer, options: HonoMcpOptions<E> = {}): Handler<E> {
  checkOptions(server, options)
  const { auth, env, basePath, cors = 'server', errors = 'server' } = options
  const handler = async (c: Context<E>): Promise<Response> => {
    const known = await platformOfApp(c, env).catch((error: unknown) => {
      throw toReadable(error)
    })
    let failed: { readonly error: unknown } | undefined
    const caller = async (): Promise<Caller | undefined> => {
      try {
        return await readCaller(await auth!(c))
      } catch (error) {
        failed = { error }
        return undefined
      }
    }
    const platform: RequestPlatform = {
      ...known,
      prefix: (known.prefix ?? '') + (metadataPrefix(c.req.url, basePath) ?? basePath ?? ''),
      ...(auth !== undefined && known.callerReplacesAuth !== true && { caller }),
      toRequest: (served) => {
        const given = givenRequest(served, known)
        contexts.set(given, c)
        return given
      },
    }
    const request = withPrefix(await unreadRequest(c), known.prefix)
    contexts.set(request, c)
    const response = await serveRequest(server, request, platform)
    // The app's own code threw, so the app answers.
    if (failed !== undefined) throw toReadable(failed.error)
    if (cors === 'app') withoutCors(response.headers)
    if (errors === 'app' && response.status >= 400) {
      // Any status of an error is allowed with a response, whatever the type says.
      const message = `The MCP server answered ${response.status}.`
      throw new HTTPException(response.status as 500, { res: response, message })
    }
    return response
  }
  return Object.assign(handler, { mayflyServer: server })
}

/**
 * The app's context in a tool, a resource, a prompt or `setup`: its variables are `honoContext<AppEnv>(ctx).var`.
 *
 * @param source The context of a request, or its `Request`, as `setup` receives it.
 * @throws TypeError outside of a request of the app, for example in a task that continues after it.
 */
export function honoContext<E extends Env = Env>(
  source: Request | { readonly request?: Request | undefined },
): Context<E> {
  const request = source instanceof Request ? source : source?.request
  const found = request && contexts.get(request)
  if (found === undefined)
    throw new TypeError(
      'honoContext was called outside a request of a Hono app: mount the server with mcp(server), and read the context in a task before it sleeps.',
    )
  return found
}

function checkOptions(server: FetchServer, options: object): void {
  if (typeof server?.fetch !== 'function')
    throw new TypeError('mcp takes a server: mcp(new MCPServer({ … })), or mcp(fromSdk(() => …)).')
  // Ignoring a misspelt `auth` would make all callers anonymous.
  refuseUnknown('mcp', options, OPTIONS)
  const { basePath } = options as HonoMcpOptions
  if (basePath !== undefined && !/^(?:\/[^/?#]+)+$/.test(basePath))
    throw new TypeError('"basePath" of mcp must be a path such as "/api", without a trailing slash.')
}

/** No result means a caller without scopes, not one that may use everything. */
async function readCaller(said: unknown): Promise<Caller> {
  try {
    return (await toCaller(said)) ?? unknownCaller()
  } catch (cause) {
    throw new TypeError(
      'The result of "auth" of mcp has neither a client nor a subject: return { token, clientId, scopes }, the claims of a JWT, or nothing.',
      { cause },
    )
  }
}

/** If the metadata is mounted below a path, so is its resource. Below an endpoint there is no resource. */
function metadataPrefix(url: string, basePath: string | undefined): string | undefined {
  if (!url.includes(METADATA_PATH)) return undefined
  const { pathname } = new URL(url)
  const at = pathname.indexOf(METADATA_PATH)
  const prefix = pathname.slice(0, at)
  const hasResource = pathname.length > at + METADATA_PATH.length + 1
  return at > 0 && (hasResource || prefix === basePath) ? prefix : undefined
}

/** Apps see paths without the prefix of the platform; servers expect the URL of clients. */
function withPrefix(request: Request, prefix = ''): Request {
  if (prefix === '') return request
  const url = new URL(request.url)
  if (url.pathname.startsWith(`${prefix}/`)) return request
  url.pathname = prefix + url.pathname
  return new Request(url, request)
}

/** The request with its body, even if a middleware read it by `c.req`. */
async function unreadRequest<E extends Env>({ req }: Context<E>): Promise<Request> {
  const { raw } = req
  if (!raw.bodyUsed) return raw
  const headers = new Headers(req.header())
  headers.delete('content-length')
  // Hono caches what it read, in any form.
  const body = await req.arrayBuffer()
  return new Request(raw.url, { method: raw.method, headers, body, signal: raw.signal })
}

function withoutCors(headers: Headers): void {
  for (const name of [...headers.keys()]) if (name.startsWith('access-control-')) headers.delete(name)
}
