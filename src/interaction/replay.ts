/**
 * Asking without a session. A question without an answer suspends the call: its promise never settles, the client receives the
 * question, and the server keeps nothing. The client calls again with the answers and the tool runs again from the top: earlier
 * answers and step results come from the journal (MCP 2026-07-28, "Multi Round-Trip Requests").
 */
import type { StepInfo, StepOptions } from '../definition/context.ts'
import { digest } from '../definition/digest.ts'
import type { Jsonified } from '../definition/jsonified.ts'
import { Decisions } from './decisions.ts'
import type { Ending } from './ending.ts'
import { copy, type Journal, own, toJson } from './journal.ts'
import { askedAgain, MAX_REFUSALS, type Question, refusalReason, tooManyRefusals } from './question.ts'
import { QuestionError } from './question-error.ts'
import { callStep, isInsideStep } from './step-body.ts'
import { fromStoredError, type StoredError, toStoredError, withStack } from './step-error.ts'
import { checkStepOptions, nextAttempt, withinTime } from './step-options.ts'

/** One unanswered question, as the client receives it. */
export interface OpenQuestion {
  readonly key: string
  readonly question: Question
}

export interface Suspension {
  readonly questions: readonly OpenQuestion[]
  readonly journal: Journal
  /** The tool returned an input_required result, so it has used the answers to an earlier one. */
  readonly isReturned?: boolean
}

export interface ReplayOptions {
  readonly journal: Journal
  /** The client's answers in this request, by question key. */
  readonly responses: { readonly [key: string]: unknown }
  /** Aborts when the call is aborted. */
  readonly signal: () => AbortSignal
  /** Called once, when the tool cannot continue. */
  readonly onSuspend: (suspension: Suspension) => void
  /** Called if a question waits too long for running steps: one of them may itself wait for the question. */
  readonly onStuck: (error: QuestionError) => void
  readonly hooks?: ReplayHooks | undefined
}

/** For a call whose journal is also stored elsewhere: a task. */
export interface ReplayHooks {
  /** Before a step runs: resolves when it may run, or never settles if no more steps may start. */
  readonly beforeStep: (name: string) => Promise<void> | undefined
  readonly stepKey: (name: string) => string | Promise<string>
  /** Called after each step, before anything else runs. */
  readonly afterStep: (name: string) => void | Promise<void>
  /** Before the next attempt of a step: never settles if another run makes it. Undefined: this run waits for it. */
  readonly backOff?: (until: number) => Promise<never> | undefined
  /** Called if the tool asks for something else instead of the result that an earlier run recorded next. */
  readonly onChanged?: ((expected: string, asked: string) => void) | undefined
  /** How the call ends when it is suspended; undefined for the default. */
  readonly conclude: (suspension: Suspension) => Promise<Ending> | undefined
  readonly onReplay: (replay: Replay) => void
  /** Milliseconds by which the clock of the journal is ahead of this machine's. Default 0. */
  readonly clockOffsetMs?: number
  /** Whether a question may wait for a long step, since no caller waits. */
  readonly waitsForSteps: boolean
}

/** Milliseconds that a question waits for steps that run at the same time. */
const STEP_TIMEOUT_MS = 60_000

/** Milliseconds for the tool to ask for a recorded result, in case it waits for anything else than its context. */
const CHANGED_MS = 1000

const TOO_LATE = 'A question was asked after the tool had returned: await its answer before you return.'

/** Characters of the digest in a question's key: more than 128 bits. */
const KEY_LENGTH = 22

/** The end of every key that we create; responses under other keys are ignored. */
const OUR_KEY = /[\w-]{22}/

/** The function of a step. */
export type StepFunction<Value> = (step: StepInfo) => Value | Promise<Value>

function byTime(
  { at: one = Infinity }: { at: number | undefined },
  { at: other = Infinity }: { at: number | undefined },
): number {
  return one === other ? 0 : one - other
}

/** What the function of a step receives. Most functions do not read it. */
class Info implements StepInfo {
  readonly #keys: Map<string, string>
  readonly #name: string
  readonly #signal: () => AbortSignal

  constructor(keys: Map<string, string>, name: string, signal: () => AbortSignal) {
    this.#keys = keys
    this.#name = name
    this.#signal = signal
  }

  get idempotencyKey(): string {
    const key = this.#keys.get(this.#name) ?? crypto.randomUUID()
    this.#keys.set(this.#name, key)
    return key
  }

  get signal(): AbortSignal {
    return this.#signal()
  }
}

/** A promise that never settles, so that no `catch` or `finally` of the tool runs after its call has ended. */
export function neverSettles(): Promise<never> {
  return new Promise(() => {})
}

interface Wait {
  readonly decision: string
  readonly over: () => number | undefined
  /** Returns whether no other run could decide otherwise. */
  readonly decide: () => boolean
  readonly resolve: (isOver: boolean) => void
}

export class Replay {
  readonly #options: ReplayOptions
  readonly #open: OpenQuestion[] = []
  readonly #answers: Record<string, unknown>
  readonly #steps: Record<string, readonly unknown[]>
  readonly #errors: Record<string, readonly StoredError[]>
  readonly #retries: Record<string, readonly [number, number]>
  readonly decisions: Decisions
  readonly #refusals: Record<string, readonly [number, string]>
  readonly #unread: Record<string, unknown>
  #state: string | undefined
  /** Whether the tool waits without a question: it sleeps, or returned an input_required result without one. */
  #isParked = false
  #isReturned = false
  readonly #keys = new Set<string>()
  /** How often each question was asked, by its content. */
  readonly #occurrences = new Map<string, number>()
  #lastDigest: Promise<unknown> = Promise.resolve()
  readonly #stepNames = new Set<string>()
  /** By step: how often it failed for the tool in this run. */
  readonly #failures = new Map<string, number>()
  readonly #keysOfSteps = new Map<string, string>()
  readonly #running = new Set<string>()
  /** The number of running steps and validations. Their outcome belongs in the journal, so the call is not suspended before. */
  #busy = 0
  #phase: 'running' | 'ended' | 'answered' = 'running'
  #stepTimer: ReturnType<typeof setTimeout> | undefined
  #stuckTimer: ReturnType<typeof setTimeout> | undefined
  /** Waits to decide in this turn. */
  readonly #waits: Wait[] = []

  constructor(options: ReplayOptions) {
    const { answers, steps, errors = {}, retries = {}, order, refusals, unread, state } = options.journal
    this.#options = options
    this.#errors = copy(errors)
    this.#retries = copy(retries)
    this.decisions = new Decisions(order, () => this.#rest())
    this.#answers = copy(answers)
    this.#steps = copy(steps)
    this.#refusals = copy(refusals)
    this.#unread = Object.assign(copy(unread), options.responses)
    this.#state = state
  }

  /** Called when the call ends without the tool's own answer: nothing new starts. */
  end(): void {
    this.#phase = 'ended'
    clearTimeout(this.#stepTimer)
    clearTimeout(this.#stuckTimer)
  }

  /** Called when the tool answered or its call was aborted: no more questions are asked. */
  close(): void {
    if (this.#phase === 'running') this.#phase = 'answered'
    clearTimeout(this.#stepTimer)
  }

  get isRunningStep(): boolean {
    return this.#running.size > 0
  }

  isSuspended(): boolean {
    return this.#phase === 'ended' || this.#open.length > 0 || this.#isParked
  }

  /** Undefined while the call runs. After it ended without an answer: a promise that never settles, or rejects with the signal's reason. */
  over(): Promise<never> | undefined {
    if (this.#phase === 'ended') return neverSettles()
    const signal = this.#options.signal()
    return signal.aborted ? Promise.reject(signal.reason) : undefined
  }

  /** Undefined while questions can be asked; otherwise the promise that a question returns. */
  refusal(): Promise<never> | undefined {
    const isAnswered = this.#phase === 'answered' && !this.#options.signal().aborted
    return isAnswered ? Promise.reject(new QuestionError('CALL_OVER', TOO_LATE)) : this.over()
  }

  /**
   * Resolves with the answer, or never settles.
   *
   * @throws QuestionError inside a step, after the tool has answered, and after too many invalid answers.
   * @throws TypeError for a key that was already used.
   */
  async ask(question: Question): Promise<unknown> {
    const refused = this.refusal()
    if (refused !== undefined) return refused
    if (this.#running.size > 0 && isInsideStep()) throw this.#insideStep('inside')
    const text = JSON.stringify([question.key ?? null, question.method, question.params])
    return this.decisions.count(() => this.#answer(question, text))
  }

  async #answer(question: Question, text: string): Promise<unknown> {
    const key = await this.#keyOf(question.key, text)
    const decision = `answer ${key}`
    if (!this.decisions.has(decision)) await this.decisions.replayed(decision)
    const decide = async (): Promise<void> => {
      if (!this.decisions.has(decision)) this.decisions.made(decision, true)
      await this.decisions.turn(decision)
    }
    const known = own(this.#answers, key)
    const answer = known ?? own(this.#unread, key)
    delete this.#unread[key]
    let [count, reason = ''] = own(this.#refusals, key) ?? [0]
    if (answer !== undefined && count < MAX_REFUSALS) {
      const validation = await this.during(() => question.validate(structuredClone(answer)))
      if (validation.ok) {
        this.#answers[key] = answer
        await decide()
        return validation.value
      }
      delete this.#answers[key]
      count++
      reason = refusalReason(validation.issues)
      this.#refusals[key] = [count, reason]
    }
    if (count >= MAX_REFUSALS) {
      await decide()
      throw tooManyRefusals(question, reason)
    }
    if (this.decisions.has(decision)) this.decisions.forget(decision)
    // If the call was aborted in the meantime, waiting for an answer would never end.
    const late = this.over()
    if (late !== undefined) return late
    // A copy, since the tool may change the object that it passed.
    const asked = { ...question, params: JSON.parse(text)[2] as object }
    this.#open.push({ key, question: count === 0 ? asked : askedAgain(asked, reason) })
    this.#suspendWhenIdle()
    return neverSettles()
  }

  /** Suspends the call with an input_required result of its tool: its questions, if any, and its state. */
  askReturned(questions: readonly OpenQuestion[], state: string | undefined): Promise<never> {
    this.#open.push(...questions)
    this.#isReturned = true
    this.keepState(state)
    return this.park()
  }

  /** For the state of a result whose questions are answered within the call. */
  keepState(state: string | undefined): void {
    this.#state = state
  }

  /** Suspends the call without a question, once nothing else runs. */
  park(): Promise<never> {
    this.#isParked = true
    this.#suspendWhenIdle()
    return neverSettles()
  }

  /**
   * Runs `fn` once across all rounds. Its result must be JSON; every round returns it after a JSON round trip, or throws its error.
   *
   * @throws TypeError for a name that was already used, for invalid options, and for a result that is not JSON.
   */
  async step<Value>(
    name: string,
    fn: StepFunction<Value>,
    options: StepOptions = {},
  ): Promise<Jsonified<Value>> {
    checkStepOptions(name, options)
    return this.#named(name, async () => {
      const failures = this.#failures.get(name) ?? 0
      const decision = `step ${name}`
      const failure = () => own(this.#errors, name)?.[failures]
      const isKnown = () => failure() !== undefined || Object.hasOwn(this.#steps, name)
      // In an array, since it may be a thenable.
      let thrown: readonly unknown[] = []
      if (!this.decisions.has(decision)) {
        const waiting = this.decisions.replayed(decision)
        if (waiting !== undefined) await waiting
        if (isKnown()) this.decisions.made(decision, false)
        else thrown = await this.#runs(name, fn, options)
      }
      await this.decisions.turn(decision)
      const stored = failure()
      if (stored === undefined) return structuredClone(this.#steps[name]!)[0] as Jsonified<Value>
      // A step that failed may be called again.
      this.#failures.set(name, failures + 1)
      this.#stepNames.delete(name)
      throw withStack(fromStoredError(stored), thrown[0])
    })
  }

  /** The value of a step of Mayfly's own, which does not decide anything: when a sleep ends. */
  note(name: string, value: () => unknown): Promise<unknown> {
    return this.#named(name, async () => {
      if (!Object.hasOwn(this.#steps, name)) {
        await this.decisions.replayed(`step ${name}`)
        this.#steps[name] ??= toJson(name, value())
      }
      return this.#steps[name]![0]
    })
  }

  /**
   * Decides whether and when a wait is over, for all waits of this turn by their time. Resolves with false if it is not over in this run.
   *
   * @param over when it ended, in milliseconds since the epoch; undefined: it goes on.
   */
  reach(decision: string, over: () => number | undefined, decide: () => boolean): Promise<boolean> {
    return this.decisions.count(async () => {
      if (!this.decisions.has(decision)) {
        await this.decisions.replayed(decision)
        const isOver = await new Promise<boolean>((resolve) => {
          this.#waits.push({ decision, over, decide, resolve })
          this.during(() => new Promise((next) => setTimeout(next, 0)).then(() => this.#decideWaits()))
        })
        if (!isOver) return false
      }
      await this.decisions.turn(decision)
      return true
    })
  }

  #decideWaits(): void {
    const waits = this.#waits.splice(0).map((wait) => ({ ...wait, at: wait.over() }))
    for (const { decision, at, decide, resolve } of waits.sort(byTime)) {
      if (at !== undefined) this.decisions.made(decision, decide())
      resolve(at !== undefined)
    }
  }

  /** The value of a recorded step. */
  recorded(name: string): readonly unknown[] | undefined {
    return own(this.#steps, name)
  }

  record(name: string, value: readonly unknown[]): void {
    this.#steps[name] = value
  }

  async #named<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    const over = this.over()
    if (over !== undefined) return over
    if (this.#stepNames.has(name))
      throw new TypeError(`Step "${name}" already ran in this call: give each step a different name.`)
    this.#stepNames.add(name)
    return this.decisions.count(work)
  }

  /** Runs a step until it has a result or its last error. Resolves with what it threw last. */
  async #runs(name: string, fn: StepFunction<unknown>, options: StepOptions): Promise<readonly unknown[]> {
    const { hooks } = this.#options
    for (;;) {
      const at = (own(this.#retries, name)?.[1] ?? 0) - (hooks?.clockOffsetMs ?? 0)
      if (at > Date.now()) {
        const elsewhere = hooks?.backOff?.(at)
        if (elsewhere !== undefined) return elsewhere
        await this.#inStep(name, () => new Promise((resolve) => setTimeout(resolve, at - Date.now())))
        const over = this.over()
        if (over !== undefined) return over
      }
      const ready = hooks?.beforeStep(name)
      if (ready !== undefined) await ready
      const ended = await this.#inStep(name, () => this.#attempt(name, fn, options))
      if (ended !== undefined) return ended
    }
  }

  /** Undefined if there is another attempt. */
  async #attempt(
    name: string,
    fn: StepFunction<unknown>,
    options: StepOptions,
  ): Promise<readonly unknown[] | undefined> {
    const { hooks, signal } = this.#options
    const decision = `step ${name}`
    if (hooks !== undefined) this.#keysOfSteps.set(name, await hooks.stepKey(name))
    let thrown: unknown
    try {
      const value = await withinTime(
        (own) => callStep(() => fn(new Info(this.#keysOfSteps, name, own))),
        signal,
        options,
      )
      this.#steps[name] = value === undefined ? [] : toJson(name, value)
    } catch (error) {
      // The run is over: this is not the step's own failure.
      if (this.#phase === 'ended') return neverSettles()
      if (signal().aborted) throw error
      const count = (own(this.#retries, name)?.[0] ?? 0) + 1
      const at = nextAttempt(count, error, options)
      if (at !== undefined) {
        this.#retries[name] = [count, at + (hooks?.clockOffsetMs ?? 0)]
        await hooks?.afterStep(name)
        return undefined
      }
      thrown = error
      this.#fail(name, error)
    }
    delete this.#retries[name]
    this.decisions.made(decision, true)
    this.decisions.isUnsaved = false
    try {
      await hooks?.afterStep(name)
    } catch (error) {
      // Its result does not fit in the store.
      delete this.#steps[name]
      this.#fail(name, error)
      await hooks?.afterStep(name)
    }
    return [thrown]
  }

  #fail(name: string, error: unknown): void {
    const failures = this.#failures.get(name) ?? 0
    this.#errors[name] = [...(own(this.#errors, name) ?? []).slice(0, failures), toStoredError(error)]
  }

  /** Does a part of a step, during which the call is not suspended. */
  #inStep<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    return this.during(async () => {
      this.#running.add(name)
      try {
        return await work()
      } finally {
        this.#running.delete(name)
        clearTimeout(this.#stepTimer)
        this.#stepTimer = undefined
      }
    })
  }

  #insideStep(where: string): QuestionError {
    const names = [...this.#running].map((name) => `"${name}"`).join(', ')
    return new QuestionError(
      'INSIDE_STEP',
      `A question was asked ${where} the step ${names}. A step runs once, and a question ends the request: ask before or after the step.`,
    )
  }

  /**
   * The key of a question on the wire, from its content and how often that was asked before. An answer only counts for its own question,
   * and the order of questions does not matter.
   */
  async #keyOf(key: string | undefined, text: string): Promise<string> {
    if (key !== undefined) {
      if (this.#keys.has(key))
        throw new TypeError(
          `Question "${key}" was already asked in this call: give each question a different key.`,
        )
      this.#keys.add(key)
    }
    const occurrence = this.#occurrences.get(text) ?? 0
    this.#occurrences.set(text, occurrence + 1)
    // One after another, so that a tool continues in the same order in every round.
    const digested = this.#lastDigest.then(() => digest(text))
    this.#lastDigest = digested
    const name = (await this.during(() => digested)).slice(0, KEY_LENGTH)
    if (key !== undefined) return `${key}-${name}`
    return occurrence === 0 ? name : `${name}-${occurrence}`
  }

  /** Does work during which the call is not suspended. */
  async during<Value>(work: () => Value | Promise<Value>): Promise<Value> {
    this.#busy++
    try {
      return await work()
    } finally {
      this.#busy--
      this.#rest()
    }
  }

  #rest(): void {
    this.#suspendWhenIdle()
    this.#checkStuck()
  }

  /** The tool asks for something else than what an earlier run recorded: waits a turn, and goes on without it or ends the run. */
  #checkStuck(): void {
    const stuck = this.decisions.stuck()
    if (stuck === undefined || this.#busy > 0 || this.#stuckTimer !== undefined) return
    const { onChanged } = this.#options.hooks ?? {}
    // An answer to a question that changed is ignored.
    const mayChange = onChanged === undefined || stuck.expected.startsWith('answer ')
    const check = (): void => {
      this.#stuckTimer = undefined
      const still = this.decisions.stuck()
      if (this.#phase !== 'running' || this.#busy > 0 || still === undefined) return
      if (still.expected !== stuck.expected) this.#checkStuck()
      else if (mayChange) this.decisions.skip()
      else onChanged(still.expected, still.asked)
    }
    this.#stuckTimer = setTimeout(check, mayChange ? 0 : CHANGED_MS)
  }

  /** Waits one turn of the event loop, so that questions asked at the same time are sent in one round. */
  #suspendWhenIdle(): void {
    if (this.#phase !== 'running' || (this.#open.length === 0 && !this.#isParked)) return
    if (this.#running.size > 0) this.#stepTimer ??= setTimeout(() => this.#giveUp(), STEP_TIMEOUT_MS)
    setTimeout(() => {
      if (this.#busy > 0 || this.#phase !== 'running' || this.decisions.isHandingOut) return
      this.end()
      const isReturned = this.#isReturned
      this.#options.onSuspend({ questions: this.#open, journal: this.journal(), isReturned })
    }, 0)
  }

  /** What later rounds need, as of now. */
  journal(): Journal {
    const unread = Object.entries(this.#unread).filter(([key]) => OUR_KEY.test(key.slice(-KEY_LENGTH)))
    return {
      answers: copy(this.#answers),
      steps: copy(this.#steps),
      errors: copy(this.#errors),
      retries: copy(this.#retries),
      order: [...this.decisions.order],
      refusals: this.#refusals,
      unread: Object.fromEntries(unread),
      state: this.#state,
    }
  }

  #giveUp(): void {
    // A sleep waits for no step, and no step can wait for it.
    if (this.#open.length === 0 || this.#options.hooks?.waitsForSteps) return
    this.end()
    this.#options.onStuck(this.#insideStep(`${STEP_TIMEOUT_MS / 1000} s ago, inside or next to`))
  }
}
