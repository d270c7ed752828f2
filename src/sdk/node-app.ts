/** The routes of an app besides its MCP endpoint: they go to the Node handler as they are. */
import { isMetadataPath } from '../auth/location.ts'
import { isA } from '../definition/error-text.ts'
import { ProtocolError } from '../definition/protocol-error.ts'
import { toCallLimits } from '../http/hosting.ts'
import { createReportError } from '../http/log.ts'
import { earliestEnd, watchCall } from '../protocol/deadline.ts'
import { CLIENT_GONE } from '../protocol/sse-response.ts'
import { toFetch } from '../request/fetch-call.ts'
import { type RequestPlatform, withoutPrefix } from '../request/platform.ts'
import { hasUrl, pathOf } from '../request/request-url.ts'
import { ClientGone } from './client-gone.ts'
import type { HostedConfig, HostedServer, hostApp } from './host.ts'
import type { Endpoint } from './mcp-path.ts'
import { callHandler } from './node-call.ts'
import { looksLikeMcp } from './node-misuse.ts'

/** Only requests for the endpoint, what begins with its text, and the metadata and the paths of `auth` reach `hosted`; all others reach the handler. */
export function besideApp(
  { hosted, endpoint }: ReturnType<typeof hostApp>,
  handler: (request: never, response: never, third: never) => unknown,
  { path: mcpPath, reach }: Endpoint,
  config: HostedConfig,
): HostedServer {
  const limits = toCallLimits(config)
  const reportError = createReportError(config.onError)
  const isForMcp = (path: string): boolean =>
    (config.auth !== undefined && isMetadataPath(path)) || reach(path) !== undefined
  let hasFoundMcp = false
  const watchAnswer = (request: Request, response: Response): void => {
    if (hasFoundMcp || !looksLikeMcp(request, response)) return
    hasFoundMcp = true
    const path = pathOf(request)
    reportError(
      new Error(
        `The app answered MCP at ${path}, which is not "mcpPath" (${mcpPath}): "auth" and the guards do not apply there. Correct "mcpPath", or remove that route.`,
      ),
      { url: path },
    )
  }

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
      const response = await Promise.race([exchange.response, exchange.broken])
      // Its headers are sent: what breaks it off now would be seen by its reader alone.
      exchange.broken.catch((error: unknown) => {
        if (!isA(error, ClientGone)) reportError(error, { url: pathOf(request) })
      })
      watchAnswer(request, response)
      return response
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
    if (await endpoint.owns(request, platform)) return hosted.handle(request, platform)
    const inApp = withoutPrefix(request, platform.prefix ?? '')
    return isForMcp(new URL(inApp.url).pathname)
      ? hosted.handle(request, platform)
      : serveApp(inApp, platform)
  }
  return { ...hosted, handle, fetch: toFetch(handle) }
}

function textResponse(status: number, text: string): Response {
  return new Response(text, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } })
}
