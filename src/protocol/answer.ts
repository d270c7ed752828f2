/**
 * Runs one method for one request and answers it: JSON or SSE, once, whatever happens first of result, disconnect and
 * deadline.
 */
import type { ClientCapabilities, Env, Era, Implementation, LogLevel } from '../definition/context.ts'
import { ProtocolError } from '../definition/protocol-error.ts'
import type { CallControl, Ending, Interaction } from '../interaction/interaction.ts'
import type { Conditions } from '../interaction/matrix.ts'
import { Context } from '../request/context.ts'
import type { Params } from '../request/params.ts'
import { RequestScope } from '../request/request-server.ts'
import { type MethodResult, toMethodResult } from '../request/result.ts'
import { beginInteraction, type EarlierRounds, openRounds } from './asking.ts'
import { deadlineError, deadlineOf, type End, earliestEnd, startTimer } from './deadline.ts'
import { readProgressToken } from './envelope.ts'
import { acceptedTypes, Exchange, jsonResponse } from './exchange.ts'
import { errorMessage, isObject, notificationMessage, type RpcId, toProtocolError } from './json-rpc.ts'
import type { EngineOptions, Incoming } from './options.ts'
import { withinLimit } from './response-limit.ts'

/** A request as either era states it. */
export interface Call {
  readonly id: RpcId
  readonly method: string
  readonly params: Params
  readonly era: Era
  readonly protocolVersion: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  readonly logLevel: LogLevel | undefined
  readonly sessionId: string | undefined
  /** What came with the request from earlier rounds of the same call. */
  readonly rounds: EarlierRounds | undefined
}

interface Answered {
  readonly message: string
  readonly status: number
  readonly headers?: { readonly [name: string]: string } | undefined
}

/** What the call does, once `setup` has run. */
type Run = (scope: RequestScope) => MethodResult | Promise<MethodResult>

/** Gives the result the envelope of its era. */
type Compose = (result: MethodResult, scope: RequestScope) => string

const NO_ENV: Env = Object.freeze({})

/**
 * Turns of the microtask queue before timers are set and listeners added: nothing can happen meanwhile, and most tools that
 * wait for nothing are done by then.
 */
const UNWATCHED_TURNS = 12

export function answer(
  call: Call,
  incoming: Incoming,
  options: EngineOptions,
  run: Run,
  compose: Compose,
): Response | Promise<Response> {
  const { id, params, rounds, era, protocolVersion, clientInfo, clientCapabilities, sessionId } = call
  const { platform, requestId, waitUntil, auth, request } = incoming
  let exchange: Exchange | undefined
  let interaction: Interaction | undefined
  const { canStream, mustStream } = acceptedTypes(request.headers.get('accept'))
  const streams = canStream && platform.canStream !== false
  const openExchange = (): Exchange => {
    exchange ??= new Exchange({
      headers: incoming.headers,
      canStream: streams,
      mustStream,
      streamAfterMs: options.streamAfterMs,
      keepAliveMs: options.keepAliveMs,
      onDisconnect: () => {
        // A tool that never ends would hold on to the request until the limit.
        stopWatching()
        context.abort(() => new DOMException('The client went away.', 'AbortError'))
      },
      onStreamEnd: incoming.onStreamEnd,
    })
    return exchange
  }
  const conditions = (): Conditions => ({
    era,
    protocolVersion,
    clientCapabilities,
    canStream: streams,
    hasBus: options.bus !== undefined,
    hasSecret: options.asking.sealFor(platform.env) !== undefined,
    hasRendezvous: options.asking.rendezvousFor(platform.env) !== undefined,
    legacyPolicy: options.asking.legacyPolicy,
    hasSession: platform.session !== undefined,
  })
  const control = (): CallControl => ({
    get signal() {
      return context.signal
    },
    // A turn later: a question may be asked before the response is even begun.
    end: (ending) => queueMicrotask(() => finishEarly(ending)),
    sendRequest: (askId, method, sent) =>
      openExchange().notify(JSON.stringify({ jsonrpc: '2.0', id: askId, method, params: sent })),
  })
  const context = new Context(
    {
      requestId,
      sessionId,
      era,
      protocolVersion,
      clientInfo,
      clientCapabilities,
      deadline: deadlineOf(platform, streams),
      auth,
      env: (platform.env ?? NO_ENV) as Env,
      request,
      waitUntil,
    },
    {
      rpcId: id,
      method: call.method,
      meta: isObject(params._meta) ? params._meta : undefined,
      progressToken: readProgressToken(params),
      logLevel: call.logLevel,
      conditions,
      send: (method, sent) => openExchange().notify(notificationMessage(method, sent)),
      publish: options.publish,
      rounds,
      interaction: () => {
        interaction ??= beginInteraction(call, incoming, options, control(), conditions())
        return interaction
      },
    },
  )
  const scope = new RequestScope(options.definition, context, incoming.access)

  let isOver = false
  let stopWatching = (): void => {}
  const end = (): void => {
    isOver = true
    stopWatching()
    context.close()
  }
  const finish = ({ message, status, headers }: Answered): void => {
    end()
    const open = openExchange()
    const inPieces = open.isStreaming || (streams && mustStream)
    open.finish(inPieces ? message : withinLimit(message, id, platform.maxResponseBytes), status, headers)
  }
  const composed = (result: MethodResult): string => {
    if (result.isError) incoming.facts.isToolError = true
    return compose(result, scope)
  }
  const complete = (result: MethodResult): void => finish({ message: composed(result), status: 200 })
  const fail = (error: unknown): void => {
    if (!context.isStoppedBy(error)) {
      finish(describeError(error, id, incoming, options))
      return
    }
    // What stops because it was told to has no fault to report, and nobody to answer.
    end()
  }
  // The tool is left where it waits: nothing refers to it any more, so nothing of it stays in memory.
  const finishEarly = (ending: Ending): void => {
    if (ending.kind === 'error') fail(ending.error)
    else complete(ending.kind === 'result' ? toMethodResult(ending.result) : inputRequired(ending))
    context.abort(
      () =>
        new DOMException('The call ended to ask the client; it runs again with the answer.', 'AbortError'),
    )
  }

  let outcome: MethodResult | Promise<MethodResult>
  try {
    outcome =
      options.setup === undefined && rounds === undefined
        ? run(scope)
        : prepare(scope, call, incoming, options, run)
  } catch (error) {
    outcome = Promise.reject(error)
  }
  if (!(outcome instanceof Promise) && !mustStream && exchange === undefined) {
    const message = withinLimit(composed(outcome), id, platform.maxResponseBytes)
    return jsonResponse(message, 200, incoming.headers)
  }
  const open = openExchange()
  const watch = async (): Promise<void> => {
    for (let turn = 0; turn < UNWATCHED_TURNS && !mustStream && !open.isStreaming; turn++) {
      await undefined
      if (isOver) return
    }
    open.begin()
    stopWatching = endEarly(open, context, id, incoming, options, earliestEnd(platform, streams, options))
  }
  Promise.resolve(outcome).then(complete).catch(fail)
  void watch()
  return open.response
}

async function prepare(
  scope: RequestScope,
  call: Call,
  incoming: Incoming,
  options: EngineOptions,
  run: Run,
): Promise<MethodResult> {
  if (call.rounds !== undefined) await openRounds(call.rounds, call, incoming, options)
  await options.setup?.(scope, incoming.request)
  return run(scope)
}

function inputRequired({ inputRequests, requestState }: Ending & { kind: 'inputRequired' }): MethodResult {
  const members = JSON.stringify({ inputRequests, ...(requestState !== undefined && { requestState }) })
  return { members: members.slice(1, -1), isInputRequired: true }
}

/** A `ProtocolError` is meant for the client; anything else is reported and becomes an internal error. */
export function describeError(
  error: unknown,
  id: RpcId | undefined,
  incoming: Incoming,
  options: EngineOptions,
): Answered {
  if (!(error instanceof ProtocolError)) {
    options.reportError(error, { requestId: incoming.requestId, method: incoming.record.method })
  }
  const shown = toProtocolError(error)
  incoming.record.code = shown.code
  return { message: errorMessage(id, shown), status: shown.status, headers: shown.headers }
}

/** Ends the call when the client goes away or the deadline nears. Returns what stops the watching. */
function endEarly(
  exchange: Exchange,
  context: Context,
  id: RpcId,
  incoming: Incoming,
  options: EngineOptions,
  limit: End,
): () => void {
  const { signal } = incoming.request
  if (signal.aborted) {
    exchange.abandon()
    return () => {}
  }
  const onAbort = () => exchange.abandon()
  signal.addEventListener('abort', onAbort, { once: true })
  const timer = startTimer(limit, options, expire)
  function expire(): void {
    const error = deadlineError(limit)
    context.abort(() => error)
    context.close()
    incoming.record.code = error.code
    exchange.finish(errorMessage(id, error), 200)
  }
  return () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
