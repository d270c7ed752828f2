/**
 * The Durable Object of a task, whose alarm runs it, and the object of an owner, which counts its open tasks. Both use one class, so that
 * one binding is enough.
 */
import { backoffMs } from '../../src/definition/backoff.ts'
import { type Report, toReport } from '../../src/events/outage.ts'
import type { StoredTask } from '../../src/tasks/store.ts'
import { isExpired } from '../../src/tasks/stored.ts'
import { toAlarm } from './alarm-time.ts'
import type { StorageState } from './durable-object.ts'
import { createOpenTasks, type OpenTasks } from './open-tasks.ts'
import { type Answers, CLOCK_HEADER, type Order } from './task-wire.ts'

/** The delays until a run that did nothing is tried again. */
const RETRIES = { firstMs: 1000, maxMs: 60_000 }

/** Milliseconds until a run that died together with its alarm is retried. */
const REVIVE_MS = 10_000

const TASK = 'task'

/** The base class of the objects. `taskObject` creates the class to export, which knows your server. */
export class MayflyTaskObject {
  readonly #state: StorageState
  readonly #env: unknown
  readonly #open: OpenTasks
  readonly #report: Report
  #failures = 0

  constructor(state: StorageState, env: unknown) {
    this.#state = state
    this.#env = env
    this.#open = createOpenTasks(state.storage)
    this.#report = toReport({}, 'Tasks')
  }

  /**
   * Runs the task as far as possible. Called by the alarm at `dueAt`. The task may be read and replaced during the run, also by the run
   * itself.
   */
  async run(_id: string, _env: unknown): Promise<unknown> {
    throw new Error('No server runs this task: export a class that extends taskObject(() => server).')
  }

  /** Handles the store's requests. Every Worker with the binding may send them. */
  async fetch(request: Request): Promise<Response> {
    const order = (await request.json()) as Order
    const answer = await this.#answer(order)
    return Response.json(answer, { headers: { 'x-mayfly': 'task', [CLOCK_HEADER]: String(Date.now()) } })
  }

  /** Runs the task at `dueAt`, and deletes all data at `expiresAt`. Never throws, since workerd would give up after a few attempts. */
  async alarm(): Promise<void> {
    const { storage } = this.#state
    const task = await storage.get<StoredTask>(TASK)
    const now = Date.now()
    if (task === undefined) return this.#clean(now)
    if (isExpired(task, now)) return this.#deleteAll()
    if (!isDue(task, now)) return this.#schedule(task)
    await storage.setAlarm(now + REVIVE_MS)
    try {
      await this.run(task.id, this.#env)
    } catch (error) {
      this.#report(error)
    }
    const then = await storage.get<StoredTask>(TASK)
    if (then === undefined) return
    if (then.version !== task.version) this.#failures = 0
    else this.#failures++
    await this.#schedule(then, this.#failures === 0 ? 0 : Date.now() + backoffMs(this.#failures, RETRIES))
  }

  async #answer(order: Order): Promise<Answers[Order['do']]> {
    switch (order.do) {
      case 'create':
        return this.#create(order.task, order.now)
      case 'replace':
        return this.#replace(order.task, order.now)
      case 'read': {
        const task = await this.#state.storage.get<StoredTask>(TASK)
        return task === undefined || isExpired(task, order.now) ? {} : { task }
      }
      case 'take':
        return this.#take(order)
      case 'keep':
        if ((await this.#state.storage.getAlarm()) !== null) this.#open.keep(order.task, order.now)
        return { isDone: true }
      case 'free': {
        // Without an alarm no slot was ever taken, for example without a limit; then nothing is stored.
        const isUsed = (await this.#state.storage.getAlarm()) !== null
        if (isUsed && this.#open.free(order.ids) === 0) await this.#deleteAll()
        return { isDone: true }
      }
    }
  }

  /** The storage runs no other request between a read and a write. */
  async #create(task: StoredTask, now: number): Promise<Answers['create']> {
    const kept = await this.#state.storage.get<StoredTask>(TASK)
    if (kept !== undefined && !isExpired(kept, now)) return { isDone: false }
    await this.#write(task)
    return { isDone: true }
  }

  async #replace(task: StoredTask, now: number): Promise<Answers['replace']> {
    const kept = await this.#state.storage.get<StoredTask>(TASK)
    if (kept?.version !== task.version - 1 || isExpired(kept, now)) return { isDone: false }
    await this.#write(task)
    return { isDone: true, before: { isOpen: kept.isOpen, expiresAt: kept.expiresAt } }
  }

  async #write(task: StoredTask): Promise<void> {
    // Not awaited one by one, so that workerd writes them together.
    await Promise.all([this.#state.storage.put(TASK, task), this.#schedule(task)])
  }

  /** @param notBefore The earliest time for a run. */
  async #schedule(task: StoredTask, notBefore = 0): Promise<void> {
    const { storage } = this.#state
    const { isOpen, dueAt, expiresAt } = task
    const runAt = isOpen && dueAt !== null ? Math.max(dueAt, notBefore) : Number.POSITIVE_INFINITY
    const at = Math.min(runAt, expiresAt ?? Number.POSITIVE_INFINITY)
    if (at === Number.POSITIVE_INFINITY) await storage.deleteAlarm()
    else await storage.setAlarm(toAlarm(at))
  }

  /** An owner's object has one alarm, at the latest known expiry. Earlier ones are found when needed. */
  async #take(order: Order & { do: 'take' }): Promise<Answers['take']> {
    const { task, maxOpen, now } = order
    const taken = this.#open.take(task, maxOpen, now)
    const { storage } = this.#state
    if ((await storage.getAlarm()) === null)
      await storage.setAlarm(toAlarm(task.expiresAt ?? Number.POSITIVE_INFINITY))
    return taken
  }

  async #clean(now: number): Promise<void> {
    const last = this.#open.clean(now)
    if (last === undefined) await this.#deleteAll()
    else await this.#state.storage.setAlarm(toAlarm(last))
  }

  async #deleteAll(): Promise<void> {
    await Promise.all([this.#state.storage.deleteAlarm(), this.#state.storage.deleteAll()])
  }
}

function isDue({ isOpen, dueAt }: StoredTask, now: number): boolean {
  return isOpen && dueAt !== null && dueAt <= now
}
