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
  McpContext,
  Progress,
  RequestContextValues,
  StepOptions,
} from '../definition/context.ts'
import type { InputRequired } from '../definition/input-required.ts'
import type { Jsonified } from '../definition/jsonified.ts'
import type { InferOutput, Schema } from '../definition/schema.ts'
import { missingCapabilities, missingCapabilityError } from '../interaction/capabilities.ts'
import { degradedError } from '../interaction/degraded.ts'
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
import type { StepFunction } from '../interaction/steps.ts'
import { splitMeta } from './meta.ts'
import { Notifier } from './notifier.ts'
import { ownAuth } from './own-auth.ts'
import { Taskless } from './taskless.ts'
import type { ContextFacts, ContextWire } from './wire.ts'

const ignore = (): void => {}

/** The answers and the state from the last round of a tool that returns its questions. */
export interface AnsweredRound {
  readonly inputResponses: { readonly [key: string]: unknown }
  readonly requestState: string | undefined
}

export class Context extends Taskless implements McpContext {
  readonly requestId: string
  /** See `_meta`. */
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
  #values: RequestContextValues | undefined
  #round: AnsweredRound | undefined
  /** Whether the context has what a tool needs that returns its questions instead of awaiting the answers. */
  canReturnQuestions = false
  #begun: Interaction | undefined
  #memo: Map<unknown, unknown> | undefined

  constructor(facts: ContextFacts, wire: ContextWire) {
    super()
    this.requestId = facts.requestId
    this.sessionId = facts.sessionId!
    this.era = facts.era
    this.protocolVersion = facts.protocolVersion
    this.clientInfo = facts.clientInfo
    this.clientCapabilities = facts.clientCapabilities
    this.deadline = facts.deadline
    this.auth = facts.auth && ownAuth(facts.auth)
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

  /** As for every value, a getter on the prototype costs nothing for requests that do not read it. */
  get _meta(): NonNullable<McpContext['_meta']> {
    // With `!`, since in the interface it is optional and not `undefined`: callbacks with the SDK's types need that under
    // `exactOptionalPropertyTypes`.
    return splitMeta(this.#wire.meta, this.era)._meta!
  }

  get requestContext(): RequestContextValues {
    this.#values ??= new Map()
    return this.#values
  }

  /** The answers and the state of the questions that the tool has returned last. */
  get round(): AnsweredRound | undefined {
    const { rounds } = this.#wire
    if (this.#round === undefined && rounds !== undefined)
      this.#round = { inputResponses: rounds.responses, requestState: rounds.journal.state }
    return this.#round
  }

  /**
   * Asks the questions that a tool returned. Resolves if the tool must run again in this call, with the answers in `round`.
   *
   * @throws TypeError for a context without them, and for a result with neither a question nor a state (MCP 2026-07-28, "Server Requirements", 6).
   */
  async askReturned({ inputRequests, requestState }: InputRequired): Promise<void> {
    if (!this.canReturnQuestions)
      throw new TypeError(
        'A tool that returns its questions could not read the answers: ask with ctx.elicit, or import MCPServer and createTool from mayfly-mcp/sdk-context.',
      )
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
  }

  /** What members of other frameworks have made for this context. A `WeakMap` would keep it until a full garbage collection. */
  get memo(): Map<unknown, unknown> {
    this.#memo ??= new Map()
    return this.#memo
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

  step<Value>(name: string, fn: StepFunction<Value>, options?: StepOptions): Promise<Jsonified<Value>> {
    const done = this.#interaction.step(name, fn, options)
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
    const question = build()
    if (this.#wire.conditions().canAsk === false) {
      const answer = this.can(question.feature)
      if (!answer.available) {
        const { reason, remedy } = answer
        throw degradedError({ feature: question.feature, reason, remedy })
      }
    }
    return this.#interaction.ask(question)
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
    return {
      ...conditions,
      legacyPolicy: policyFor(this.#wire.method, conditions.legacyPolicy),
      mustRemember: conditions.mustRemember === true || this.#begun?.mustRemember() === true,
      hasTaskOption: this.hasTaskOption,
    }
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
