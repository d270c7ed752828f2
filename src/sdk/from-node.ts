/**
 * `fromNode`: serves a Node `(req, res)` handler on platforms that use fetch, through `fetch-to-node`.
 */
import type { Env } from '../definition/context.ts'
import { isA } from '../definition/error-text.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import { withoutPrefix } from '../request/platform.ts'
import { HOSTED_OPTIONS, type HostedConfig, type HostedServer, host } from './host.ts'
import { besideApp, checkMcpPath } from './node-app.ts'
import { callHandler, requireHandler } from './node-call.ts'
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
   * The path of the MCP endpoint in an app that has other routes, such as `/mcp`. Paths that begin with its text (`/mcp/x`, `/mcp-docs`) are MCP's,
   * too, since some routers mount by a prefix. Requests for other paths reach the handler as they are:
   * `auth`, `log` and the guards and limits of `http` do not apply to them, except that `maxCallMs` and the platform's deadline end the wait
   * for their headers with 504. Default: every path is the MCP endpoint, as in an app that has no other.
   *
   * @throws TypeError for anything but a path, or for `/`.
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
  refuseUnknown('fromNode', options, OPTIONS)
  const { mcpPath, ...config } = options
  checkMcpPath(mcpPath)
  const hosted = host(createRun(handler), config)
  return mcpPath === undefined ? hosted : besideApp(hosted, handler, mcpPath, config)
}

function createRun<NodeRequest, NodeResponse>(handler: NodeHandler<NodeRequest, NodeResponse>): RunForeign {
  return async (call: ForeignCall): Promise<ForeignAnswer> => {
    // Loaded at the first request: it needs Node's streams, which edge bundles without `fromNode` do not have.
    const { createNodeExchange } = await import('./node-exchange.ts')
    const { signal } = call.request
    const request = withoutPrefix(call.request, call.prefix)
    // The client may have disconnected in the meantime; listeners added from now on would not be called.
    signal.throwIfAborted()
    const exchange = createNodeExchange(request, call.clientAddress)
    const { req, broken, leave } = exchange
    Object.assign(req, { auth: call.auth, body: call.message })
    signal.addEventListener('abort', leave, { once: true })
    callHandler(handler as never, exchange, { env: call.env ?? NO_ENV, waitUntil: call.waitUntil })
    const response = await Promise.race([exchange.response, broken]).catch((error: unknown) => {
      if (isA(error, NotPassedOn)) call.waitUntil(Promise.reject(new Error(error.message)))
      throw error
    })
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
