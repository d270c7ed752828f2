/**
 * Streamable HTTP with sessions, for a long-lived process: the transport of the official SDK v1 in front of an `MCPServer`.
 */

import { createShares, fullAnswer } from '../../src/definition/shares.ts'
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import { isMCPServer } from '../../src/http/mounted.ts'
import type { DeploymentInfo, MCPServer } from '../../src/index.ts'
import type { Admitted } from '../../src/protocol/engine-options.ts'
import { type FetchServer, platformOf, type RequestPlatform } from '../../src/request/platform.ts'
import { principalOf } from '../../src/request/principal.ts'
import type { TaskControls } from '../../src/tasks/support.ts'
import { atExpiry, whenRefused } from './expiry.ts'
import { HOOKS, type Hooks } from './hooks.ts'
import { outlineOf } from './outline.ts'
import { isInitialize, parseBody } from './parse-body.ts'
import {
  answered,
  INVALID_REQUEST,
  refuse,
  SERVER_BUSY,
  SESSION_NOT_FOUND,
  withoutNullId,
} from './response.ts'
import { checkNumbers } from './session-numbers.ts'
import { createRegistry, type Entry } from './session-registry.ts'
import { createDeliveries } from './transport.ts'

/** Options of `createSessions`. */
export interface SessionsOptions extends Hooks {
  /** Answers in JSON instead of SSE. A call can then neither report progress, nor log, nor ask: `ctx.can` says no. Default false. */
  enableJsonResponse?: boolean
  /**
   * Maximum concurrent sessions. Beyond that, and beyond a caller's share (`http.callerShare`), a new session ends the one that has been
   * idle longest; if none is idle, `initialize` is answered 503 or 429. Default 1000.
   */
  maxSessions?: number
  /** Milliseconds after which a session without requests and open streams ends: at most 2 147 483 647. Default 1 800 000. */
  idleMs?: number
}

/** The names of `SessionsOptions`. */
export const SESSIONS_OPTIONS: Names<SessionsOptions> = {
  ...HOOKS,
  enableJsonResponse: 'boolean',
  maxSessions: [1, Infinity],
  idleMs: [0],
}

/** A server with sessions, for `serve` and `nodeListener`. */
export interface Sessions extends FetchServer {
  handle(request: Request, platform: RequestPlatform): Promise<Response>
  /** The same as that of the server, for tools such as `mayfly doctor`. */
  getDeploymentInfo(env?: unknown): DeploymentInfo
  getToolListInfo: MCPServer['getToolListInfo']
  /** The server that has the sessions. */
  readonly mayflyServer: MCPServer
  /** The server's tasks, for `createTaskEndpoint`. */
  readonly tasks: TaskControls
  /** The number of sessions. */
  readonly size: number
  /** Stops accepting requests, waits up to 5 seconds for running calls, then ends every session and its streams. */
  close(): Promise<void>
}

const SHUTTING_DOWN = 'This server is shutting down.'

/**
 * Serves an `MCPServer` with sessions for legacy clients: they can be asked, can subscribe, and are notified of changes. Modern clients
 * need no session and are also served, like the page and the health check. Sessions exist only in this process: all requests of a client
 * must reach it. The server's own guard, auth, limits and log apply.
 *
 * ```ts
 * const { close } = await serve(createSessions(server), { port: 3000 })
 * ```
 *
 * Needs `@modelcontextprotocol/sdk` 1.25 or newer.
 *
 * @throws TypeError for an invalid option, and for anything other than an `MCPServer`: wrap the sessions in a server card or a task endpoint, not the other way round.
 */
export function createSessions(server: MCPServer, options: SessionsOptions = {}): Sessions {
  if (!isMCPServer<MCPServer>(server))
    throw new TypeError(
      'createSessions takes an MCPServer: put wrappers around the sessions, as in withServerCard(createSessions(server), …).',
    )
  refuseUnknown('createSessions', options, SESSIONS_OPTIONS)
  const { maxSessions = 1000, idleMs = 1_800_000, ...transport } = options
  checkNumbers(maxSessions, idleMs)
  const parts = server.getSessionParts()
  const { engine, endpoint } = parts
  const { toAuthInfo, next } = createDeliveries()
  const { callerShare, callerOf } = endpoint.sharing
  const shares = createShares(maxSessions, callerShare)
  const registry = createRegistry({ parts, next, transport, idleMs })
  let isClosing = false

  const serveSession = async (request: Request, platform: RequestPlatform): Promise<Response> => {
    const admitted = await endpoint.admit(request, platform)
    if (admitted instanceof Response) return admitted
    const { headers } = admitted
    const principal = principalOf(admitted)
    const id = request.headers.get('mcp-session-id')
    const known = id === null ? undefined : registry.find(id)
    if (id !== null && known?.principal !== principal) {
      const message = 'Session not found: initialize again.'
      return endpoint.log(refuse(404, SESSION_NOT_FOUND, message, headers), admitted)
    }
    let parsedBody: unknown
    if (request.method === 'POST') {
      const body = await endpoint.read(admitted)
      if (body instanceof Response) return body
      parsedBody = parseBody(engine, body, request)
      const isForSession = known !== undefined || isInitialize(parsedBody)
      // Requests without a session are served statelessly; invalid bodies are refused there.
      if (parsedBody === undefined || !isForSession) return endpoint.answer(body, admitted)
    }
    const inUse = known?.exchanges.claim(parsedBody)
    if (inUse !== undefined) {
      const message = `Invalid request: another request with the id ${JSON.stringify(inUse)} is still running: give each request a different id.`
      return endpoint.log(refuse(400, INVALID_REQUEST, message, headers), admitted)
    }
    if (known !== undefined) return exchange(known, admitted, parsedBody)
    let entry: Entry | undefined
    const place = shares.take(callerOf(admitted), 1, {
      idleSince: () => entry?.idleSince,
      evict() {
        if (entry !== undefined) registry.end(entry)
        if (typeof place !== 'string') place.free()
      },
    })
    if (typeof place === 'string') {
      const { status, message, headers: more } = fullAnswer(place, 'sessions', 'maxSessions', 10)
      return endpoint.log(refuse(status, SERVER_BUSY, message, { ...headers, ...more }), admitted)
    }
    try {
      entry = await registry.open(principal, platform, place.free)
    } catch (error) {
      place.free()
      throw error
    }
    // Opened while `close` was running, which did not see it.
    if (isClosing) {
      await entry.transport.close()
      return endpoint.log(refuse(503, SERVER_BUSY, SHUTTING_DOWN, headers), admitted)
    }
    return exchange(entry, admitted, parsedBody)
  }

  /** Answers with the transport of a session. */
  const exchange = async (entry: Entry, admitted: Admitted, parsedBody: unknown): Promise<Response> => {
    const { request, headers, access } = admitted
    const { transport, exchanges } = entry
    // Without access control no caller is refused, so there is nothing to wait for.
    const refusing = access && exchanges.refusal(parsedBody)
    const onEnd = (): void => registry.leave(entry)
    registry.enter(entry)
    let response: Response
    try {
      response = await transport.handleRequest(request, {
        authInfo: toAuthInfo(admitted, parsedBody),
        ...(parsedBody !== undefined && { parsedBody: outlineOf(parsedBody) }),
      })
    } catch (error) {
      exchanges.release(parsedBody)
      onEnd()
      throw error
    }
    const isRefused = response.status >= 400
    // The request did not reach the session.
    if (isRefused) exchanges.release(parsedBody)
    // The notification stream.
    const isListening = request.method === 'GET' && !isRefused
    const stopListening = isListening ? registry.listen(entry, admitted) : undefined
    const isReplayed = request.headers.has('last-event-id')
    const refusal = isRefused ? undefined : await refusing
    if (refusal !== undefined) void response.body?.cancel()
    if (isRefused) response = await withoutNullId(response)
    const answer = answered(refusal ?? response, {
      headers,
      isReplayed,
      watchEnd: (end) => (isListening ? atExpiry : whenRefused)(admitted, end),
      onEnd() {
        stopListening?.()
        onEnd()
      },
    })
    // The messages of a POST are logged one by one.
    return request.method === 'POST' && !isRefused ? answer : endpoint.log(answer, admitted)
  }

  const handle = async (request: Request, given: RequestPlatform): Promise<Response> => {
    // Sessions need one process for all clients, whatever app serves them.
    const platform = given.isLongLived === undefined ? { ...given, isLongLived: true } : given
    if (!isForSession(request)) return server.handle(request, platform)
    if (isClosing) return refuse(503, SERVER_BUSY, SHUTTING_DOWN, {})
    try {
      return await serveSession(request, platform)
    } catch (error) {
      parts.onFault(error)
      return refuse(500, SERVER_BUSY, 'Internal error', {})
    }
  }

  return {
    handle,
    leanHandle: handle,
    fetch: (request, env, executionContext) => handle(request, platformOf(env, executionContext, request)),
    getDeploymentInfo: (env) => ({ ...server.getDeploymentInfo(env), hasSessions: true }),
    getToolListInfo: () => server.getToolListInfo(),
    mayflyServer: server,
    get tasks() {
      return server.tasks
    },
    get size() {
      return registry.size
    },
    async close() {
      isClosing = true
      await registry.close(5000)
      await server.close()
    },
  }
}

/** Modern requests have no session; a GET without a session comes from a browser or a probe. */
function isForSession({ method, headers }: Request): boolean {
  const version = headers.get('mcp-protocol-version')
  if (method === 'POST') return version === null || version < '2026-07-28'
  return method === 'OPTIONS' || (headers.has('mcp-session-id') && (method === 'GET' || method === 'DELETE'))
}
