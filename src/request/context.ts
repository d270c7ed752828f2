/**
 * The context of one request, as tools, resources, prompts and `setup` see it.
 */
import type {
  CreateMessageParams,
  CreateMessageResult,
  ElicitAnswer,
  ElicitOptions,
  ElicitParams,
  Root,
} from '../definition/ask.ts'
import type {
  AuthInfo,
  Availability,
  ClientCapabilities,
  Env,
  Era,
  Feature,
  Implementation,
  LogLevel,
  MastraMcp,
  McpContext,
  Progress,
  RequestContextValues,
} from '../definition/context.ts'
import type { Jsonified } from '../definition/jsonified.ts'
import { MastraRequestContext } from '../definition/mastra-request-context.ts'
import type { InferOutput, Schema } from '../definition/schema.ts'
import type { InputRequired, SdkHttp, SdkRequestInfo, SdkRequestMeta } from '../definition/sdk-context.ts'
import { missingCapabilities, missingCapabilityError } from '../interaction/capabilities.ts'
import type { Interaction } from '../interaction/interaction.ts'
import { availability, type Conditions, policyFor } from '../interaction/matrix.ts'
import {
  type ElicitArguments,
  elicitQuestion,
  type Question,
  rootsQuestion,
  samplingQuestion,
  sentQuestion,
} from '../interaction/question.ts'
import type { StepFunction } from '../interaction/replay.ts'
import { type AnsweredRound, createMcpContext, roundOf } from './mcp-context.ts'
import { Notifier } from './notifier.ts'
import { Taskless } from './taskless.ts'
import type { ContextFacts, ContextWire } from './wire.ts'

const ignore = (): void => {}

export class Context extends Taskless implements McpContext {
  readonly requestId: string
  /** See `authInfo`. */
  readonly sessionId: string
  readonly era: Era
  readonly protocolVersion: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  readonly deadline: number | undefined
  readonly auth: AuthInfo | undefined
  readonly env: Env
  readonly waitUntil: (promise: Promise<unknown>) => void
  readonly #facts: ContextFacts
  readonly #wire: ContextWire
  #controller: AbortController | undefined
  #abortReason: (() => unknown) | undefined
  #notifier: Notifier | undefined
  #isClosed = false
  #mcp: MastraMcp | undefined
  #values: RequestContextValues | undefined
  #round: AnsweredRound | undefined
  #begun: Interaction | undefined

  constructor(facts: ContextFacts, wire: ContextWire) {
    super()
    this.requestId = facts.requestId
    this.sessionId = facts.sessionId!
    this.era = facts.era
    this.protocolVersion = facts.protocolVersion
    this.clientInfo = facts.clientInfo
    this.clientCapabilities = facts.clientCapabilities
    this.deadline = facts.deadline
    this.auth = facts.auth
    this.env = facts.env
    this.waitUntil = facts.waitUntil
    this.#facts = facts
    this.#wire = wire
  }

  /** The parts of a call, for a task that continues it. */
  get parts(): { readonly facts: ContextFacts; readonly wire: ContextWire } {
    return { facts: this.#facts, wire: this.#wire }
  }

  get request(): Request | undefined {
    return this.#facts.request?.()
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason())
    }
    return this.#controller.signal
  }

  /** Whether `error` is the reason for which the tool was aborted. */
  isStoppedBy(error: unknown): boolean {
    return this.#controller?.signal.aborted === true && error === this.#controller.signal.reason
  }

  get abortSignal(): AbortSignal {
    return this.signal
  }

  get mcp(): MastraMcp {
    this.#mcp ??= createMcpContext(this, this.#wire, this.#round ?? roundOf(this.#wire))
    return this.#mcp
  }

  // Members that callbacks of the official SDK read. Getters on the prototype cost nothing for requests that do not use them.
  // With `!`, since in the interface they are optional and not `undefined`: callbacks with the SDK's types need that under
  // `exactOptionalPropertyTypes`.
  get authInfo(): AuthInfo {
    return this.auth!
  }

  get _meta(): SdkRequestMeta {
    return this.mcp.extra._meta!
  }

  get requestInfo(): SdkRequestInfo {
    return this.mcp.extra.requestInfo!
  }

  get sendNotification(): McpContext['sendNotification'] {
    return this.mcp.extra.sendNotification
  }

  get sendRequest(): McpContext['sendRequest'] {
    return this.mcp.extra.sendRequest
  }

  get mcpReq(): McpContext['mcpReq'] {
    return this.mcp.extra.mcpReq
  }

  get http(): SdkHttp {
    return this.mcp.extra.http!
  }

  // Used by tools of other frameworks.
  get requestContext(): RequestContextValues {
    this.#values ??= new MastraRequestContext(this)
    return this.#values
  }

  get stateless(): boolean {
    return !this.conditions.hasSession
  }

  get toolCallId(): string {
    return this.requestId
  }

  get messages(): readonly never[] {
    return []
  }

  elicitInput(params: ElicitParams, options?: object): Promise<ElicitAnswer<Record<string, unknown>>> {
    return this.elicit(params, options)
  }

  /**
   * Asks the questions that a tool returned. Resolves if the tool must run again in this call, with the answers in `mcpReq`.
   *
   * @throws TypeError for a result with neither a question nor a state (MCP 2026-07-28, "Server Requirements", 6).
   */
  async askReturned({ inputRequests, requestState }: InputRequired): Promise<void> {
    const questions = Object.entries(inputRequests ?? {}).map(([key, request]) => ({
      key,
      question: sentQuestion(request.method, request.params ?? {}),
    }))
    if (requestState !== undefined && typeof requestState !== 'string')
      throw new TypeError('The requestState of an input_required result must be a string.')
    if (questions.length === 0 && requestState === undefined)
      throw new TypeError('An input_required result needs an input request, a requestState, or both.')
    const inputResponses = await this.#interaction.askReturned(questions, requestState)
    this.#round = { inputResponses, requestState }
    this.#mcp = undefined
  }

  can(feature: Feature): Availability {
    return availability(feature, this.conditions)
  }

  requireClientCapabilities(required: ClientCapabilities): void {
    const missing = missingCapabilities(required, this.clientCapabilities)
    if (Object.keys(missing).length > 0) throw missingCapabilityError(missing)
  }

  elicit<S extends Schema>(
    message: string,
    schema: S,
    options?: ElicitOptions,
  ): Promise<ElicitAnswer<InferOutput<S>>>
  elicit(
    message: string,
    url: string | URL,
    options?: ElicitOptions,
  ): Promise<{ action: 'accept' | 'decline' | 'cancel' }>
  elicit(params: ElicitParams, options?: ElicitOptions): Promise<ElicitAnswer<Record<string, unknown>>>
  elicit(...args: unknown[]): Promise<unknown> {
    // Callers pass one of the overloads above, which TypeScript cannot map to these tuples.
    return this.#ask(() => elicitQuestion(...(args as unknown as ElicitArguments)))
  }

  createMessage(params: CreateMessageParams): Promise<CreateMessageResult> {
    return this.#ask(() => samplingQuestion(params)) as Promise<CreateMessageResult>
  }

  listRoots(): Promise<readonly Root[]> {
    return this.#ask(() => rootsQuestion()) as Promise<readonly Root[]>
  }

  /** Asks with a request in wire form, and resolves with the client's result. */
  askAsSent(method: string, params: object, options?: object): Promise<unknown> {
    return this.#ask(() => sentQuestion(method, params, options))
  }

  step<Value>(name: string, fn: StepFunction<Value>): Promise<Jsonified<Value>> {
    const done = this.#interaction.step(name, fn)
    if (this.#abortReason !== undefined) done.catch(ignore)
    return done
  }

  #ask(build: () => Question): Promise<unknown> {
    const asked = this.#begin(build)
    // Handled here, so that a question that is not awaited cannot end the process; code that awaits it still gets the error.
    asked.catch(ignore)
    return asked
  }

  /** Async, so that a question that cannot be asked rejects instead of throwing. */
  async #begin(build: () => Question): Promise<unknown> {
    return this.#interaction.ask(build())
  }

  get #interaction(): Interaction {
    if (this.#begun === undefined) {
      this.#begun = this.#wire.interaction()
      if (this.#isClosed) this.#begun.close()
    }
    return this.#begun
  }

  reportProgress(progress: Progress): void {
    this.#notify.reportProgress(progress)
  }

  log(level: LogLevel, data: unknown, logger?: string): void {
    this.#notify.log(level, data, logger)
  }

  /** Sends any other notification. */
  notify(method: string, params: Record<string, unknown>): void {
    this.#notify.send(method, params)
  }

  /** The conditions that the degradation matrix depends on. */
  get conditions(): Conditions {
    const conditions = this.#wire.conditions()
    return { ...conditions, legacyPolicy: policyFor(this.#wire.method, conditions.legacyPolicy) }
  }

  /** Aborts `signal`. The reason is created when the signal is first read, because an error captures a stack. */
  abort(reason: () => unknown): void {
    this.#abortReason ??= reason
    this.#controller?.abort(reason())
  }

  /** Called when the call is answered: sends held-back notifications; later notifications and questions are dropped. */
  close(): void {
    this.#isClosed = true
    this.#notifier?.close()
    this.#begun?.close()
  }

  get #notify(): Notifier {
    if (this.#notifier === undefined) {
      const { progressToken, logLevel } = this.#wire
      this.#notifier = new Notifier(
        (method, params) => this.#wire.send(method, params),
        progressToken,
        logLevel,
      )
      if (this.#isClosed) this.#notifier.close()
    }
    return this.#notifier
  }
}
