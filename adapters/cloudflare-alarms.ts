/** Runs tasks by the alarms of Durable Objects, for Workers whose tasks are not in Durable Objects themselves, and for Events. */
import { withTimeout } from '../src/definition/timeout.ts'
import { type Report, toReport } from '../src/events/outage.ts'
import { EVENTS_ID, type TaskRunner } from '../src/tasks/store.ts'
import type { SlicePlatform } from '../src/tasks/support.ts'
import { toAlarm } from './_cloudflare/alarm-time.ts'
import type { DurableObjectNamespace, StorageState } from './_cloudflare/durable-object.ts'
import {
  createAttached,
  createTakeMessage,
  END_MARGIN_MS,
  retrySeconds,
  type TaskWake,
  toTaskWake,
  WAKE_TIMEOUT_MS,
} from './_tasks/wakes.ts'

export interface AlarmRunner extends TaskRunner {
  /** Runs what an alarm is for, and resolves with false if it must be tried again. Never rejects. The class of `alarmObject` calls it. */
  run(wake: unknown, platform: AlarmPlatform): Promise<boolean>
}

export interface AlarmPlatform extends SlicePlatform {
  /** Sets the alarm for another time, too. */
  readonly wake: (wake: TaskWake) => Promise<unknown>
}

/** What an object stores: nothing, unless something is due. */
interface Stored {
  /** The earliest due time that is not being run. */
  readonly next?: TaskWake | undefined
  /** Found by an alarm: the run for it died. */
  readonly running?: TaskWake | undefined
  /** The latest time for which a run of Events was asked: until then, the process that asked does not ask again. */
  readonly last?: number | undefined
  /** Attempts in a row that did nothing. */
  readonly failures: number
}

const STORED = 'due'
const ANSWER = 'alarm'

/** Milliseconds that an alarm may take, 15 minutes. */
const MAX_ALARM_MS = 900_000

/** Milliseconds until a run that died together with its alarm is tried again. */
const REVIVE_MS = 60_000

/** Milliseconds that `waitUntil` has after a run, as after the response of a Worker. No alarm fires meanwhile. */
const BACKGROUND_MS = 30_000

/** With a pause of 15 minutes between them, about ten days. */
const MAX_FAILURES = 1000

/** Each delivery of a message but the first makes sure that the next due time has an alarm. */
const NEXT_ATTEMPT = 2

/**
 * Creates the Durable Object class whose alarms run tasks and send Events: export it from your Worker and bind it.
 *
 * ```ts
 * export class MayflyAlarms extends alarmObject(() => runner) {}
 * ```
 *
 * ```toml
 * [[durable_objects.bindings]]
 * name = "ALARMS"
 * class_name = "MayflyAlarms"
 *
 * [[migrations]]
 * tag = "mayfly-alarms-1"
 * new_sqlite_classes = ["MayflyAlarms"]
 * ```
 *
 * @param runner Called for each alarm with the bindings, so that it may be declared below the class.
 * @throws TypeError without a function.
 */
export function alarmObject(runner: (env: unknown) => Pick<AlarmRunner, 'run'>): typeof MayflyAlarmObject {
  if (typeof runner !== 'function') throw new TypeError('alarmObject needs a function: () => runner.')
  return class extends MayflyAlarmObject {
    override run(wake: TaskWake, platform: AlarmPlatform): Promise<boolean> {
      return runner(platform.env).run(wake, platform)
    }
  }
}

/**
 * Creates a runner from the binding of the class that `alarmObject` creates: each task, and the Events of each server, have an object of
 * their own, whose alarm is set to the earliest due time. A run that could not start is tried again, after 2 seconds initially and at most
 * 15 minutes, for about ten days. Nothing is stored, and nothing runs, while nothing is due.
 *
 * ```ts
 * const runner = alarmRunner(env.ALARMS)
 * const server = new MCPServer({ …, events: events({ types, store, runner }) })
 * export class MayflyAlarms extends alarmObject(() => runner) {}
 * export default server
 * ```
 *
 * @throws TypeError without a binding.
 */
export function alarmRunner(namespace: DurableObjectNamespace): AlarmRunner {
  if (typeof namespace?.idFromName !== 'function') {
    throw new TypeError(
      'alarmRunner needs the binding of a Durable Object: bind the class of alarmObject in the wrangler configuration, as in docs/tasks-runners.md',
    )
  }
  const attached = createAttached('alarmRunner')
  const takeMessage = createTakeMessage(attached)
  const send = async (wake: TaskWake): Promise<void> => {
    const id = namespace.idFromName(JSON.stringify([wake.server ?? '', wake.id]))
    const init = { method: 'POST', body: JSON.stringify(wake) }
    await requireAlarm(await namespace.get(id as never).fetch('https://alarms/', init))
  }
  return {
    attach: attached.attach,
    wake: (id, at) => withTimeout(send(attached.toWake(id, at)), WAKE_TIMEOUT_MS, 'Durable Object'),
    run: (wake, { wake: send, ...platform }) => takeMessage(wake, { attempt: NEXT_ATTEMPT, platform, send }),
  }
}

async function requireAlarm(response: Response): Promise<void> {
  await response.body?.cancel()
  if (response.headers.get('x-mayfly') === ANSWER) return
  throw new Error(
    `The Durable Object answered ${response.status} instead of setting its alarm: bind the class of alarmObject, and see its log.`,
  )
}

/** The base class of the objects. `alarmObject` creates the class to export, which knows your runner. */
export class MayflyAlarmObject {
  readonly #state: StorageState
  readonly #env: unknown
  readonly #report: Report
  #isRunning = false

  constructor(state: StorageState, env: unknown) {
    this.#state = state
    this.#env = env
    this.#report = toReport({}, 'Alarms')
  }

  /** Runs what is due. */
  async run(_wake: TaskWake, _platform: AlarmPlatform): Promise<boolean> {
    throw new Error('No runner is called: export a class that extends alarmObject(() => runner).')
  }

  /** Sets the alarm. Every Worker with the binding may send requests. */
  async fetch(request: Request): Promise<Response> {
    const wake = toTaskWake(await request.json())
    if (wake === undefined) return new Response(null, { status: 400 })
    await this.#wake(wake)
    return new Response(null, { status: 204, headers: { 'x-mayfly': ANSWER } })
  }

  /**
   * Runs what is due, and sets the alarm for what is due later. If it dies, another alarm follows. Never throws, since workerd would give up
   * after a few attempts.
   */
  async alarm(): Promise<void> {
    const now = Date.now()
    const { running, next, last, failures } = await this.#read()
    const due = running ?? next
    if (due === undefined) return this.#write({ failures: 0 })
    if (due.at > now) return this.#write({ next: due, last, failures })
    const later = running === undefined ? undefined : next
    await Promise.all([
      this.#state.storage.put(STORED, { running: due, next: later, last, failures }),
      this.#state.storage.setAlarm(now + REVIVE_MS),
    ])
    const isDone = await this.#run(due, now + MAX_ALARM_MS - END_MARGIN_MS)
    // Another time may have been set meanwhile.
    const { next: told, last: latest } = await this.#read()
    if (!isDone && failures < MAX_FAILURES) {
      const again = { ...due, at: Date.now() + retrySeconds(failures + 1) * 1000 }
      return this.#write({ next: earliest(told, again), last: latest, failures: failures + 1 })
    }
    if (!isDone)
      this.#report(new Error(`A run could not start in ${MAX_FAILURES} attempts, and is not tried again.`))
    const atLast = latest !== undefined && latest > now ? { ...due, at: latest } : undefined
    return this.#write({ next: told ?? atLast, last: latest, failures: 0 })
  }

  async #run(due: TaskWake, deadline: number): Promise<boolean> {
    const background: Promise<unknown>[] = []
    const waitUntil = (work: Promise<unknown>): void => void background.push(work)
    const wake = (next: TaskWake): Promise<void> => this.#wake(next)
    this.#isRunning = true
    try {
      return await this.run(due, { env: this.#env, deadline, waitUntil, wake })
    } catch (error) {
      this.#report(error)
      return false
    } finally {
      const settled = Promise.allSettled(background)
      await withTimeout(settled, BACKGROUND_MS, 'work of "waitUntil"').catch(this.#report)
      this.#isRunning = false
    }
  }

  /** The storage runs no other request between a read and a write. */
  async #wake(wake: TaskWake): Promise<void> {
    const stored = await this.#read()
    const last = wake.id === EVENTS_ID ? Math.max(stored.last ?? 0, wake.at) : undefined
    await this.#write({ ...stored, next: earliest(stored.next, wake), last })
  }

  async #read(): Promise<Stored> {
    return (await this.#state.storage.get<Stored>(STORED)) ?? { failures: 0 }
  }

  /** A run sets the alarm when it has ended. One that died may have lost its alarm: workerd gives up while a deployment cannot start. */
  async #write(stored: Stored): Promise<void> {
    const { running, next } = stored
    const storage = this.#state.storage
    const latestAt = running === undefined ? Number.POSITIVE_INFINITY : Date.now() + REVIVE_MS
    // Not awaited one by one, so that workerd writes them together.
    if (this.#isRunning) await storage.put(STORED, stored)
    else if (next === undefined) await Promise.all([storage.deleteAlarm(), storage.deleteAll()])
    else
      await Promise.all([storage.put(STORED, stored), storage.setAlarm(toAlarm(Math.min(next.at, latestAt)))])
  }
}

function earliest(one: TaskWake | undefined, other: TaskWake): TaskWake {
  return one !== undefined && one.at <= other.at ? one : other
}
