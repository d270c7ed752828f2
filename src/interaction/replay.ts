/**
 * Asking without a session. A question without an answer suspends the call: its promise never settles, the client receives the
 * question, and the server keeps nothing. The client calls again with the answers and the tool runs again from the top: earlier
 * answers and step results come from the journal (MCP 2026-07-28, "Multi Round-Trip Requests").
 */
import type { StepInfo } from '../definition/context.ts'
import { digest } from '../definition/digest.ts'
import type { Jsonified } from '../definition/jsonified.ts'
import type { Ending } from './ending.ts'
import { copy, type Journal, own, toJson } from './journal.ts'
import { askedAgain, MAX_REFUSALS, type Question, refusalReason, tooManyRefusals } from './question.ts'
import { QuestionError } from './question-error.ts'
import { callStep, isInsideStep } from './step-body.ts'

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
  /** Before a step runs: a promise that never settles if no more steps may start. */
  readonly beforeStep: (name: string) => Promise<never> | undefined
  readonly stepInfo: (name: string) => StepInfo | Promise<StepInfo>
  /** Called after each step, before anything else runs. */
  readonly afterStep: (name: string) => void | Promise<void>
  /** How the call ends when it is suspended; undefined for the default. */
  readonly conclude: (suspension: Suspension) => Promise<Ending> | undefined
  readonly onReplay: (replay: Replay) => void
  /** Whether a question may wait for a long step, since no caller waits. */
  readonly waitsForSteps: boolean
}

/** Milliseconds that a question waits for steps that run at the same time. */
const STEP_TIMEOUT_MS = 60_000

const TOO_LATE = 'A question was asked after the tool had returned: await its answer before you return.'

/** Characters of the digest in a question's key: more than 128 bits. */
const KEY_LENGTH = 22

/** The end of every key that we create; responses under other keys are ignored. */
const OUR_KEY = /[\w-]{22}/

/** The function of a step. */
export type StepFunction<Value> = (step: StepInfo) => Value | Promise<Value>

class OwnInfo implements StepInfo {
  #key: string | undefined

  get idempotencyKey(): string {
    this.#key ??= crypto.randomUUID()
    return this.#key
  }
}

/** A promise that never settles, so that no `catch` or `finally` of the tool runs after its call has ended. */
export function neverSettles(): Promise<never> {
  return new Promise(() => {})
}

export class Replay {
  readonly #options: ReplayOptions
  readonly #open: OpenQuestion[] = []
  readonly #answers: Record<string, unknown>
  readonly #steps: Record<string, readonly unknown[]>
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
  readonly #running = new Set<string>()
  /** The number of running steps and validations. Their outcome belongs in the journal, so the call is not suspended before. */
  #busy = 0
  #phase: 'running' | 'ended' | 'answered' = 'running'
  #stepTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: ReplayOptions) {
    const { answers, steps, refusals, unread, state } = options.journal
    this.#options = options
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
    const key = await this.#keyOf(question.key, text)
    const known = own(this.#answers, key)
    const answer = known ?? own(this.#unread, key)
    delete this.#unread[key]
    let [count, reason = ''] = own(this.#refusals, key) ?? [0]
    if (answer !== undefined && count < MAX_REFUSALS) {
      const validation = await this.#while(() => question.validate(structuredClone(answer)))
      if (validation.ok) {
        this.#answers[key] = answer
        return validation.value
      }
      delete this.#answers[key]
      count++
      reason = refusalReason(validation.issues)
      this.#refusals[key] = [count, reason]
    }
    if (count >= MAX_REFUSALS) throw tooManyRefusals(question, reason)
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
   * Runs `fn` once across all rounds. Its result must be JSON; every round returns it after a JSON round trip.
   *
   * @throws TypeError for a name that was already used, and for a result that is not JSON.
   */
  async step<Value>(name: string, fn: StepFunction<Value>): Promise<Jsonified<Value>> {
    const over = this.over()
    if (over !== undefined) return over
    if (this.#stepNames.has(name))
      throw new TypeError(`Step "${name}" already ran in this call: give each step a different name.`)
    this.#stepNames.add(name)
    if (!Object.hasOwn(this.#steps, name)) {
      const late = this.#options.hooks?.beforeStep(name)
      if (late !== undefined) return late
      await this.#while(() => this.#run(name, fn))
    }
    return structuredClone(this.#steps[name]!)[0] as Jsonified<Value>
  }

  async #run(name: string, fn: StepFunction<unknown>): Promise<void> {
    const { hooks } = this.#options
    this.#running.add(name)
    try {
      const info = hooks === undefined ? new OwnInfo() : await hooks.stepInfo(name)
      const value = await callStep(() => fn(info))
      this.#steps[name] = value === undefined ? [] : toJson(name, value)
      await hooks?.afterStep(name)
    } catch (error) {
      delete this.#steps[name]
      this.#stepNames.delete(name) // a failed step may be tried again, in this round or the next
      throw error
    } finally {
      this.#running.delete(name)
      clearTimeout(this.#stepTimer)
      this.#stepTimer = undefined
    }
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
    const name = (await this.#while(() => digested)).slice(0, KEY_LENGTH)
    if (key !== undefined) return `${key}-${name}`
    return occurrence === 0 ? name : `${name}-${occurrence}`
  }

  async #while<Value>(work: () => Value | Promise<Value>): Promise<Value> {
    this.#busy++
    try {
      return await work()
    } finally {
      this.#busy--
      this.#suspendWhenIdle()
    }
  }

  /** Waits one turn of the event loop, so that questions asked at the same time are sent in one round. */
  #suspendWhenIdle(): void {
    if (this.#phase !== 'running' || (this.#open.length === 0 && !this.#isParked)) return
    if (this.#running.size > 0) this.#stepTimer ??= setTimeout(() => this.#giveUp(), STEP_TIMEOUT_MS)
    setTimeout(() => {
      if (this.#busy > 0 || this.#phase !== 'running') return
      this.end()
      const isReturned = this.#isReturned
      this.#options.onSuspend({ questions: this.#open, journal: this.journal(), isReturned })
    }, 0)
  }

  /** What later rounds need, as of now. */
  journal(): Journal {
    const unread = Object.entries(this.#unread).filter(([key]) => OUR_KEY.test(key.slice(-KEY_LENGTH)))
    return {
      answers: this.#answers,
      steps: this.#steps,
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
