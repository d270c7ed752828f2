/**
 * `fromNode`: serves a Node `(req, res)` handler on platforms that use fetch, through `fetch-to-node`.
 */
import type { Env } from '../definition/context.ts'
import { isA } from '../definition/error-text.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import { refuseMisplaced } from '../http/hosting.ts'
import { withoutPrefix } from '../request/platform.ts'
import { withUrl } from '../request/request-url.ts'
import { parseSent } from './foreign-call.ts'
import { HOSTED_OPTIONS, type HostedConfig, type HostedServer, host, hostApp } from './host.ts'
import { createReach, type Endpoint, toEndpoint } from './mcp-path.ts'
import { besideApp } from './node-app.ts'
import { callHandler, requireHandler } from './node-call.ts'
import { isNoRoute, KEEPS_SESSIONS, type Mistake, NO_ENDPOINT, noEndpointAt, Told } from './node-misuse.ts'
import { NotPassedOn } from './not-passed-on.ts'
import type { ForeignAnswer, ForeignCall, RunForeign } from './run.ts'

/**
 * `request` is a Node `IncomingMessage` with `auth` of the verified token and the parsed `body`, as in Express; `response` is a
 * `ServerResponse`. Their sockets have only the addresses, and tell whether the client is still there.
 */
export type NodeHandler<NodeRequest, NodeResponse> = (
  request: NodeRequest,
  response: NodeResponse,
  platform: { readonly env: Env; readonly waitUntil: (promise: Promise<unknown>) => void },
) => unknown

/** Options of `fromNode`. */
export interface FromNodeOptions extends HostedConfig {
  /**
   * The path of the MCP endpoint in an app that has other routes, such as `/mcp`. MCP reaches no other route: each spelling of the path
   * becomes this one, and paths that only begin with its text (`/mcp/x`, `/mcp-docs`) are guarded, too, and then answered 404, since some
   * routers mount by a prefix. Requests for all other paths reach the handler as they are:
   * `auth`, `log` and the guards and limits of `http` do not apply to them, except that `maxCallMs` and the platform's deadline end the wait
   * for their headers with 504. `'*'`, for a handler that serves nothing but MCP: every path is the endpoint, and guarded. Needed with `auth`.
   * Default: as `'*'`.
   *
   * @throws TypeError for anything but a path or `'*'`, for `/`, and without it for `auth`.
   */
  mcpPath?: string
}

const OPTIONS: Names<FromNodeOptions> = { ...HOSTED_OPTIONS, mcpPath: 'string' }

const NO_ENV: Env = Object.freeze({})

/**
 * Serves an MCP handler written for node:http, or a whole app of Express, Connect, Koa (`app.callback()`), Fastify, Nest or h3, with Mayfly's
 * guard, auth and adapters. The handler is called for each POST, with `mcpPath` also for all other paths, and must not depend on state in
 * the process. On Cloudflare it needs `nodejs_compat`.
 *
 * ```ts
 * export default fromNode((req: IncomingMessage, res: ServerResponse) => handleMcp(req, res))
 * ```
 *
 * @throws TypeError for invalid options.
 */
export function fromNode<NodeRequest, NodeResponse>(
  handler: NodeHandler<NodeRequest, NodeResponse>,
  options: FromNodeOptions = {},
): HostedServer {
  requireHandler(handler)
  refuseMisplaced('fromNode', options)
  refuseUnknown('fromNode', options, OPTIONS)
  const { mcpPath, ...config } = options
  const path = toEndpoint(mcpPath, config.auth)
  if (path === undefined) return host(createRun(handler), config)
  const endpoint = { path, reach: createReach(path) }
  return besideApp(hostApp(createRun(handler, endpoint), config, undefined, path), handler, endpoint, config)
}

function createRun<NodeRequest, NodeResponse>(
  handler: NodeHandler<NodeRequest, NodeResponse>,
  endpoint?: Endpoint,
): RunForeign {
  const told = new Told()
  return async (call: ForeignCall): Promise<ForeignAnswer> => {
    // Loaded at the first request: it needs Node's streams, which edge bundles without `fromNode` do not have.
    const { createNodeExchange } = await import('./node-exchange.ts')
    const { signal } = call.request
    const request = toAppRequest(call, endpoint)
    const tell = (what: Mistake, text: string): void =>
      told.once(what, () => call.waitUntil(Promise.reject(new Error(text))))
    // The client may have disconnected in the meantime; listeners added from now on would not be called.
    signal.throwIfAborted()
    const exchange = createNodeExchange(request, call.clientAddress)
    const { req, broken, leave } = exchange
    Object.assign(req, { auth: call.auth, body: call.message })
    signal.addEventListener('abort', leave, { once: true })
    callHandler(handler as never, exchange, { env: call.env ?? NO_ENV, waitUntil: call.waitUntil })
    let response = await Promise.race([exchange.response, broken]).catch((error: unknown) => {
      if (isA(error, NotPassedOn)) call.waitUntil(Promise.reject(new Error(error.message)))
      throw error
    })
    const { status } = response
    if (response.headers.has('mcp-session-id')) tell('sessions', KEEPS_SESSIONS)
    if (endpoint !== undefined && isNoRoute(response)) {
      const text = await response.text()
      if (parseSent(text)?.jsonrpc !== '2.0') {
        tell('path', noEndpointAt(endpoint.path, status))
        throw new ProtocolError(ErrorCode.internal, NO_ENDPOINT, undefined, { status })
      }
      response = new Response(text, response)
    }
    return {
      response,
      broken,
      close: () => {
        signal.removeEventListener('abort', leave)
        leave()
        return response.body?.locked === false ? response.body.cancel() : undefined
      },
    }
  }
}

/** The request that the handler sees. Each spelling of the endpoint is the one path, so that a message reaches no other route. */
function toAppRequest({ request, prefix }: ForeignCall, endpoint: Endpoint | undefined): Request {
  const inApp = withoutPrefix(request, prefix)
  if (endpoint === undefined) return inApp
  const url = new URL(inApp.url)
  if (endpoint.reach(url.pathname) !== 'endpoint') {
    throw new ProtocolError(
      ErrorCode.invalidRequest,
      `Not found: the MCP endpoint is ${endpoint.path}.`,
      undefined,
      { status: 404 },
    )
  }
  url.pathname = endpoint.path
  return withUrl(inApp, url)
}
