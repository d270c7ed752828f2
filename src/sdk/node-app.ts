/** The routes of an app besides its MCP endpoint: they go to the Node handler as they are. */
import { isMetadataPath } from '../auth/location.ts'
import { isA } from '../definition/error-text.ts'
import { ProtocolError } from '../definition/protocol-error.ts'
import { toCallLimits } from '../http/hosting.ts'
import { createReportError } from '../http/log.ts'
import { earliestEnd, watchCall } from '../protocol/deadline.ts'
import { CLIENT_GONE } from '../protocol/sse-response.ts'
import { platformOf, type RequestPlatform, withoutPrefix } from '../request/platform.ts'
import { hasUrl, pathOf } from '../request/request-url.ts'
import type { HostedConfig, HostedServer } from './host.ts'
import { callHandler } from './node-call.ts'

/** Not a pattern of a router, whose paths would not be guarded. */
const PATH = /^\/[^?#:*{}()\\%]*[^?#/:*{}()\\%]$/

/** @throws TypeError for anything but the path of a route. */
export function checkMcpPath(mcpPath: unknown): void {
  if (mcpPath === undefined || (typeof mcpPath === 'string' && PATH.test(mcpPath))) return
  throw new TypeError(
    '"mcpPath" must be the path of the MCP endpoint in the app, such as "/mcp", without parameters, wildcards and escapes.',
  )
}

/** Only requests for `mcpPath`, what is below it and the metadata of `auth` reach `hosted`; all others reach the handler. */
export function besideApp(
  hosted: HostedServer,
  handler: (request: never, response: never, third: never) => unknown,
  mcpPath: string,
  config: HostedConfig,
): HostedServer {
  const limits = toCallLimits(config)
  const reportError = createReportError(config.onError)
  const reaches = createReach(mcpPath)
  const isForMcp = (path: string): boolean =>
    (config.auth !== undefined && isMetadataPath(path)) || reaches(path)

  const serveApp = async (request: Request, platform: RequestPlatform): Promise<Response> => {
    const waitUntil = (promise: Promise<unknown>): void => {
      const guarded = promise.catch((error: unknown) => reportError(error, { url: pathOf(request) }))
      platform.waitUntil?.(guarded)
    }
    // Loaded at the first request, as for the MCP endpoint.
    const { createNodeExchange } = await import('./node-exchange.ts')
    const exchange = createNodeExchange(request, platform.clientAddress)
    const limit = earliestEnd(platform, true, limits)
    let stop = (): void => {}
    const ended = new Promise<Response>((resolve) => {
      const end = (response: Response): void => {
        exchange.leave()
        resolve(response)
      }
      stop = watchCall(request.signal, limit, limits, {
        onDisconnect: () => end(new Response(null, { status: CLIENT_GONE })),
        onExpire: () =>
          end(textResponse(504, `The app did not answer ${pathOf(request)} within ${limit.name}.`)),
      })
    })
    const serve = async (): Promise<Response> => {
      callHandler(handler as never, exchange, { env: platform.env ?? {}, waitUntil })
      return Promise.race([exchange.response, exchange.broken])
    }
    try {
      return await Promise.race([serve(), ended])
    } catch (error) {
      reportError(error, { url: pathOf(request) })
      return isA(error, ProtocolError)
        ? textResponse(error.status, error.message)
        : textResponse(500, 'Internal Server Error')
    } finally {
      stop()
      request.signal.addEventListener('abort', exchange.leave, { once: true })
    }
  }
  const handle = async (request: Request, platform: RequestPlatform): Promise<Response> => {
    if (!hasUrl(request)) return hosted.handle(request, platform)
    const inApp = withoutPrefix(request, platform.prefix ?? '')
    return isForMcp(new URL(inApp.url).pathname)
      ? hosted.handle(request, platform)
      : serveApp(inApp, platform)
  }
  return {
    handle,
    leanHandle: hosted.leanHandle,
    close: hosted.close,
    fetch: (request, env, executionContext) => handle(request, platformOf(env, executionContext, request)),
  }
}

/**
 * Whether a router may take a path for `endpoint`, or for one that begins with its text: a mount of Connect also matches `/mcp.json`, one of h3
 * `/mcpx`. Routers differ in case, escapes, slashes, dot segments and parameters after `;`: otherwise another spelling would reach the
 * endpoint of the app without the guard.
 */
function createReach(endpoint: string): (path: string) => boolean {
  const wanted = endpoint.toLowerCase()
  const depth = wanted.split('/').length - 1
  return (path) => {
    const text = decoded(path)
    // After two slashes, `new URL(request.url, base)` takes a segment for the host.
    if (text === undefined || /^[/\\]{2}/.test(text)) return true
    const segments: string[] = []
    for (const segment of text.toLowerCase().split(/[/\\]/)) {
      const name = segment.replace(/[;?#].*$/s, '')
      if (name === '..') segments.pop()
      else if (name !== '' && name !== '.') segments.push(name)
      // Also on the way: a mount does not resolve `/mcp/..%2fother`.
      if (segments.length === depth && `/${segments.join('/')}`.startsWith(wanted)) return true
    }
    return false
  }
}

/** How often a path may be escaped: a router decodes once, a proxy before it once more. Each time takes a pass over the path. */
const MAX_ESCAPED = 3

/** Without escapes, also escaped ones. Undefined if they are not valid, or escaped more often. */
function decoded(path: string): string | undefined {
  let text = path
  try {
    for (let times = 0; times <= MAX_ESCAPED; times++) {
      const next = decodeURIComponent(text)
      if (next === text) return text
      text = next
    }
  } catch {}
  return undefined
}

function textResponse(status: number, text: string): Response {
  return new Response(text, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } })
}
