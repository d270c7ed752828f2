/** Faults between the runs of tasks and their store: at one write, counted over all processes. */
import type { StoredTask, TaskStore } from '../../src/tasks.ts'
import { Machine, trueNow } from './_clock.ts'

/**
 * - `rejected`: not done. `lost`: done, but the answer is an error.
 * - `late`: an error, and done 30 ms later. `slow`: done and answered after 30 ms.
 * - `repeated`: done twice, and the second answer counts.
 * - `lost, then away`: done, and then nothing is answered but errors for longer than a run tries.
 * - `dies before`, `dies after`: the process ends.
 * - `paused before`, `paused after`: its machine stands still, for longer than a lease, and then goes on.
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
  'paused before',
  'paused after',
] as const
export type Fault = (typeof FAULTS)[number]

const SLOW_MS = 30
/** In milliseconds. */
export const AWAY_MS = 8000
const PAUSED_MS = 1500

/** A fault at a write: 0 is the first. */
export interface PlannedFault {
  readonly at: number
  readonly fault: Fault
}

/** The faults of one run. */
export class Injector {
  /** Writes so far. */
  writes = 0
  /** Faults that have happened. */
  happened = 0
  #awayUntil = 0
  readonly #faults: ReadonlyMap<number, Fault>

  constructor(faults: readonly PlannedFault[]) {
    this.#faults = new Map(faults.map(({ at, fault }) => [at, fault]))
  }

  /** @throws Error while the store is away. */
  check(): void {
    if (trueNow() < this.#awayUntil) throw new Error('the store: away')
  }

  /** Does a write of a process with the fault, if it is its turn. */
  async write<Answer>(act: () => Promise<Answer>, { machine, die }: Process): Promise<Answer> {
    this.check()
    const fault = this.#faults.get(this.writes++)
    if (fault === undefined) return act()
    this.happened++
    const failed = (): never => {
      throw new Error(`the store: ${fault}`)
    }
    switch (fault) {
      case 'rejected':
        return failed()
      case 'lost':
        await act()
        return failed()
      case 'lost, then away':
        await act()
        this.#awayUntil = trueNow() + AWAY_MS
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
      case 'dies after':
        await act()
        return die()
      case 'paused before':
        machine.pause(PAUSED_MS)
        await machine.resumed()
        return act()
      default: {
        const answer = await act()
        machine.pause(PAUSED_MS)
        return answer
      }
    }
  }
}

/** A store as one process sees it, which may die. What is not counted has no faults of its own. */
export class Process implements TaskStore {
  readonly maxStateBytes: number
  readonly machine: Machine
  isDead = false
  readonly #store: TaskStore
  readonly #injector: Injector
  readonly #isCounted: (task: StoredTask) => boolean

  constructor(
    store: TaskStore,
    injector: Injector,
    isCounted: (task: StoredTask) => boolean,
    skewMs: number,
  ) {
    this.#store = store
    this.#injector = injector
    this.#isCounted = isCounted
    this.machine = new Machine(skewMs)
    this.maxStateBytes = store.maxStateBytes
  }

  die = (): Promise<never> => {
    this.isDead = true
    return never()
  }

  /** How a store's clock is measured is tested with each store. */
  clockOffsetMs = async (): Promise<number> => trueNow() - Date.now()
  create = (task: StoredTask, maxOpen: number): Promise<boolean> =>
    this.#write(task, () => this.#store.create(task, maxOpen))
  replace = (task: StoredTask): Promise<boolean> => this.#write(task, () => this.#store.replace(task))
  read = (id: string): Promise<StoredTask | undefined> => this.#ask(() => this.#store.read(id))
  due: TaskStore['due'] = (now, limit, options) => this.#ask(() => this.#store.due(now, limit, options))

  async #ask<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    await this.machine.resumed()
    if (this.isDead) return never()
    this.#injector.check()
    const answer = await act()
    await this.machine.resumed()
    return this.isDead ? never() : answer
  }

  async #write<Answer>(task: StoredTask, act: () => Promise<Answer>): Promise<Answer> {
    if (!this.#isCounted(task)) return this.#ask(act)
    await this.machine.resumed()
    if (this.isDead) return never()
    const answer = await this.#injector.write(act, this)
    await this.machine.resumed()
    return this.isDead ? never() : answer
  }
}

const later = () => new Promise<void>((resolve) => setTimeout(resolve, SLOW_MS))

function never(): Promise<never> {
  return new Promise(() => {})
}
