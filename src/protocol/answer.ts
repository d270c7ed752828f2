/**
 * Runs one method for one request and answers it once, as JSON or SSE: with its result, or early because of a disconnect or the
 * deadline.
 */

import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { Env, LogLevel } from '../definition/context.ts'
import { isObject } from '../definition/is-object.ts'
import { part } from '../definition/part.ts'
import type { ChangeEvent } from '../events/bus.ts'
import type { Ending } from '../interaction/ending.ts'
import type { CallControl, Interaction } from '../interaction/interaction.ts'
import { type Asking, loadAsking } from '../interaction/load-asking.ts'
import { type Conditions, canAsk } from '../interaction/matrix.ts'
import { Context } from '../request/context.ts'
import type { HeaderCheck } from '../request/header-check.ts'
import { loadSetupServer } from '../request/load-setup-server.ts'
import { inputRequired, type MethodResult, toMethodResult } from '../request/method-result.ts'
import type { Params } from '../request/params.ts'
import { givenRequest } from '../request/platform.ts'
import { principalOf } from '../request/principal.ts'
import { RequestScope } from '../request/request-server.ts'
import type { ContextWire } from '../request/wire.ts'
import type { Call, EarlierRounds } from './call.ts'
import { conditionsOf, definitionOf } from './conditions.ts'
import { deadlineError, deadlineOf, earliestEnd, watchCall } from './deadline.ts'
import type { EngineOptions, Incoming } from './engine-options.ts'
import { readProgressToken } from './envelope.ts'
import { type Failure, toFailure } from './failure.ts'
import { checkParamHeaders, checkStandardHeaders } from './headers.ts'
import { notificationMessage, type RpcId } from './json-rpc.ts'
import { jsonReply, type Reply } from './reply.ts'
import { withinLimit } from './response-limit.ts'
import { acceptedTypes, Exchange } from './sse-response.ts'

/** The work of the call, run after `setup`. */
export type Run = (
  scope: RequestScope,
  params: Params,
  options: EngineOptions,
  headers?: HeaderCheck,
) => MethodResult | Promise<MethodResult>

/** Wraps the result in the envelope of its era. */
export type Compose = (result: MethodResult, scope: RequestScope, call: Call) => string

const NO_ENV: Env = Object.freeze({})

/** Microtask turns before timers and listeners are set: no event can arrive during them, and most tools without I/O finish within them. */
const UNWATCHED_TURNS = 12

/** A running call. It ends once: synchronously, with its result, with a question, or early. */
export class RunningCall implements ContextWire, CallControl, HeaderCheck {
  // Declared, so that no member is written twice: the first calls of an isolate are interpreted.
  declare readonly rpcId: RpcId
  declare readonly method: string
  declare readonly progressToken: string | number | undefined
  declare readonly logLevel: LogLevel | undefined
  declare readonly rounds: EarlierRounds | undefined
  declare readonly publish: (event: ChangeEvent) => Promise<void>
  readonly #call: Call
  readonly #incoming: Incoming
  readonly #options: EngineOptions
  readonly #compose: Compose
  readonly #streams: boolean
  readonly #mustStream: boolean
  readonly #context: Context
  readonly #scope: RequestScope
  /** Opened when the reply may become a stream: not before the call waits for something. */
  #exchange: Exchange | undefined
  #resolve: ((reply: Reply | Promise<Reply>) => void) | undefined
  #outcome: MethodResult | Promise<MethodResult> | undefined
  #interaction: Interaction | undefined
  #isOver = false
  #stopWatching: (() => void) | undefined

  constructor(call: Call, incoming: Incoming, options: EngineOptions, compose: Compose) {
    const { platform, requestId, waitUntil, auth, access, request, sent } = incoming
    const { id, method, params, era, protocolVersion, clientInfo, clientCapabilities, sessionId } = call
    const { canStream, mustStream } = acceptedTypes(sent.get('accept'))
    this.#call = call
    this.#incoming = incoming
    this.#options = options
    this.#compose = compose
    this.#streams = canStream && platform.canStream !== false
    this.#mustStream = mustStream
    this.rpcId = id
    this.method = method
    this.progressToken = readProgressToken(params)
    this.logLevel = call.logLevel
    this.rounds = call.rounds
    this.publish = options.publish
    const facts = {
      requestId,
      sessionId,
      era,
      protocolVersion,
      clientInfo,
      clientCapabilities,
      deadline: deadlineOf(platform, this.#streams),
      auth,
      access,
      env: (platform.env ?? NO_ENV) as Env,
      request: () => givenRequest(request, platform),
      waitUntil,
    }
    this.#context = new Context(facts, this)
    options.extendContext?.(this.#context)
    this.#scope = new RequestScope(definitionOf(incoming, options), this.#context, access)
  }

  get meta(): Record<string, unknown> | undefined {
    const { _meta: meta } = this.#call.params
    return isObject(meta) ? meta : undefined
  }

  answer(run: Run): Reply | Promise<Reply> {
    const isReady = this.#options.setup === undefined && this.rounds === undefined
    let outcome: MethodResult | Promise<MethodResult>
    try {
      outcome = isReady
        ? run(this.#scope, this.#call.params, this.#options, this.#incoming.isHttp ? this : undefined)
        : this.#prepare(run)
    } catch (error) {
      outcome = Promise.reject(error)
    }
    this.#outcome = outcome
    if (!(outcome instanceof Promise) && !this.#mustStream && this.#exchange === undefined) {
      this.#end()
      return this.#buffered(this.#composed(outcome), 200, undefined)
    }
    Promise.resolve(outcome).then(
      (result) => this.#complete(result),
      (error: unknown) => this.#fail(error),
    )
    const reply = new Promise<Reply>((resolve) => {
      this.#resolve = resolve
      if (this.#exchange !== undefined) resolve(this.#exchange.reply)
    })
    this.#watch()
    return reply
  }

  checkHeaders({ paramHeaders }: CompiledTool): void {
    const { params, era } = this.#call
    const presence = era === 'modern' ? 'needed' : 'optional'
    checkParamHeaders(this.#incoming.sent, paramHeaders, params.arguments, presence)
  }

  checkName(parameter: string): void {
    checkStandardHeaders(this.#incoming.sent, this.#call.method, this.#call.params, 'optional', parameter)
  }

  async #prepare(run: Run): Promise<MethodResult> {
    if (this.rounds !== undefined) {
      // Also without a state: when the tool runs again, its steps and questions take the turns that they always take.
      const { openRounds } = await part(loadAsking)
      await openRounds(this.#call, this.#incoming, this.#options, principalOf(this.#incoming))
    }
    const { setup } = this.#options
    const { request, platform } = this.#incoming
    if (setup !== undefined) {
      const loaded = part(loadSetupServer)
      const { SetupServer } = loaded instanceof Promise ? await loaded : loaded
      await setup(new SetupServer(this.#scope), givenRequest(request, platform))
    }
    return run(this.#scope, this.#call.params, this.#options, this.#incoming.isHttp ? this : undefined)
  }

  /** Ends the call when the client disconnects or the deadline is near. */
  #watch(): void {
    // `then` costs less than the same turns of an async function, and both cost less than a timer.
    const now = Promise.resolve()
    let left = UNWATCHED_TURNS
    const turn = (): void => {
      if (this.#isOver) return
      if (left-- > 0 && !this.#mustStream && this.#exchange?.isStreaming !== true) now.then(turn)
      else this.#watchNow()
    }
    turn()
  }

  #watchNow(): void {
    const { platform, request } = this.#incoming
    const limit = earliestEnd(platform, this.#streams, this.#options)
    const exchange = this.#openExchange()
    exchange.begin()
    this.#stopWatching = watchCall(request.signal, limit, this.#options, {
      onDisconnect: () => exchange.abandon(),
      onExpire: () => {
        const error = deadlineError(limit)
        this.#context.abort(() => error)
        this.#finishFailed(error)
      },
    })
  }

  #end(): void {
    this.#isOver = true
    this.#stopWatching?.()
    this.#context.close()
  }

  /** After a disconnect, a running tool keeps its concurrency slot; a tool that waits for an answer does not. */
  #noteRest(): void {
    if (this.#interaction?.isSuspended()) return
    const { platform, facts, waitUntil } = this.#incoming
    const { deadline = Number.POSITIVE_INFINITY } = earliestEnd(platform, this.#streams, this.#options)
    const work = Promise.resolve(this.#outcome)
    const { abandonedMs = Number.POSITIVE_INFINITY } = platform
    facts.rest = { work, until: Math.min(deadline, Date.now() + abandonedMs) }
    if (platform.abandonedMs !== undefined) waitUntil(work.catch(() => {}))
  }

  #finishFailed(error: unknown): void {
    const failure = toFailure(error, this.rpcId, this.#incoming, this.#options.reportError)
    this.#finish(failure.message, failure.status, failure.headers)
  }

  #finish(message: string, status: number, headers?: Failure['headers']): void {
    if (this.#isOver) return
    this.#end()
    if (this.#exchange === undefined && !this.#mustStream) {
      this.#resolve!(this.#buffered(message, status, headers))
      return
    }
    const exchange = this.#openExchange()
    const isStream = exchange.isStreaming || (this.#streams && this.#mustStream)
    const limit = isStream ? exchange.maxMessageBytes : this.#incoming.platform.maxResponseBytes
    exchange.finish(withinLimit(message, this.rpcId, limit), status, headers)
  }

  #buffered(message: string, status: number, headers: Failure['headers']): Reply {
    const { platform, headers: own } = this.#incoming
    const { maxResponseBytes } = platform
    const text = maxResponseBytes === undefined ? message : withinLimit(message, this.rpcId, maxResponseBytes)
    return jsonReply(text, status, headers === undefined ? own : { ...own, ...headers })
  }

  #composed(result: MethodResult): string {
    if (result.isError) this.#incoming.facts.isToolError = true
    return this.#compose(result, this.#scope, this.#call)
  }

  #complete(result: MethodResult): void {
    if (this.#isOver) return
    try {
      this.#finish(this.#composed(result), 200)
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    // A tool that stopped because it was aborted is not an error, and needs no answer.
    if (this.#context.isStoppedBy(error)) this.#end()
    else this.#finishFailed(error)
  }

  #openExchange(): Exchange {
    if (this.#exchange !== undefined) return this.#exchange
    const exchange = new Exchange({
      headers: this.#incoming.headers,
      canStream: this.#streams,
      mustStream: this.#mustStream,
      maxStreamedBytes: this.#incoming.platform.maxStreamedBytes,
      streamAfterMs: this.#options.streamAfterMs,
      keepAliveMs: this.#options.keepAliveMs,
      onDisconnect: () => {
        // Ended immediately: otherwise a tool that never ends would hold the request until the limit.
        this.#end()
        this.#noteRest()
        this.#context.abort(() => new DOMException('The client disconnected.', 'AbortError'))
      },
      onStreamEnd: this.#incoming.onStreamEnd,
    })
    this.#exchange = exchange
    this.#resolve?.(exchange.reply)
    return exchange
  }

  // Called by the context.

  begin({ signal, end, hooks }: Omit<CallControl, 'sendRequest'>, asking: Asking): Interaction {
    const sendRequest: CallControl['sendRequest'] = (...request) => this.sendRequest(...request)
    const control = { signal, end, hooks, sendRequest }
    return this.#beginAsking(asking, control)
  }

  endsAt(): number | undefined {
    const { deadline } = earliestEnd(this.#incoming.platform, this.#streams, this.#options)
    return deadline && deadline - this.#options.deadlineMarginMs
  }

  caller(): string | undefined {
    return this.#options.callerOf(this.#incoming)
  }

  conditions(): Conditions {
    return {
      ...conditionsOf(this.#call, this.#incoming, this.#options),
      canAsk: canAsk(this.method),
      hasProgressToken: this.progressToken !== undefined,
      hasLogLevel: this.logLevel !== undefined,
    }
  }

  interaction(asking: Asking): Interaction {
    this.#interaction ??= this.#beginAsking(asking, this)
    return this.#interaction
  }

  #beginAsking({ beginInteraction }: Asking, control: CallControl): Interaction {
    const principal = principalOf(this.#incoming)
    return beginInteraction(this.#call, this.#incoming, this.#options, principal, control, this.conditions())
  }

  send(method: string, params: Record<string, unknown>): void {
    // Not after the call ended, unless an exchange is open: a stream opened after the answer would never end.
    if (!this.#isOver || this.#exchange !== undefined)
      this.#openExchange().notify(notificationMessage(method, params))
  }

  // Called by an interaction.

  get signal(): AbortSignal {
    return this.#context.signal
  }

  sendRequest(id: string, method: string, params: object): boolean {
    return this.#openExchange().notify(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  }

  /** Deferred by a microtask: a question may be asked before the response exists. */
  end(ending: Ending): void {
    queueMicrotask(() => this.#endEarly(ending))
  }

  /** The tool stays suspended. Nothing refers to it, so it is garbage-collected. */
  #endEarly(ending: Ending): void {
    try {
      if (ending.kind === 'error') this.#fail(ending.error)
      else this.#complete(ending.kind === 'result' ? toMethodResult(ending.result) : inputRequired(ending))
    } catch (error) {
      // No caller catches errors here: an uncaught one would end the process.
      this.#fail(error)
    }
    this.#context.abort(
      () =>
        new DOMException('The call ended to ask the client; it runs again with the answer.', 'AbortError'),
    )
  }
}
