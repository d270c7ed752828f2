/**
 * The app: turns any request into its response. The MCP endpoint answers POST on every path, so the server can be mounted under any
 * prefix. Messages are admitted and read here; the engine describes, answers and records them.
 */
import { withPart } from '../definition/part.ts'
import { ErrorCode } from '../definition/protocol-error.ts'
import type { Body, Engine } from '../protocol/engine.ts'
import { type Admitted, type Checkpoint, LEAVE } from '../protocol/engine-options.ts'
import { errorMessage } from '../protocol/json-rpc.ts'
import { BufferedReply, isStream, jsonReply, type Reply, toResponse } from '../protocol/reply.ts'
import { NO_VARIABLES } from '../request/connection.ts'
import type { ReportError } from '../request/options.ts'
import type { RequestPlatform } from '../request/platform.ts'
import { hasUrl, pathOf } from '../request/request-url.ts'
import type { Sharing } from '../request/sharing.ts'
import { createVariablesWatch, type Received, receive, SECURITY_HEADERS } from './admission.ts'
import type { AuditOptions } from './audit.ts'
import { type Callers, createCallers, isUnlimited } from './callers.ts'
import { createGuard } from './guard.ts'
import { loadAudit } from './load-audit.ts'
import { loadCallers } from './load-callers.ts'
import { loadOther } from './load-other.ts'
import type { LogSink } from './log.ts'
import type { AnswerOtherMethod, SharedChecks } from './other-methods.ts'
import { createRecorder } from './recorder.ts'
import { invalidTarget } from './refusal.ts'
import { createRequestChecks, type RequestCheckOptions, type RequestChecks } from './request-checks.ts'
import type { RouteOptions, ServerDescription } from './routes.ts'
import type { TrafficOptions } from './traffic.ts'

export interface AppOptions extends RequestCheckOptions, RouteOptions, TrafficOptions {
  readonly log: LogSink | undefined
  readonly audit: AuditOptions | undefined
  readonly reportError: ReportError
}

/** The HTTP side of a server, created once. */
export interface App {
  /** Answers any HTTP request. Never throws, never rejects. */
  serve(request: Request, platform: RequestPlatform): Promise<Response>
  readonly endpoint: Endpoint
  readonly engine: Engine
}

/** The steps of `serve`, for transports with sessions: they add their own step between reading and answering. */
export interface Endpoint {
  /** Maximum bytes of a body, or of a message on stdio. */
  readonly maxBodyBytes: number
  readonly sharing: Sharing
  /** Checks Host, Origin, token and rate limit. Returns a response for a refused caller, for a preflight, and for the paths of `auth`. */
  admit(request: Request, platform: RequestPlatform): Promise<Admitted | Response>
  /** Whether a request is for a path of `auth`, which `admit` answers. */
  owns(request: Request, platform: RequestPlatform): Promise<boolean>
  /** Reads the body as text, within the limits for size and time. Returns a response if it is refused. */
  read(admitted: Admitted): Promise<string | Response>
  /** Answers a body without a session. */
  answer(body: string, admitted: Admitted): Promise<Response>
  /** Logs a request that contained no message. Returns the response. */
  log(response: Response, admitted: Admitted): Response
}

/** `createEngine` receives the checkpoint that every message passes. */
export function createApp(
  description: ServerDescription,
  createEngine: (checkpoint: Checkpoint) => Engine,
  options: AppOptions,
): App {
  const callers = createCallers(options)
  const recorder = createRecorder(options)
  const isFree = isUnlimited(options)
  const gate: Callers['gate'] = {
    count: (message) => (isFree ? undefined : callers(({ gate }) => gate.count(message))),
    enter: (message) => (isFree ? LEAVE : callers(({ gate }) => gate.enter(message))),
  }
  const engine = createEngine({
    ...(options.audit === undefined ? gate : createAudited(gate)),
    finish: recorder.message,
  })
  const guard = createGuard(options)
  const checks = createRequestChecks(options, guard, callers)
  const watchVariables = createVariablesWatch(options.reportError)
  const shared: SharedChecks = {
    traffic: () => (isFree ? undefined : callers(({ traffic }) => traffic)),
    guard,
    fail: checks.fail,
  }
  let answerOther: AnswerOtherMethod | undefined
  const answerOtherMethod: AnswerOtherMethod = (received) =>
    withPart(loadOther, ({ createOtherMethods }) => {
      answerOther ??= createOtherMethods(description, options, shared)
      return answerOther(received)
    })

  const log: LogAnswer = (answer, seen) => {
    recorder.request(seen, answer.status)
    return answer
  }

  const serveOwn = (options.auth?.serve ?? options.routes) && createServeOwn(options, shared.traffic, log)

  const serveOtherMethod = async (received: Received): Promise<Response> => {
    const response = toResponse(log(await answerOtherMethod(received), received))
    // HEAD has the headers of GET and no body (RFC 9110 §9.3.2). Not every platform removes the body.
    return received.request.method === 'HEAD' ? new Response(null, response) : response
  }

  return {
    engine,
    endpoint: createEndpoint(checks, engine, log, options, serveOwn),
    // A single async function, since each one costs time and memory per call.
    async serve(request, platform) {
      try {
        const received = receive(request, platform, options.reportError)
        if (platform.env === NO_VARIABLES) watchVariables(received)
        const { method } = request
        if (!hasUrl(request)) return toResponse(log(invalidTarget(received.headers), received))
        const own = serveOwn && (await serveOwn(received))
        if (own !== undefined) return own
        const isForSession =
          options.hasSessionStreams && method !== 'OPTIONS' && received.sent.has('mcp-session-id')
        if (method !== 'POST' && !isForSession) return await serveOtherMethod(received)
        const outcome = checks.admit(received)
        const admitted = outcome instanceof Promise ? await outcome : outcome
        if (admitted instanceof BufferedReply) return toResponse(log(admitted, received), platform)
        // Only the engine handles the stream of a session and its end.
        const body: Body | BufferedReply =
          method === 'POST' ? await checks.read(admitted) : { value: { jsonrpc: '2.0', id: 0, method } }
        // The engine logs the messages of a body.
        if (body instanceof BufferedReply) return toResponse(log(body, admitted), platform)
        const reply = await engine.serve(body, admitted)
        return toResponse(admitted.recheck === undefined ? reply : await ending(reply, admitted), platform)
      } catch (error) {
        return faultResponse(error, request, options.reportError)
      }
    },
  }
}

type LogAnswer = <Answer extends Reply>(answer: Answer, seen: Received | Admitted) => Answer

/** Undefined: the request is for no such path. */
type ServeOwn = (received: Received) => Promise<Response | undefined>

/** Answers the paths of an `auth` or an extension that has some. */
function createServeOwn(options: AppOptions, traffic: SharedChecks['traffic'], log: LogAnswer): ServeOwn {
  const checks = { traffic, guard: createGuard({ ...options, allowedOrigins: ['*'] }) }
  return async (received) => {
    const own = await withPart(loadOther, ({ serveAuthPath }) => serveAuthPath(received, options, checks))
    return own && toResponse(log(own, received))
  }
}

/** Serves no message before what writes its audit entry is loaded: if that fails, nothing is done that would have none. */
function createAudited({ count, enter }: Callers['gate']): Callers['gate'] {
  return {
    count: (message) => withPart(loadAudit, () => count(message)),
    enter: (message) => withPart(loadAudit, () => enter(message)),
  }
}

/** A reply that ends if it is a stream whose caller is refused. */
function ending(reply: Reply, owner: Admitted): Reply | Promise<Reply> {
  return owner.recheck === undefined || !isStream(reply)
    ? reply
    : withPart(loadCallers, ({ endingWhenRefused }) => endingWhenRefused(reply, owner))
}

/** Reports an otherwise unhandled error and answers it. */
export function faultResponse(error: unknown, request: Request, reportError: ReportError): Response {
  reportError(error, { url: pathOf(request) })
  const message = errorMessage(undefined, { code: ErrorCode.internal, message: 'Internal error' })
  return toResponse(jsonReply(message, 500, SECURITY_HEADERS))
}

function createEndpoint(
  checks: RequestChecks,
  engine: Engine,
  log: LogAnswer,
  options: AppOptions,
  serveOwn: ServeOwn | undefined,
): Endpoint {
  return {
    maxBodyBytes: options.maxBodyBytes,
    sharing: options,
    async admit(request, platform) {
      const received = receive(request, platform, options.reportError)
      if (!hasUrl(request)) return toResponse(log(invalidTarget(received.headers), received))
      const own = serveOwn && (await serveOwn(received))
      if (own !== undefined) return own
      const admitted = await checks.admit(received)
      return admitted instanceof BufferedReply ? toResponse(log(admitted, received)) : admitted
    },
    async owns(request, platform) {
      if (serveOwn === undefined) return false
      const report = (error: unknown): void => options.reportError(error, { auth: true })
      const answer = await withPart(loadOther, ({ answerOf }) =>
        answerOf(request, platform, options, { report }),
      )
      return answer !== undefined
    },
    async read(admitted) {
      const body = await checks.read(admitted)
      return body instanceof BufferedReply ? toResponse(log(body, admitted)) : body.text
    },
    answer: async (body, admitted) =>
      toResponse(await ending(await engine.serve({ text: body }, admitted), admitted), admitted.platform),
    log: (response, admitted) => toResponse(log(response, admitted)),
  }
}
