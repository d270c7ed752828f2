/**
 * Streamable HTTP with sessions, for a process that lives long: the transport of the official SDK v1 in front of an `MCPServer`.
 */
import type { AuthInfo, MCPServer } from '../../src/index.ts'
import { principalOf } from '../../src/protocol/asking.ts'
import type { Admitted } from '../../src/protocol/options.ts'
import type { Session } from '../../src/protocol/session.ts'
import type { FetchServer, RequestPlatform } from '../../src/request/platform.ts'
import { guardHooks, type Hooks } from './hooks.ts'
import { loadStreamable } from './packages.ts'
import { isInitialize, parseBody } from './parse-body.ts'
import { answered, refuse, SERVER_BUSY, SESSION_NOT_FOUND } from './response.ts'
import { connect, createSenders, type SdkTransport } from './transport.ts'

export interface SessionsOptions extends Hooks {
  /** Answers in JSON; what is notified or asked during a call is then lost. Default false. */
  enableJsonResponse?: boolean
  /** Sessions at once; with more, `initialize` is answered 503. Default 1000. */
  maxSessions?: number
  /** Milliseconds without a request or an open stream after which a session ends. Default 1 800 000. */
  idleMs?: number
}

export interface Sessions extends FetchServer {
  handle(request: Request, platform: RequestPlatform): Promise<Response>
  /** How many sessions there are. */
  readonly size: number
  /** Takes no more, waits up to 5 seconds for calls that run, then ends every session and its streams. */
  close(): Promise<void>
}

interface HttpTransport extends SdkTransport {
  handleRequest(request: Request, options: { authInfo: AuthInfo; parsedBody?: unknown }): Promise<Response>
}

interface Entry {
  readonly transport: HttpTransport
  readonly session: Session
  /** Another principal's session does not exist. */
  readonly principal: string
  /** Requests and streams that are open. */
  open: number
  timer: ReturnType<typeof setTimeout> | undefined
}

const CLOSE_GRACE_MS = 5000

/**
 * Serves an `MCPServer` with sessions to legacy clients: they can be asked, subscribe, and are told of changes. Modern clients need no
 * session and are served beside them, as are the page and the health check. Sessions live in this process: it must be the only one that
 * a client reaches. Guard, auth, limits and log are the server's own.
 *
 * ```ts
 * const { close } = await serve(createSessions(server), { port: 3000 })
 * ```
 *
 * Needs `@modelcontextprotocol/sdk` 1.25 or newer.
 */
export function createSessions(server: MCPServer, options: SessionsOptions = {}): Sessions {
  const { maxSessions = 1000, idleMs = 1_800_000, ...transportOptions } = options
  const parts = server.getSessionParts()
  const { engine, endpoint } = parts
  const entries = new Map<string, Entry>()
  const { toAuthInfo, senderOf } = createSenders()
  let opening = 0
  let isClosing = false

  const end = (id: string): Promise<void> | undefined => entries.get(id)?.transport.close()

  const touch = (id: string, entry: Entry): void => {
    clearTimeout(entry.timer)
    if (entry.open > 0 || !entries.has(id)) return
    entry.timer = setTimeout(() => void end(id), idleMs)
    unref(entry.timer)
  }

  const open = async (principal: string, platform: RequestPlatform): Promise<HttpTransport> => {
    const { WebStandardStreamableHTTPServerTransport: Transport } = await loadStreamable()
    const { onsessioninitialized, ...hooks } = guardHooks(transportOptions, parts.onFault)
    const transport: HttpTransport = new Transport({
      ...(transportOptions as object),
      ...(hooks as object),
      onsessioninitialized: (id) => {
        entries.set(id, { transport, session, principal, open: 1, timer: undefined })
        return onsessioninitialized(id)
      },
    })
    // The platform of the request that opens it: later ones come to the same process.
    const session = connect(parts, transport, platform, senderOf)
    transport.onclose = () => {
      session.close()
      const id = transport.sessionId
      if (id === undefined) return
      clearTimeout(entries.get(id)?.timer)
      entries.delete(id)
    }
    return transport
  }

  const serveSession = async (request: Request, platform: RequestPlatform): Promise<Response> => {
    const admitted = await endpoint.admit(request, platform)
    if (admitted instanceof Response) return admitted
    const { headers } = admitted
    const principal = principalOf(admitted)
    const id = request.headers.get('mcp-session-id')
    const known = id === null ? undefined : entries.get(id)
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
      // Requests that open no session are served statelessly, and what is no message is refused there.
      if (parsedBody === undefined || !isForSession) return endpoint.answer(body, admitted)
    }
    if (known === undefined && entries.size + opening >= maxSessions) {
      const message = `This server has ${maxSessions} sessions, which is its limit: try again later.`
      const more = { ...headers, 'retry-after': '10' }
      return endpoint.log(refuse(503, SERVER_BUSY, message, more), admitted)
    }
    const response = await exchange(id, known, admitted, parsedBody)
    // Messages are logged one by one.
    return request.method === 'POST' && response.status < 400 ? response : endpoint.log(response, admitted)
  }

  /** Has the transport of a session answer, of a new one where none is known. */
  const exchange = async (
    id: string | null,
    known: Entry | undefined,
    admitted: Admitted,
    parsedBody: unknown,
  ): Promise<Response> => {
    const { request, platform, headers } = admitted
    const authInfo = toAuthInfo(admitted)
    if (known !== undefined) {
      known.open++
      clearTimeout(known.timer)
    } else opening++
    try {
      const transport = known?.transport ?? (await open(principalOf(admitted), platform))
      const response = await transport.handleRequest(request, {
        authInfo,
        ...(parsedBody !== undefined && { parsedBody }),
      })
      const opened = id ?? transport.sessionId
      const entry = opened === undefined ? undefined : entries.get(opened)
      // What did not initialize leaves no session behind.
      if (known === undefined && entry === undefined) await transport.close()
      return answered(response, headers, () => {
        if (opened === undefined || entry === undefined) return
        entry.open--
        // Its `initialize` was refused, by a limit for example.
        if (entry.session.client.declared === undefined) void end(opened)
        else touch(opened, entry)
      })
    } catch (error) {
      if (known !== undefined && id !== null) {
        known.open--
        touch(id, known)
      }
      throw error
    } finally {
      if (known === undefined) opening--
    }
  }

  const handle = async (request: Request, platform: RequestPlatform): Promise<Response> => {
    if (!isForSession(request)) return server.handle(request, platform)
    if (isClosing) return refuse(503, SERVER_BUSY, 'This server is shutting down.', {})
    try {
      return await serveSession(request, platform)
    } catch (error) {
      parts.onFault(error)
      return refuse(500, SERVER_BUSY, 'Internal error', {})
    }
  }

  return {
    handle,
    fetch: (request, env) => handle(request, { env }),
    get size() {
      return entries.size
    },
    async close() {
      isClosing = true
      let timer: ReturnType<typeof setTimeout> | undefined
      const grace = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_GRACE_MS)
      })
      const running = [...entries.values()].map(({ session }) => session.settled())
      await Promise.race([Promise.all(running), grace])
      clearTimeout(timer)
      await Promise.all([server.close(), ...[...entries.keys()].map(end)])
    },
  }
}

/** Modern requests stand alone; a GET without a session is somebody who looks. */
function isForSession({ method, headers }: Request): boolean {
  const version = headers.get('mcp-protocol-version')
  if (method === 'POST') return version === null || version < '2026-07-28'
  return method === 'OPTIONS' || (headers.has('mcp-session-id') && (method === 'GET' || method === 'DELETE'))
}

/** A session that waits to expire keeps no process alive. */
function unref(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === 'object') timer.unref()
}
