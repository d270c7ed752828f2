/**
 * Runs one method for one request and answers it: JSON or SSE, once, whatever happens first of result, disconnect and
 * deadline.
 */
import type { ClientCapabilities, Env, Era, Implementation, LogLevel } from '../definition/context.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { Context } from '../request/context.ts'
import type { Params } from '../request/params.ts'
import { RequestScope } from '../request/request-server.ts'
import type { MethodResult } from '../request/result.ts'
import { readProgressToken } from './envelope.ts'
import { acceptedTypes, Exchange, jsonResponse } from './exchange.ts'
import { errorMessage, isObject, notificationMessage, type RpcId, toProtocolError } from './json-rpc.ts'
import type { EngineOptions, Incoming } from './options.ts'

/** A request as either era states it. */
export interface Call {
  readonly id: RpcId
  readonly params: Params
  readonly era: Era
  readonly protocolVersion: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  readonly logLevel: LogLevel | undefined
  readonly sessionId: string | undefined
}

/** What the call does, once `setup` has run. */
type Run = (scope: RequestScope) => MethodResult | Promise<MethodResult>

/** Gives the result the envelope of its era. */
type Compose = (result: MethodResult, scope: RequestScope) => string

const NO_ENV: Env = Object.freeze({})

export function answer(
  call: Call,
  incoming: Incoming,
  options: EngineOptions,
  run: Run,
  compose: Compose,
): Response | Promise<Response> {
  let exchange: Exchange | undefined
  const { canStream, mustStream } = acceptedTypes(incoming.request.headers.get('accept'))
  const streams = canStream && incoming.platform.canStream !== false
  const openExchange = (): Exchange => {
    exchange ??= new Exchange({
      headers: incoming.headers,
      canStream: streams,
      mustStream,
      streamAfterMs: options.streamAfterMs,
      keepAliveMs: options.keepAliveMs,
      onDisconnect: () => context.abort(new DOMException('The client went away.', 'AbortError')),
      onStreamEnd: incoming.onStreamEnd,
    })
    return exchange
  }
  const { id, params, logLevel, ...facts } = call
  const context = new Context(
    {
      ...facts,
      requestId: incoming.requestId,
      deadline: incoming.platform.deadline,
      auth: incoming.auth,
      env: (incoming.platform.env ?? NO_ENV) as Env,
      request: incoming.request,
      waitUntil: incoming.waitUntil,
    },
    {
      rpcId: id,
      meta: isObject(params._meta) ? params._meta : undefined,
      progressToken: readProgressToken(params),
      logLevel,
      hasBus: options.bus !== undefined,
      canStream: streams,
      send: (method, sent) => openExchange().notify(notificationMessage(method, sent)),
    },
  )
  const scope = new RequestScope(options.definition, context)

  let outcome: MethodResult | Promise<MethodResult>
  try {
    outcome = options.setup === undefined ? run(scope) : setUp(scope, incoming, options, run)
  } catch (error) {
    outcome = Promise.reject(error)
  }
  if (!(outcome instanceof Promise) && !mustStream && exchange === undefined)
    return jsonResponse(compose(outcome, scope), 200, incoming.headers)

  const open = openExchange()
  open.begin()
  const stop = endEarly(open, context, id, incoming, options)
  const finish = ({ message, status }: { message: string; status: number }): void => {
    stop()
    context.close()
    open.finish(message, status)
  }
  Promise.resolve(outcome)
    .then((result) => finish({ message: compose(result, scope), status: 200 }))
    .catch((error) => finish(describeError(error, id, incoming, options)))
  return open.response
}

async function setUp(
  scope: RequestScope,
  incoming: Incoming,
  options: EngineOptions,
  run: Run,
): Promise<MethodResult> {
  await options.setup!(scope, incoming.request)
  return run(scope)
}

/** A `ProtocolError` is meant for the client; anything else is reported and becomes an internal error. */
export function describeError(
  error: unknown,
  id: RpcId | undefined,
  incoming: Incoming,
  options: EngineOptions,
): { message: string; status: number } {
  if (!(error instanceof ProtocolError)) {
    options.reportError(error, { requestId: incoming.requestId, method: incoming.record.method })
  }
  const shown = toProtocolError(error)
  incoming.record.code = shown.code
  return { message: errorMessage(id, shown), status: shown.status }
}

/** Ends the call when the client goes away or the deadline nears. Returns what stops the watching. */
function endEarly(
  exchange: Exchange,
  context: Context,
  id: RpcId,
  incoming: Incoming,
  options: EngineOptions,
): () => void {
  const { signal } = incoming.request
  const onAbort = () => exchange.abandon()
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  const { deadline } = incoming.platform
  const timer =
    deadline === undefined
      ? undefined
      : setTimeout(expire, Math.max(0, deadline - options.deadlineMarginMs - Date.now()))
  function expire(): void {
    const error = new ProtocolError(
      ErrorCode.internal,
      'The platform was about to end this call, so it was stopped: ask for less, or raise the time limit of the deployment.',
      { limit: 'deadline', deadline },
    )
    context.abort(error)
    context.close()
    incoming.record.code = error.code
    exchange.finish(errorMessage(id, error), 200)
  }
  return () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
