/** Faults between the runs of tasks and their store: at one write, counted over all processes. */
import type { StoredTask, TaskStore } from '../../src/tasks.ts'

/**
 * - `rejected`: not done. `lost`: done, but the answer is an error.
 * - `late`: an error, and done 30 ms later. `slow`: done and answered after 30 ms.
 * - `repeated`: done twice, and the second answer counts.
 * - `lost, then away`: done, and then nothing is answered but errors for longer than a run tries.
 * - `dies before`, `dies after`: the process ends.
 */
export const FAULTS = [
  'rejected',
  'lost',
  'late',
  'slow',
  'repeated',
  'lost, then away',
  'dies before',
  'dies after',
] as const
export type Fault = (typeof FAULTS)[number]

const SLOW_MS = 30
const AWAY_MS = 8000

/** The fault of one run. */
export class Injector {
  /** Writes so far. */
  writes = 0
  /** Whether the fault has happened. */
  #awayUntil = 0
  readonly #at: number
  readonly #fault: Fault | undefined

  constructor(at = -1, fault?: Fault) {
    this.#at = at
    this.#fault = fault
  }

  /** @throws Error while the store is away. */
  check(): void {
    if (Date.now() < this.#awayUntil) throw new Error('the store: away')
  }

  /** Does a write with the fault, if it is its turn. `die` ends the process. */
  async write<Answer>(act: () => Promise<Answer>, die: () => Promise<never>): Promise<Answer> {
    this.check()
    if (this.writes++ !== this.#at || this.#fault === undefined) return act()
    const failed = (): never => {
      throw new Error(`the store: ${this.#fault}`)
    }
    switch (this.#fault) {
      case 'rejected':
        return failed()
      case 'lost':
        await act()
        return failed()
      case 'lost, then away':
        await act()
        this.#awayUntil = Date.now() + AWAY_MS
        return failed()
      case 'late':
        void later()
          .then(act)
          .catch(() => {})
        return failed()
      case 'slow':
        await later()
        return act()
      case 'repeated':
        await act()
        return act()
      case 'dies before':
        return die()
      default:
        await act()
        return die()
    }
  }
}

/** A store as one process sees it, which may die. */
export class Process implements TaskStore {
  readonly maxStateBytes: number
  isDead = false
  readonly #store: TaskStore
  readonly #injector: Injector

  constructor(store: TaskStore, injector: Injector) {
    this.#store = store
    this.#injector = injector
    this.maxStateBytes = store.maxStateBytes
  }

  create = (task: StoredTask, maxOpen: number): Promise<boolean> =>
    this.#write(() => this.#store.create(task, maxOpen))
  replace = (task: StoredTask): Promise<boolean> => this.#write(() => this.#store.replace(task))
  read = (id: string): Promise<StoredTask | undefined> => this.#ask(() => this.#store.read(id))
  due = (now: number, limit: number): Promise<readonly string[]> =>
    this.#ask(() => this.#store.due(now, limit))

  async #ask<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    if (this.isDead) return never()
    this.#injector.check()
    return act()
  }

  async #write<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    if (this.isDead) return never()
    const die = (): Promise<never> => {
      this.isDead = true
      return never()
    }
    const answer = await this.#injector.write(act, die)
    return this.isDead ? never() : answer
  }
}

const later = () => new Promise<void>((resolve) => setTimeout(resolve, SLOW_MS))

function never(): Promise<never> {
  return new Promise(() => {})
}
