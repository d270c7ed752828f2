/**
 * One run of a task's tool, from the top: finished steps and answers come from the journal, and each new step is in the store before
 * anything else happens. A run ends when the tool ends, asks, sleeps, or has no time left; or when it lost its lease.
 *
 * A call that may become a task is also such a run. It is a task from `become` on, and keeps running.
 */

import { digest } from '../definition/digest.ts'
import { isA } from '../definition/error-text.ts'
import { PartError } from '../definition/part.ts'
import { ProtocolError } from '../definition/protocol-error.ts'
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import { type Ending, neverSettles } from '../interaction/ending.ts'
import type { Replay, ReplayHooks, Suspension } from '../interaction/replay.ts'
import { type MethodResult, toMethodResult } from '../request/method-result.ts'
import {
  endedWith,
  failedWith,
  type Pause,
  released,
  suspended,
  tooMany,
  toTaskError,
  unread,
} from './changes.ts'
import { CodeChangedError } from './code-changed.ts'
import { newLease } from './lease.ts'
import type { Task, TaskRecord } from './record.ts'
import type { Outcome, RunOptions } from './run-options.ts'
import { TaskTooLargeError } from './task-records.ts'
import { UnknownTaskError } from './unknown-writes.ts'
import { Waits } from './waits.ts'
import { RunWriter } from './writer.ts'

/** Time reserved for the last write of a run. */
const RESERVE_MS = 1000

/** Milliseconds that a failed tool waits for steps that still run. */
const STEPS_MS = 60_000

export class TaskRun implements ReplayHooks {
  readonly id: string
  readonly outcome: Promise<Outcome>
  /** Settles when this run is completely finished. */
  readonly done: Promise<void>
  readonly #options: RunOptions
  readonly #writer: RunWriter
  readonly waits: Waits = new Waits(this)
  /** The version of the tool with which the task began, if it is an earlier one. */
  earlierVersion: number | undefined
  #replay!: Replay
  #resolve!: (outcome: Outcome) => void
  #finish!: () => void
  #isOver = false
  /** The tool has ended, and the task ends with it. */
  #isEnding = false
  /** A call has; a task has when its `setup` is done. */
  #hasBegun: boolean
  #becoming: Promise<Task | undefined> | undefined
  #isLate = false
  /** The call ends with questions to its client, and will not become a task. */
  #isAsking = false
  /** Why the call was aborted after its client disconnected. */
  #leaving: (() => unknown) | undefined
  #deadline: number
  readonly #given: { readonly [key: string]: unknown }
  /** The answers to the tool's returned questions, and answers not yet asked for. */
  #returned: { readonly [key: string]: unknown }
  #deadlineTimer: ReturnType<typeof setTimeout> | undefined

  /** @param task The task that the run has taken. Without it, the run is a call that may become a task. */
  constructor(options: RunOptions, task?: Task) {
    this.#options = options
    this.#deadline = options.deadline
    this.#hasBegun = task === undefined
    this.#given = task?.record.inbox.answers ?? {}
    this.#returned = options.answers
    this.id = task?.record.run?.id ?? crypto.randomUUID()
    this.#writer = new RunWriter(
      options,
      this.id,
      () => this.#replay.journal(),
      () => this.lose(),
    )
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.done = new Promise((resolve) => {
      this.#finish = resolve
    })
    if (task !== undefined) this.#begin(task)
  }

  get task(): Task | undefined {
    return this.#writer.task
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get clockOffsetMs(): number {
    return this.#options.records.clock.offsetMs
  }

  get waitsInside(): boolean {
    return this.#options.waitsInside
  }

  get asksAsTask(): boolean {
    return this.task !== undefined || this.#options.asksAsTask
  }

  /** A run has its own time limit. */
  get waitsForSteps(): boolean {
    return this.task !== undefined
  }

  get replay(): Replay {
    return this.#replay
  }

  /** Turns a running call into a task and continues it. If that fails, the call continues. */
  async become(): Promise<void> {
    if (this.#isOver || this.#isAsking || this.#becoming !== undefined || this.task !== undefined) return
    // The call only waits for sleeps: the task sleeps instead.
    if (this.waits.isInside && !this.#replay.isRunningStep) {
      this.waits.leaveCall()
      return this.#suspend({ questions: [], journal: this.#replay.journal() })
    }
    this.#becoming = this.#create()
    await this.#becoming
    this.#becoming = undefined
    if (this.#leaving !== undefined) this.leave(this.#leaving)
  }

  /**
   * Undefined if the call continues without a task. If it is unknown whether the task was created, no runner runs it, since it is only due
   * once this run has confirmed it.
   */
  async #create(): Promise<Task | undefined> {
    const { create, leaseMs, report } = this.#options
    const run = newLease(this.id, leaseMs)
    const journal = this.#replay.journal()
    const start = { journal, run, returned: unread(this.#returned, journal), isUnconfirmed: true } as const
    const task = await create(start).catch((error: unknown) => {
      report(error)
      return undefined
    })
    if (task === undefined) return undefined
    this.#begin(task)
    let cause: unknown
    try {
      // With the steps that ended while the task was created.
      await this.#writer.confirm()
    } catch (error) {
      cause = error
      report(error)
      this.lose()
    }
    if (this.#isOver) this.#resolve({ kind: 'error', error: new UnknownTaskError(cause) })
    else this.#resolve({ kind: 'task', task: this.task! })
    return this.task
  }

  async end(result: MethodResult): Promise<void> {
    await this.#becoming
    if (this.#isOver) return
    if (this.task !== undefined) return this.#endAs((record) => endedWith(record, result))
    this.#close()
    this.#resolve({ kind: 'result', result })
  }

  /** The tool failed with an error that is not a result. */
  async fail(error: unknown): Promise<void> {
    await this.#becoming
    if (this.#isOver) return
    if (this.task !== undefined) {
      // Says nothing about the tool: another process may have the file.
      if (isA(error, PartError)) {
        this.#options.report(error)
        return this.release()
      }
      const failure = toTaskError(error, this.#options.report)
      return this.#endAs((record) => failedWith(record, failure))
    }
    this.#close()
    this.#resolve({ kind: 'error', error })
  }

  /** The task's tool is found, and will run. */
  begin(): void {
    this.#hasBegun = true
  }

  /** The run cannot begin here and now: the task is tried again later. Never rejects. */
  async release(): Promise<void> {
    if (this.#isOver) return
    this.#replay?.end()
    // Otherwise its lease ends.
    await this.#writer.write(released).catch(this.#options.report)
    this.lose()
  }

  /** The process stops: no further step starts here. */
  stop(): void {
    this.#deadline = 0
  }

  /** The call's client disconnected: aborts the tool, unless the call is or becomes a task. */
  leave(reason: () => unknown): void {
    this.#leaving = reason
    if (this.task !== undefined || this.#becoming !== undefined) return
    this.#close()
    this.#options.abort(reason)
  }

  sendProgress(params: Record<string, unknown>): void {
    if (this.task === undefined) this.#options.onProgress(params)
    else this.#writer.setProgress(params)
  }

  // Called by the replay and its interaction.

  /** The questions that the tool returned were answered within the call. */
  keepReturned(answers: { readonly [key: string]: unknown }, state: string | undefined): void {
    this.#returned = answers
    this.#replay.keepState(state)
  }

  onReplay(replay: Replay): void {
    this.#replay = replay
  }

  beforeStep(): Promise<void> | undefined {
    if (this.#isOver || this.#isEnding) return neverSettles()
    if (this.task === undefined) return undefined
    if (Date.now() > this.#deadline - RESERVE_MS) {
      this.#isLate = true
      return this.#replay.park()
    }
    // What was decided is stored before the next effect; and after a pause, as of a frozen process, the task may have another run.
    const mustSave = this.#replay.decisions.isUnsaved || this.#writer.isLeaseOver
    return mustSave ? this.#replay.during(() => this.#save()).then(() => this.beforeStep()) : undefined
  }

  async #save(): Promise<void> {
    this.#replay.decisions.isUnsaved = false
    await this.#writer.saveOrLose()
  }

  stepKey(name: string): Promise<string> {
    return digest(`${this.#options.seed} ${name}`)
  }

  async afterStep(name: string): Promise<void> {
    await this.#becoming
    if (this.task === undefined) return
    await this.#writer.saveStep(name)
    if (this.#isOver) await neverSettles()
  }

  backOff(until: number): Promise<never> | undefined {
    return this.waits.backOff(until)
  }

  /** Undefined until the call is a task: a client that calls again after a change of the code begins again. */
  get onChanged(): ((expected: string, asked: string) => void) | undefined {
    const { task } = this
    if (task === undefined) return undefined
    return (expected, asked) => {
      const why = `next is "${expected}", but it asks for "${asked}". Ask for what is recorded, or raise "task.version" and branch on ctx.earlierVersion.`
      this.#options.report(new CodeChangedError(task.id, task.record.tool, why, expected))
      void this.release()
    }
  }

  conclude(suspension: Suspension): Promise<Ending> | undefined {
    const isTask = this.task !== undefined || this.#becoming !== undefined
    this.#isAsking = !isTask && this.waits.isEmpty && !this.#options.asksAsTask
    return this.#isAsking ? undefined : this.#suspend(suspension).then(neverSettles)
  }

  control(ending: Ending): void {
    if (ending.kind === 'error') void this.fail(ending.error)
    else if (ending.kind === 'result') void this.end(toMethodResult(ending.result))
    else {
      this.#close()
      this.#resolve({ kind: 'asked', ending })
    }
  }

  async #suspend({ questions, journal, isReturned = false }: Suspension): Promise<void> {
    await this.#becoming
    if (this.#isOver) return
    const pause: Pause = {
      questions,
      journal,
      until: this.#isLate ? Date.now() : this.waits.until,
      awaited: this.waits.awaited,
      given: this.#given,
      returned: isReturned ? undefined : unread(this.#returned, journal),
      isAgain: isReturned && questions.length === 0,
    }
    try {
      if (this.task === undefined) {
        const creating = this.#options.create({ journal, returned: pause.returned }, pause)
        // The call becomes a task once, however long the store takes.
        this.#becoming = creating.catch(() => undefined)
        const task = await creating
        if (task === undefined) throw tooMany()
        this.#writer.task = task
        this.#resolve({ kind: 'task', task })
      } else {
        await this.#writer.write((record) => suspended(record, pause))
      }
    } catch (error) {
      if (isA(error, UnknownTaskError)) this.#options.report(error)
      const isOurs = isA(error, ProtocolError) || isA(error, TaskTooLargeError)
      if (isOurs || this.task === undefined) return this.fail(error)
      this.#options.report(error)
      return this.lose()
    }
    this.#close()
    this.#options.abort(
      () => new DOMException('The run has ended; the task continues in another.', 'AbortError'),
    )
  }

  /**
   * Steps that still run next to the one that failed have effects. A task that may be tried again records them before it ends; no other step
   * begins. Never rejects.
   */
  async #endAs(change: (record: TaskRecord) => TaskRecord): Promise<void> {
    if (this.#isEnding) return
    this.#isEnding = true
    const { decisions, hasReacted } = this.#replay
    const { handedOut } = decisions
    if (this.#replay.isRunningStep && change(this.task!.record).isWhole) {
      const leftMs = this.#deadline - RESERVE_MS - Date.now()
      await this.#replay.stepsEnd(Math.min(leftMs, STEPS_MS))
    }
    const isAfter = decisions.order.length > handedOut && !hasReacted
    await this.#writer.end((record) => {
      const next = change(record)
      return next.isWhole && isAfter ? { ...next, endedAfter: handedOut } : next
    })
    const isRunningStep = this.#replay.isRunningStep
    this.#close()
    if (isRunningStep) this.#options.abort(() => new DOMException('The task has ended.', 'AbortError'))
  }

  /** The time is over while a step still runs: the step is abandoned, and starts again in the next run. */
  async #expire(): Promise<void> {
    if (this.#isEnding) return
    if (!this.#hasBegun) return this.release()
    this.#isLate = true
    this.#replay?.end()
    const journal = this.#replay?.journal() ?? this.task!.record.journal
    await this.#suspend({ questions: [], journal })
  }

  /** The task was cancelled, has expired, or has another run. */
  lose(): void {
    if (this.#isOver) return
    this.#close()
    this.#options.abort(
      () => new DOMException('The task was cancelled, or continues elsewhere.', 'AbortError'),
    )
  }

  #begin(task: Task): void {
    this.#writer.begin(task)
    const { deadline, report } = this.#options
    if (deadline === Number.POSITIVE_INFINITY) return
    const leftMs = Math.min(Math.max(0, deadline - Date.now()), MAX_TIMER_MS)
    this.#deadlineTimer = setTimeout(() => void this.#expire().catch(report), leftMs)
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#replay?.end()
    this.#writer.close()
    clearTimeout(this.#deadlineTimer)
    this.waits.close()
    this.#finish()
  }
}
