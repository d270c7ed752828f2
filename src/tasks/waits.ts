/** The sleeps and events that the tool of one run waits for. Each is a separate step in the journal, so that it is done once. */
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import { neverSettles } from '../interaction/ending.ts'
import { own } from '../interaction/journal-records.ts'
import type { Replay } from '../interaction/replay.ts'
import { isInsideStep } from '../interaction/step-body.ts'
import type { Task } from './record.ts'
import { createReach } from './timed-waits.ts'

/** What it needs from its run. */
export interface WaitingRun {
  readonly replay: Replay
  readonly task: Task | undefined
  readonly isOver: boolean
  /** Milliseconds by which the store's clock is ahead of this machine's. */
  readonly clockOffsetMs: number
  /** Sleeps are awaited inside the call until it is a task. */
  readonly waitsInside: boolean
}

/** Milliseconds between two attempts of a step for which a run goes on. */
const MAX_PAUSE_MS = 1000

/** Time does not go back. */
const isFinal = () => true

/** The latest time that a `Date` can hold. */
const LATEST = 8.64e15

/** The prefix of Mayfly's own steps, which tools cannot use. */
const OURS = 'ctx.'
export const SLEEP = 'ctx.sleep '
export const WAIT = 'ctx.waitFor '
export const WAITED = 'ctx.waitFor, done: '

/** Whether a step is a sleep or an event, which is written when the run ends. */
export function isOwnStep(name: string): boolean {
  return name.startsWith(OURS)
}

export class Waits {
  readonly #run: WaitingRun
  readonly #reach = createReach(() => this.#run.replay)
  readonly #sleepsUntil: number[] = []
  /** The end times of sleeps that the call waits for, by timer. */
  readonly #inside = new Map<ReturnType<typeof setTimeout>, number>()
  readonly #awaited: string[] = []

  constructor(run: WaitingRun) {
    this.#run = run
  }

  /** When the earliest sleep or timeout ends, in milliseconds since the epoch; infinite without any. */
  get until(): number {
    return Math.min(...this.#sleepsUntil)
  }

  /** The events that are waited for. */
  get awaited(): readonly string[] {
    return this.#awaited
  }

  get isEmpty(): boolean {
    return this.#sleepsUntil.length === 0 && this.#awaited.length === 0
  }

  get isInside(): boolean {
    return this.#inside.size > 0
  }

  /** The task takes over the call's sleeps. */
  leaveCall(): void {
    this.#sleepsUntil.push(...this.#inside.values())
  }

  /** Stops all timers. */
  close(): void {
    for (const timer of this.#inside.keys()) clearTimeout(timer)
  }

  async sleep(name: string, ms: number): Promise<void> {
    if (!(Number.isFinite(ms) && ms >= 0))
      throw new TypeError('ctx.sleep takes milliseconds: a number, 0 or more.')
    this.#checkOutside('ctx.sleep', name)
    const { replay } = this.#run
    const until = this.#toOwnTime(Number(await replay.steps.note(SLEEP + name, () => this.#timeIn(ms))))
    const over = () => (until <= Date.now() ? until : undefined)
    const decision = `sleep ${name}`
    if (await this.#reach(decision, over, isFinal)) return
    if (this.#run.task === undefined && this.#run.waitsInside) {
      await this.#waitInside(until)
      if (await this.#reach(decision, over, isFinal)) return
    }
    this.#sleepsUntil.push(until)
    return replay.park()
  }

  async waitFor(name: string, timeoutMs: number | undefined): Promise<unknown> {
    if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs >= 0))
      throw new TypeError('"timeoutMs" of ctx.waitFor must be a number of milliseconds, 0 or more.')
    this.#checkOutside('ctx.waitFor', name)
    const { replay } = this.#run
    const begin = () => (timeoutMs === undefined ? null : this.#timeIn(timeoutMs))
    const ends = (await replay.steps.note(WAIT + name, begin)) as number | null
    const until = ends === null ? null : this.#toOwnTime(ends)
    const event = () => own(this.#run.task?.record.inbox.events ?? {}, name)
    const over = (): number | undefined => {
      // Decided by a version that did not record the order.
      if (replay.steps.recorded(WAITED + name) !== undefined) return 0
      const arrived = event()
      if (arrived !== undefined) return this.#toOwnTime(arrived[1] ?? 0)
      return until !== null && until <= Date.now() ? until : undefined
    }
    const decide = (): boolean => {
      if (replay.steps.recorded(WAITED + name) === undefined)
        replay.steps.record(WAITED + name, [event() ?? []])
      // The event may still arrive.
      return event() !== undefined
    }
    if (!(await this.#reach(`event ${name}`, over, decide))) {
      this.#awaited.push(name)
      if (until !== null) this.#sleepsUntil.push(until)
      return replay.park()
    }
    const [outcome] = replay.steps.recorded(WAITED + name) as readonly [readonly unknown[]]
    if (outcome.length > 0) return structuredClone(outcome[0])
    throw new DOMException(`Event "${name}" did not arrive in time.`, 'TimeoutError')
  }

  /** A long pause between two attempts of a step is waited for by the task. */
  backOff(until: number): Promise<never> | undefined {
    const canPark = this.#run.task !== undefined || !this.#run.waitsInside
    if (!canPark || until - Date.now() <= MAX_PAUSE_MS) return undefined
    this.#sleepsUntil.push(until)
    return this.#run.replay.park()
  }

  /** A step that waits would block its run forever. */
  #checkOutside(what: string, name: string): void {
    if (this.#run.replay.isRunningStep && isInsideStep())
      throw new TypeError(`${what}("${name}") was called inside a step: call it before or after the step.`)
  }

  /** In the store's time, like all times in the journal: another machine reads it. An integer, since stores accept no other numbers. */
  #timeIn(ms: number): number {
    return Math.min(Math.ceil(Date.now() + this.#run.clockOffsetMs + ms), LATEST)
  }

  #toOwnTime(at: number): number {
    return at - this.#run.clockOffsetMs
  }

  async #waitInside(until: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#inside.delete(timer)
        resolve()
      }
      const timer = setTimeout(wake, Math.min(Math.max(0, until - Date.now()), MAX_TIMER_MS))
      this.#inside.set(timer, until)
    })
    if (this.#run.isOver) await neverSettles()
  }
}
