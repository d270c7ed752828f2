/**
 * Asking without a session. A question without an answer suspends the call: its promise never settles, the client receives the
 * question, and the server keeps nothing. The client calls again with the answers and the tool runs again from the top: earlier
 * answers and step results come from the journal (MCP 2026-07-28, "Multi Round-Trip Requests").
 */
import type { StepOptions } from '../definition/context.ts'
import type { Jsonified } from '../definition/jsonified.ts'
import { Decisions } from './decisions.ts'
import { warnOperator } from './degraded.ts'
import { type Ending, neverSettles } from './ending.ts'
import type { Journal } from './journal.ts'
import { copy, own } from './journal-records.ts'
import { askedAgain, MAX_REFUSALS, type Question, refusalReason, tooManyRefusals } from './question.ts'
import { QuestionError } from './question-error.ts'
import { createQuestionKeys, isOurKey } from './question-keys.ts'
import { isInsideStep } from './step-body.ts'
import { type StepFunction, type StepHooks, Steps, type StepsCall } from './steps.ts'

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
export interface ReplayHooks extends StepHooks {
  /** Called if the tool asks for something else instead of the result that an earlier run recorded next. */
  readonly onChanged?: ((expected: string, asked: string) => void) | undefined
  /** How the call ends when it is suspended; undefined for the default. */
  readonly conclude: (suspension: Suspension) => Promise<Ending> | undefined
  readonly onReplay: (replay: Replay) => void
  /** Whether a question may wait for a long step, since no caller waits. */
  readonly waitsForSteps: boolean
}

/** Milliseconds that a question waits for steps that run at the same time. */
const STEP_TIMEOUT_MS = 60_000

/** Milliseconds for the tool to ask for a recorded result, in case it waits for anything else than its context. */
const CHANGED_MS = 1000

const TOO_LATE = 'A question was asked after the tool had returned: await its answer before you return.'

export class Replay implements StepsCall {
  readonly #options: ReplayOptions
  readonly #open: OpenQuestion[] = []
  readonly #answers: Record<string, unknown>
  readonly decisions: Decisions
  readonly steps: Steps
  readonly #refusals: Record<string, readonly [number, string]>
  readonly #unread: Record<string, unknown>
  #state: string | undefined
  /** Whether the tool waits without a question: it sleeps, or returned an input_required result without one. */
  #isParked = false
  #isReturned = false
  readonly #keyOf = createQuestionKeys((work) => this.during(work))
  /** The running steps, with the number of results that the tool had when each began. */
  readonly #running = new Map<string, number>()
  /** Called when no step runs any more. */
  #onStepsEnd: (() => void) | undefined
  /** The number of running steps and validations. Their outcome belongs in the journal, so the call is not suspended before. */
  #busy = 0
  #phase: 'running' | 'ended' | 'answered' = 'running'
  #stepTimer: ReturnType<typeof setTimeout> | undefined
  #stuckTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: ReplayOptions) {
    const { answers, order, refusals, unread, state } = options.journal
    this.#options = options
    this.decisions = new Decisions(order, () => this.#rest())
    this.steps = new Steps(this, options)
    this.#answers = copy(answers)
    this.#refusals = copy(refusals)
    this.#unread = Object.assign(copy(unread), options.responses)
    this.#state = state
  }

  /** Called when the call ends without the tool's own answer: nothing new starts. */
  end(): void {
    this.#phase = 'ended'
    clearTimeout(this.#stepTimer)
    clearTimeout(this.#stuckTimer)
    this.#onStepsEnd?.()
  }

  /** Called when the tool answered or its call was aborted: no more questions are asked. */
  close(): void {
    if (this.#phase === 'running') this.#phase = 'answered'
    clearTimeout(this.#stepTimer)
  }

  get isRunningStep(): boolean {
    return this.#running.size > 0
  }

  get isEnded(): boolean {
    return this.#phase === 'ended'
  }

  isSuspended(): boolean {
    return this.isEnded || this.#open.length > 0 || this.#isParked
  }

  mustRemember(): boolean {
    const { steps, errors = {} } = this.steps.journal()
    const isEmpty = [this.#answers, steps, errors].every((record) => Object.keys(record).length === 0)
    return !isEmpty || this.isRunningStep || this.#state !== undefined
  }

  /** Whether a running step began after the last result reached the tool, so maybe because of it. */
  get hasReacted(): boolean {
    return [...this.#running.values()].includes(this.decisions.handedOut)
  }

  /** Resolves once the running steps have ended, or after `maxMs` milliseconds. */
  stepsEnd(maxMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, maxMs))
      this.#onStepsEnd = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Undefined while the call runs. After it ended without an answer: a promise that never settles, or rejects with the signal's reason. */
  over(): Promise<never> | undefined {
    if (this.isEnded) return neverSettles()
    const signal = this.#options.signal()
    return signal.aborted ? Promise.reject(signal.reason) : undefined
  }

  /** Undefined while questions can be asked; otherwise the promise that a question returns. */
  refusal(): Promise<never> | undefined {
    return this.#warnIfTooLate() ? Promise.reject(new QuestionError('CALL_OVER', TOO_LATE)) : this.over()
  }

  /** Whether the call of a question has its answer. The log says so, since a tool that forgot `await` sees no error. */
  #warnIfTooLate(): boolean {
    const isAnswered = this.#phase === 'answered' && !this.#options.signal().aborted
    if (isAnswered) warnOperator(TOO_LATE)
    return isAnswered
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
    if (this.isRunningStep && isInsideStep()) throw this.#insideStep('inside')
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
    this.#warnIfTooLate()
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

  step<Value>(name: string, fn: StepFunction<Value>, options?: StepOptions): Promise<Jsonified<Value>> {
    return this.steps.run(name, fn, options)
  }

  inStep<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    return this.during(async () => {
      this.#running.set(name, this.decisions.handedOut)
      try {
        return await work()
      } finally {
        this.#running.delete(name)
        if (this.#running.size === 0) this.#onStepsEnd?.()
        clearTimeout(this.#stepTimer)
        this.#stepTimer = undefined
      }
    })
  }

  #insideStep(where: string): QuestionError {
    const names = [...this.#running.keys()].map((name) => `"${name}"`).join(', ')
    return new QuestionError(
      'INSIDE_STEP',
      `A question was asked ${where} the step ${names}. A step runs once, and a question ends the request: ask before or after the step.`,
    )
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
    if (this.isRunningStep) this.#stepTimer ??= setTimeout(() => this.#giveUp(), STEP_TIMEOUT_MS)
    setTimeout(() => {
      if (this.#busy > 0 || this.#phase !== 'running' || this.decisions.isHandingOut) return
      this.end()
      const isReturned = this.#isReturned
      this.#options.onSuspend({ questions: this.#open, journal: this.journal(), isReturned })
    }, 0)
  }

  /** What later rounds need, as of now. */
  journal(): Journal {
    const unread = Object.entries(this.#unread).filter(([key]) => isOurKey(key))
    return {
      // What a newer version has added is kept for it: in a deployment both versions run, and after a rollback the newer one comes back.
      ...this.#options.journal,
      answers: copy(this.#answers),
      ...this.steps.journal(),
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
