/**
 * The steps of one call. Each runs once across all rounds and runs, with its attempts and its key; its result, or the error that reached
 * the tool, is in the journal.
 */
import type { StepInfo, StepOptions } from '../definition/context.ts'
import type { Jsonified } from '../definition/jsonified.ts'
import type { Decisions } from './decisions.ts'
import { neverSettles } from './ending.ts'
import type { Journal } from './journal.ts'
import { copy, own, toJson } from './journal-records.ts'
import { callStep } from './step-body.ts'
import { fromStoredError, type StoredError, toStoredError, withStack } from './step-error.ts'
import { checkStepOptions, nextAttempt, withinTime } from './step-options.ts'

/** For a call whose journal is also stored elsewhere. */
export interface StepHooks {
  /** Before a step runs: resolves when it may run, or never settles if no more steps may start. */
  readonly beforeStep: (name: string) => Promise<void> | undefined
  readonly stepKey: (name: string) => string | Promise<string>
  /** Called after each step, before anything else runs. */
  readonly afterStep: (name: string) => void | Promise<void>
  /** Before the next attempt of a step: never settles if another run makes it. Undefined: this run waits for it. */
  readonly backOff?: (until: number) => Promise<never> | undefined
  /** Milliseconds by which the clock of the journal is ahead of this machine's. Default 0. */
  readonly clockOffsetMs?: number
}

export interface StepsOptions {
  readonly journal: Journal
  /** Aborts when the call is aborted. */
  readonly signal: () => AbortSignal
  readonly hooks?: StepHooks | undefined
}

/** The call of the steps. */
export interface StepsCall {
  readonly decisions: Decisions
  /** Whether it ended without the tool's own answer. */
  readonly isEnded: boolean
  /** Undefined while it runs. */
  over(): Promise<never> | undefined
  /** Does a part of a step, during which the call is not suspended. */
  inStep<Value>(name: string, work: () => Promise<Value>): Promise<Value>
}

/** The function of a step. */
export type StepFunction<Value> = (step: StepInfo) => Value | Promise<Value>

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

export class Steps {
  readonly #call: StepsCall
  readonly #options: StepsOptions
  readonly #steps: Record<string, readonly unknown[]>
  readonly #errors: Record<string, readonly StoredError[]>
  readonly #retries: Record<string, readonly [number, number]>
  readonly #names = new Set<string>()
  /** By step: how often it failed for the tool in this run. */
  readonly #failures = new Map<string, number>()
  readonly #keys = new Map<string, string>()

  constructor(call: StepsCall, options: StepsOptions) {
    const { steps, errors = {}, retries = {} } = options.journal
    this.#call = call
    this.#options = options
    this.#steps = copy(steps)
    this.#errors = copy(errors)
    this.#retries = copy(retries)
  }

  /**
   * Runs `fn` once across all rounds. Its result must be JSON; every round returns it after a JSON round trip, or throws its error.
   *
   * @throws TypeError for a name that was already used, for invalid options, and for a result that is not JSON.
   */
  async run<Value>(
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
      if (!this.#call.decisions.has(decision)) {
        const waiting = this.#call.decisions.replayed(decision)
        if (waiting !== undefined) await waiting
        if (isKnown()) this.#call.decisions.made(decision, false)
        else thrown = await this.#attempts(name, fn, options)
      }
      await this.#call.decisions.turn(decision)
      const stored = failure()
      if (stored === undefined) return structuredClone(this.#steps[name]!)[0] as Jsonified<Value>
      // A step that failed may be called again.
      this.#failures.set(name, failures + 1)
      this.#names.delete(name)
      throw withStack(fromStoredError(stored), thrown[0])
    })
  }

  /** The value of a step of Mayfly's own, which does not decide anything: when a sleep ends. */
  note(name: string, value: () => unknown): Promise<unknown> {
    return this.#named(name, async () => {
      if (!Object.hasOwn(this.#steps, name)) {
        await this.#call.decisions.replayed(`step ${name}`)
        this.#steps[name] ??= toJson(name, value())
      }
      return this.#steps[name]![0]
    })
  }

  /** The value of a recorded step. */
  recorded(name: string): readonly unknown[] | undefined {
    return own(this.#steps, name)
  }

  record(name: string, value: readonly unknown[]): void {
    this.#steps[name] = value
  }

  async #named<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    const over = this.#call.over()
    if (over !== undefined) return over
    if (this.#names.has(name))
      throw new TypeError(`Step "${name}" already ran in this call: give each step a different name.`)
    this.#names.add(name)
    return this.#call.decisions.count(work)
  }

  /** Runs a step until it has a result or its last error. Resolves with what it threw last. */
  async #attempts(
    name: string,
    fn: StepFunction<unknown>,
    options: StepOptions,
  ): Promise<readonly unknown[]> {
    const { hooks } = this.#options
    for (;;) {
      const at = (own(this.#retries, name)?.[1] ?? 0) - (hooks?.clockOffsetMs ?? 0)
      if (at > Date.now()) {
        const elsewhere = hooks?.backOff?.(at)
        if (elsewhere !== undefined) return elsewhere
        await this.#call.inStep(name, () => new Promise((resolve) => setTimeout(resolve, at - Date.now())))
        const over = this.#call.over()
        if (over !== undefined) return over
      }
      const ready = hooks?.beforeStep(name)
      if (ready !== undefined) await ready
      const ended = await this.#call.inStep(name, () => this.#attempt(name, fn, options))
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
    if (hooks !== undefined) this.#keys.set(name, await hooks.stepKey(name))
    let thrown: unknown
    try {
      const value = await withinTime(
        (own) => callStep(() => fn(new Info(this.#keys, name, own))),
        signal,
        options,
      )
      this.#steps[name] = value === undefined ? [] : toJson(name, value)
    } catch (error) {
      // The run is over: this is not the step's own failure.
      if (this.#call.isEnded) return neverSettles()
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
    this.#call.decisions.made(decision, true)
    this.#call.decisions.isUnsaved = false
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

  /** What later rounds need, as of now. */
  journal(): Pick<Journal, 'steps' | 'errors' | 'retries'> {
    return { steps: copy(this.#steps), errors: copy(this.#errors), retries: copy(this.#retries) }
  }
}
