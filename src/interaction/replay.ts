/**
 * Asking without a session. A question that has no answer yet suspends the call: its promise never settles, the client is
 * told what to ask, and nothing of the call is kept. The client calls again with the answers, the tool runs again from the
 * top, and what was answered or done before comes back from the journal (MCP 2026-07-28, "Multi Round-Trip Requests").
 */
import type { Question, QuestionMethod } from './question.ts'

/** What a later round must know. Everything in it is JSON. */
export interface Journal {
  /** By question key. */
  readonly answers: { readonly [key: string]: unknown }
  /** By step name: `[value]`, or `[]` for undefined. */
  readonly steps: { readonly [name: string]: readonly unknown[] }
  /** What a tool that returns its questions wants back with the answers. */
  readonly state?: string | undefined
}

/** One open question, as the client gets it. */
export interface OpenQuestion {
  readonly key: string
  readonly question: Question
}

export interface Suspension {
  readonly questions: readonly OpenQuestion[]
  readonly journal: Journal
}

export interface ReplayOptions {
  readonly journal: Journal
  /** What the client answered in this request, by question key. */
  readonly responses: { readonly [key: string]: unknown }
  /** Called once, when the tool cannot go on. */
  readonly onSuspend: (suspension: Suspension) => void
}

export const EMPTY_JOURNAL: Journal = Object.freeze({ answers: {}, steps: {} })

export class Replay {
  readonly #options: ReplayOptions
  readonly #open: OpenQuestion[] = []
  // Without a prototype, and asked with hasOwn below: a step may be called `constructor`.
  readonly #answers: Record<string, unknown> = Object.create(null)
  readonly #steps: Record<string, readonly unknown[]> = Object.create(null)
  readonly #keys = new Set<string>()
  #asked = 0
  /** Steps and validations under way: their outcome belongs in the journal, so the call is not suspended before. */
  #busy = 0
  #isSuspended = false

  constructor(options: ReplayOptions) {
    this.#options = options
  }

  /** The answer, or a promise that never settles. */
  async ask(question: Question): Promise<unknown> {
    const position = this.#asked++
    const key = question.key ?? `${position}-${fingerprint(question.method, question.params)}`
    if (this.#keys.has(key))
      throw new TypeError(`Question "${key}" was asked already in this call: give each key once.`)
    this.#keys.add(key)
    const { journal, responses } = this.#options
    const answer = Object.hasOwn(journal.answers, key)
      ? journal.answers[key]
      : Object.hasOwn(responses, key)
        ? responses[key]
        : undefined
    if (answer !== undefined) {
      const validation = await this.#while(() => question.validate(answer))
      if (validation.ok) {
        this.#answers[key] = answer
        return validation.value
      }
    }
    this.#open.push({ key, question })
    this.#suspendWhenIdle()
    return new Promise(() => {})
  }

  /** What a later round must know when the tool returns its questions: it need not come by its steps again. */
  get journal(): Journal {
    const { answers, steps } = this.#options.journal
    return { answers: { ...answers, ...this.#answers }, steps: { ...steps, ...this.#steps } }
  }

  /** Runs `fn` once across all rounds. Its result must be JSON, and is returned as JSON makes it in every round. */
  async step<Value>(name: string, fn: () => Value | Promise<Value>): Promise<Value> {
    if (Object.hasOwn(this.#steps, name)) {
      throw new TypeError(`Step "${name}" ran already in this call: give each step a name of its own.`)
    }
    const { steps } = this.#options.journal
    const recorded = Object.hasOwn(steps, name) ? steps[name] : undefined
    this.#steps[name] = recorded ?? []
    if (recorded === undefined) {
      try {
        const value = await this.#while(fn)
        this.#steps[name] = value === undefined ? [] : (JSON.parse(JSON.stringify([value])) as unknown[])
      } catch (error) {
        delete this.#steps[name] // a step that failed is tried again in the next round
        throw error
      }
    }
    return this.#steps[name]![0] as Value
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

  /** Waits a turn of the event loop, so that questions asked side by side go out in one round. */
  #suspendWhenIdle(): void {
    const asked = this.#asked
    if (this.#open.length === 0 || this.#busy > 0 || this.#isSuspended) return
    setTimeout(() => {
      if (this.#busy > 0 || this.#isSuspended) return
      if (this.#asked !== asked) return this.#suspendWhenIdle()
      this.#isSuspended = true
      this.#options.onSuspend({
        questions: this.#open,
        journal: { answers: this.#answers, steps: this.#steps },
      })
    }, 0)
  }
}

/**
 * Tells a question from another at the same position: if message or schema changed, an old answer does not fit. Not
 * cryptographic, and need not be: whoever answers could answer anything, and every answer is validated.
 */
function fingerprint(method: QuestionMethod, params: object): string {
  const text = method + JSON.stringify(params)
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(36)
}
