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
import { isObject } from '../definition/is-object.ts'
import type { Jsonified } from '../definition/jsonified.ts'
import { part } from '../definition/part.ts'
import type { InferOutput, Schema } from '../definition/schema.ts'
import { missingCapabilities, missingCapabilityError } from '../interaction/capabilities.ts'
import type { Interaction } from '../interaction/interaction.ts'
import { type Asking, loadAsking } from '../interaction/load-asking.ts'
import { availability, type Conditions, policyFor } from '../interaction/matrix.ts'
import type { ElicitArguments, Question } from '../interaction/question.ts'
import type { StepFunction } from '../interaction/steps.ts'
import { splitMeta } from './meta.ts'
import { Notifier } from './notifier.ts'
import { ownAuth } from './own-auth.ts'
import type { ContextFacts, ContextWire } from './wire.ts'

const ignore = (): void => {}

/** The answers and the state from the last round of a tool that returns its questions. */
export interface AnsweredRound {
  readonly inputResponses: { readonly [key: string]: unknown }
  readonly requestState: string | undefined
}

/** The parts of a context that exist once its tool uses them. */
interface Used {
  isClosed: boolean
  controller?: AbortController
  abortReason?: () => unknown
  notifier?: Notifier
  values?: RequestContextValues
  round?: AnsweredRound
  begun?: Interaction
  /** The part that asks, while it is loaded for the first question or step of a process. */
  loading?: Promise<Asking>
  /** Whether a step waits for that. */
  isStepWaiting?: boolean
  memo?: Map<unknown, unknown>
}

/** In place of the parts of a context that was closed without any: shared, so never written to. */
const CLOSED: Used = Object.freeze({ isClosed: true })

export class Context implements McpContext {
  // Declared, so that no member is written twice: the first calls of an isolate are interpreted.
  declare readonly requestId: string
  /** See `_meta`. */
  declare readonly sessionId: string
  declare readonly era: Era
  declare readonly protocolVersion: string
  declare readonly clientInfo: Implementation | undefined
  declare readonly clientCapabilities: ClientCapabilities
  declare readonly deadline: number | undefined
  declare readonly auth: AuthInfo | undefined
  declare readonly env: Env
  declare readonly waitUntil: (promise: Promise<unknown>) => void
  /** Whether the context has what a tool needs that returns its questions instead of awaiting the answers. Absent: no. */
  declare canReturnQuestions?: boolean
  readonly #facts: ContextFacts
  readonly #wire: ContextWire
  /** What most calls never use. */
  #used: Used | undefined

  constructor(facts: ContextFacts, wire: ContextWire) {
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

  /** Whether the call may become a task. */
  get hasTaskOption(): boolean {
    return false
  }

  /** The parts of a call, for a task that continues it. */
  get parts(): { readonly facts: ContextFacts; readonly wire: ContextWire } {
    return { facts: this.#facts, wire: this.#wire }
  }

  get request(): Request | undefined {
    return this.#facts.request?.()
  }

  get signal(): AbortSignal {
    const used = this.#using
    if (used.controller === undefined) {
      used.controller = new AbortController()
      if (used.abortReason !== undefined) used.controller.abort(used.abortReason())
    }
    return used.controller.signal
  }

  /** Whether `error` is the reason for which the tool was aborted. */
  isStoppedBy(error: unknown): boolean {
    const signal = this.#used?.controller?.signal
    return signal?.aborted === true && error === signal.reason
  }

  /** As for every value, a getter on the prototype costs nothing for requests that do not read it. */
  get _meta(): NonNullable<McpContext['_meta']> {
    // With `!`, since in the interface it is optional and not `undefined`: callbacks with the SDK's types need that under
    // `exactOptionalPropertyTypes`.
    return splitMeta(this.#wire.meta, this.era)._meta!
  }

  get requestContext(): RequestContextValues {
    const used = this.#using
    used.values ??= new Map()
    return used.values
  }

  /** The answers and the state of the questions that the tool has returned last. */
  get round(): AnsweredRound | undefined {
    const { rounds } = this.#wire
    if (this.#used?.round === undefined && rounds !== undefined)
      this.#using.round = { inputResponses: rounds.responses, requestState: rounds.journal.state }
    return this.#used?.round
  }

  /**
   * Asks the questions that a tool returned. Resolves if the tool must run again in this call, with the answers in `round`.
   *
   * @throws TypeError for a context without them, and for a result with neither a question nor a state (MCP 2026-07-28, "Server Requirements", 6).
   */
  async askReturned({ inputRequests, requestState }: InputRequired): Promise<void> {
    if (this.canReturnQuestions !== true)
      throw new TypeError(
        'A tool that returns its questions could not read the answers: ask with ctx.elicit, or import MCPServer and createTool from mayfly-mcp/sdk-context.',
      )
    const given = this.#asking()
    const asking = given instanceof Promise ? await given : given
    const questions = asking.returnedQuestions(inputRequests, requestState)
    const inputResponses = await this.#interaction(asking).askReturned(questions, requestState)
    this.#using.round = { inputResponses, requestState }
  }

  /** What members of other frameworks have made for this context. A `WeakMap` would keep it until a full garbage collection. */
  get memo(): Map<unknown, unknown> {
    const used = this.#using
    used.memo ??= new Map()
    return used.memo
  }

  clientExtension(id: string): { readonly [name: string]: unknown } | undefined {
    const settings: unknown = this.clientCapabilities.extensions?.[id]
    return isObject(settings) ? settings : undefined
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
    return this.#ask(({ elicitQuestion }) => elicitQuestion(...(args as unknown as ElicitArguments)))
  }

  createMessage(params: CreateMessageParams): Promise<CreateMessageResult> {
    return this.#ask(({ samplingQuestion }) => samplingQuestion(params)) as Promise<CreateMessageResult>
  }

  listRoots(): Promise<readonly Root[]> {
    return this.#ask(({ rootsQuestion }) => rootsQuestion()) as Promise<readonly Root[]>
  }

  /** Asks with a request in wire form, and resolves with the client's result. */
  askAsSent(method: string, params: object, options?: object): Promise<unknown> {
    return this.#ask(({ sentQuestion }) => sentQuestion(method, params, options))
  }

  step<Value>(name: string, fn: StepFunction<Value>, options?: StepOptions): Promise<Jsonified<Value>> {
    const asking = this.#asking()
    if (asking instanceof Promise) return this.#stepLater(asking, name, fn, options)
    const done = this.#interaction(asking).step(name, fn, options)
    if (this.#used?.abortReason !== undefined) done.catch(ignore)
    return done
  }

  #stepLater<Value>(
    loading: Promise<Asking>,
    name: string,
    fn: StepFunction<Value>,
    options: StepOptions | undefined,
  ): Promise<Jsonified<Value>> {
    this.#using.isStepWaiting = true
    const done = loading.then((asking) => this.#interaction(asking).step(name, fn, options))
    // The call may end before, and nobody await the step.
    done.catch(ignore)
    return done
  }

  #ask(build: (asking: Asking) => Question): Promise<unknown> {
    const asked = this.#begin(build)
    // Handled here, so that a question that is not awaited cannot end the process; code that awaits it still gets the error.
    asked.catch(ignore)
    return asked
  }

  /** Async, so that a question that cannot be asked rejects instead of throwing. */
  async #begin(build: (asking: Asking) => Question): Promise<unknown> {
    const given = this.#asking()
    const asking = given instanceof Promise ? await given : given
    const question = build(asking)
    if (this.#wire.conditions().canAsk === false) {
      const answer = this.can(question.feature)
      if (!answer.available) {
        const { reason, remedy } = answer
        throw asking.degradedError({ feature: question.feature, reason, remedy })
      }
    }
    return this.#interaction(asking).ask(question)
  }

  /** Loaded once for all questions and steps that are waiting, so that they begin in the order of their calls. */
  #asking(): Asking | Promise<Asking> {
    if (this.#used?.loading !== undefined) return this.#used.loading
    const asking = part(loadAsking)
    if (asking instanceof Promise) {
      const used = this.#using
      used.loading = asking
      const end = (): void => {
        delete used.loading
      }
      asking.then(end, end)
    }
    return asking
  }

  #interaction(asking: Asking): Interaction {
    const used = this.#using
    if (used.begun === undefined) {
      used.begun = this.#wire.interaction(asking)
      if (used.isClosed) used.begun.close()
    }
    return used.begun
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
      mustRemember:
        conditions.mustRemember === true ||
        (this.#used?.begun?.mustRemember() ?? this.#used?.isStepWaiting === true),
      hasTaskOption: this.hasTaskOption,
    }
  }

  /** Aborts `signal`. The reason is created when the signal is first read, because an error captures a stack. */
  abort(reason: () => unknown): void {
    const used = this.#using
    used.abortReason ??= reason
    used.controller?.abort(reason())
  }

  /** Called when the call is answered: sends held-back notifications; later notifications and questions are dropped. */
  close(): void {
    if (this.#used === undefined) this.#used = CLOSED
    if (this.#used === CLOSED) return
    this.#used.isClosed = true
    this.#used.notifier?.close()
    this.#used.begun?.close()
  }

  get #using(): Used {
    if (this.#used === undefined || this.#used === CLOSED) this.#used = { isClosed: this.#used === CLOSED }
    return this.#used
  }

  get #notify(): Notifier {
    const used = this.#using
    if (used.notifier === undefined) {
      const { progressToken, logLevel } = this.#wire
      used.notifier = new Notifier(
        (method, params) => this.#wire.send(method, params),
        progressToken,
        logLevel,
      )
      if (used.isClosed) used.notifier.close()
    }
    return used.notifier
  }
}
