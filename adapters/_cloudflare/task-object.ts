/**
 * The Durable Object of a task, whose alarm is the clock that runs it; and the object of an owner, which counts the open ones. Both are of
 * one class, so that one binding will do.
 */
import { backoffMs } from '../../src/definition/backoff.ts'
import { type Report, toReport } from '../../src/events/outage.ts'
import type { StoredTask } from '../../src/tasks/store.ts'
import { isExpired } from '../../src/tasks/stored.ts'
import type { StorageState } from './durable-object.ts'
import { createOpenTasks, type OpenTasks } from './open-tasks.ts'
import type { Answers, Order } from './task-wire.ts'

/** An alarm that rings early is set again. */
const LATEST_ALARM_MS = 365 * 86_400_000

/** The delays until a run that did nothing is tried again. */
const RETRIES = { firstMs: 1000, maxMs: 60_000 }

/** Milliseconds until a run that has died, and with it its alarm, is tried again. */
const REVIVE_MS = 10_000

const TASK = 'task'

/** The class of the objects. `taskObject` makes the one to export, which knows your server. */
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

  /** Runs the task as far as it gets. Called by the alarm at `dueAt`; the task may be read and replaced meanwhile, by the run itself, too. */
  async run(_id: string, _env: unknown): Promise<unknown> {
    throw new Error('No server runs this task: export a class that extends taskObject(() => server).')
  }

  /** Answers the store. Every Worker with the binding may ask. */
  async fetch(request: Request): Promise<Response> {
    const order = (await request.json()) as Order
    return Response.json(await this.#answer(order), { headers: { 'x-mayfly': 'task' } })
  }

  /** At `dueAt` runs the task, at `expiresAt` deletes all there is. It never throws: workerd would give up after a few times. */
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
        // Without an alarm nothing was ever taken, as where there is no limit: then nothing is kept, either.
        const isUsed = (await this.#state.storage.getAlarm()) !== null
        if (isUsed && this.#open.free(order.ids) === 0) await this.#deleteAll()
        return { isDone: true }
      }
    }
  }

  /** Between reading and writing the storage lets nothing else in. */
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
    // Together: workerd writes at once what is not waited for one by one.
    await Promise.all([this.#state.storage.put(TASK, task), this.#schedule(task)])
  }

  /** @param notBefore the earliest time for a run. */
  async #schedule(task: StoredTask, notBefore = 0): Promise<void> {
    const { storage } = this.#state
    const { isOpen, dueAt, expiresAt } = task
    const runAt = isOpen && dueAt !== null ? Math.max(dueAt, notBefore) : Number.POSITIVE_INFINITY
    const at = Math.min(runAt, expiresAt ?? Number.POSITIVE_INFINITY)
    if (at === Number.POSITIVE_INFINITY) await storage.deleteAlarm()
    else await storage.setAlarm(toAlarm(at))
  }

  /** An owner's object has one alarm, at the latest end that it knows of: what ends earlier is found when it matters. */
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

/** workerd refuses the year 1970, and what is too far away. */
function toAlarm(at: number): number {
  return Math.max(Math.min(at, Date.now() + LATEST_ALARM_MS), 1)
}

function isDue({ isOpen, dueAt }: StoredTask, now: number): boolean {
  return isOpen && dueAt !== null && dueAt <= now
}
