/**
 * Writes the progress of a run while it has the lease: one write after another, and renews the lease, so that no other process takes the
 * task.
 */

import { backoffMs } from '../definition/backoff.ts'
import { isA } from '../definition/error-text.ts'
import type { Journal } from '../interaction/journal.ts'
import { failedWith, isSame, NO_CRASHES, tooLarge, toTaskError } from './changes.ts'
import { isEnded, type Task, type TaskRecord } from './record.ts'
import type { Changed, TaskRecords } from './task-records.ts'
import { TaskTooLargeError } from './task-records.ts'
import { isOwnStep } from './waits.ts'

export interface WriterOptions {
  readonly records: TaskRecords
  /** Milliseconds for which a run counts as alive after its last write. */
  readonly leaseMs: number
  /** When the run must be over, in milliseconds since the epoch. */
  readonly deadline: number
  readonly report: (error: unknown) => void
  /** Whether nothing else runs in this process, and will not for this many milliseconds. */
  readonly isAlone: (forMs: number) => boolean
}

/** Milliseconds between two writes of progress. */
const PROGRESS_MS = 1000

/** The delays between attempts to write to a store that is down. */
const RETRIES = { firstMs: 100, maxMs: 5000 }

/** Characters of a status message. */
const MAX_STATUS_CHARACTERS = 2000

export class RunWriter {
  /** The task as of this run's last write; undefined until the call becomes a task. */
  task: Task | undefined
  readonly #options: WriterOptions
  readonly #runId: string
  readonly #journal: () => Journal
  /** Called when the run lost its lease: the task has ended, has expired, or has another run. */
  readonly #onLost: () => void
  #isClosed = false
  #statusMessage: string | undefined
  #progressTimer: ReturnType<typeof setTimeout> | undefined
  #heartbeat: ReturnType<typeof setInterval> | undefined
  #saving: Promise<void> = Promise.resolve()
  #queued: Promise<void> | undefined

  constructor(options: WriterOptions, runId: string, journal: () => Journal, onLost: () => void) {
    this.#options = options
    this.#runId = runId
    this.#journal = journal
    this.#onLost = onLost
  }

  /** Another run may have the task by now, or will soon. */
  get isLeaseOver(): boolean {
    return Date.now() >= (this.task?.record.run?.until ?? Number.POSITIVE_INFINITY)
  }

  /** From now on, the run belongs to a task. */
  begin(task: Task): void {
    this.task = task
    const { leaseMs, report } = this.#options
    this.#heartbeat = setInterval(() => this.save().catch(report), leaseMs / 3)
  }

  /** The first write of a run whose call has become a task: from then on, other runs may continue it. @throws as `save`. */
  async confirm(): Promise<void> {
    await this.write((record) => {
      const { dueAt, ...changed } = this.#progressed(record, this.#journal())
      return { record: { ...changed.record, isUnconfirmed: undefined }, dueAt }
    })
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#heartbeat)
    clearTimeout(this.#progressTimer)
  }

  setProgress({ message, progress, total }: { readonly [member: string]: unknown }): void {
    const share = total === undefined ? String(progress) : `${progress}/${total}`
    const text = message === undefined ? share : `${message} (${share})`
    this.#statusMessage = text.slice(0, MAX_STATUS_CHARACTERS)
    this.#progressTimer ??= setTimeout(() => {
      this.#progressTimer = undefined
      this.save().catch(this.#options.report)
    }, PROGRESS_MS)
  }

  /**
   * Writes the journal. Callers that wait for a write that has not started share it. @throws TaskTooLargeError, and errors of the store.
   */
  save(): Promise<void> {
    if (this.task === undefined || this.#isClosed) return Promise.resolve()
    this.#queued ??= this.#saving
      .catch(() => {})
      .then(() => {
        this.#queued = undefined
        this.#saving = this.#writeJournal()
        return this.#saving
      })
    return this.#queued
  }

  /** Writes the journal. If that fails, the run is abandoned, as if its process had died. */
  async saveOrLose(): Promise<void> {
    try {
      await this.save()
    } catch (error) {
      this.#options.report(error)
      this.#onLost()
    }
  }

  /**
   * Writes the journal with a step that has just ended. If that fails, the run is abandoned, as if its process had died.
   *
   * @throws TypeError if the step's result does not fit in the store.
   */
  async saveStep(name: string): Promise<void> {
    for (;;) {
      try {
        return await this.save()
      } catch (error) {
        const isTooLarge = isA(error, TaskTooLargeError)
        if (isTooLarge && this.#isToBlame(name)) throw tooLarge(error, name)
        if (!isTooLarge) {
          this.#options.report(error)
          return this.#onLost()
        }
        // A larger step that ended at the same time is named instead, and is removed from the journal.
        await new Promise((resolve) => setTimeout(resolve, 0))
      }
    }
  }

  /**
   * Changes the task if this run still has the lease. A failed write is retried until the run must be over, since no other run can begin while
   * the store is down; it may have succeeded anyway, which is harmless.
   *
   * @throws as `save`.
   */
  async write(change: (record: TaskRecord) => Changed): Promise<void> {
    const { deadline, leaseMs } = this.#options
    const giveUpAt = Math.max(deadline, Date.now() + leaseMs)
    for (let failures = 1; !this.#isClosed; failures++) {
      const waitMs = backoffMs(failures, RETRIES)
      try {
        return await this.#writeOnce(change)
      } catch (error) {
        if (isA(error, TaskTooLargeError) || Date.now() + waitMs > giveUpAt) throw error
        if (failures === 1) this.#options.report(error)
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }

  /**
   * The last write of the run; a result that does not fit fails the task. If it fails, another run repeats the rest of this one. Never rejects.
   */
  async end(change: (record: TaskRecord) => TaskRecord): Promise<void> {
    const { report } = this.#options
    try {
      await this.write((record) => ({ record: change(record), dueAt: null }))
    } catch (error) {
      const failure = toTaskError(error, report)
      if (!isA(error, TaskTooLargeError)) return
      await this.write((record) => ({ record: failedWith(record, failure), dueAt: null })).catch(report)
    }
  }

  /** Of the steps that are not stored yet, the largest is too large. Those that are stored did fit. */
  #isToBlame(name: string): boolean {
    const { steps } = this.#journal()
    const stored = this.task!.record.journal.steps
    const sizeOf = (step: string): number => JSON.stringify(steps[step] ?? null).length
    const isNew = (step: string): boolean => !Object.hasOwn(stored, step) && !isOwnStep(step)
    const others = Object.keys(steps).filter((step) => step !== name && isNew(step))
    return others.every((step) => sizeOf(step) <= sizeOf(name))
  }

  async #writeJournal(): Promise<void> {
    if (this.#isClosed) return
    const journal = this.#journal()
    await this.write((record) => this.#progressed(record, journal))
  }

  #progressed(record: TaskRecord, journal: Journal): Changed {
    const { leaseMs, isAlone } = this.#options
    const until = Date.now() + leaseMs
    const isIdle = isSame(journal, record.journal)
    // Until the next write.
    const lease = { until, isAlone: isAlone(leaseMs / 3) || undefined, ...(!isIdle && { hasWorked: true }) }
    const progress = isIdle ? {} : { idleRuns: 0, ...NO_CRASHES }
    return {
      record: { ...record, journal, ...progress, run: record.run && { ...record.run, ...lease } },
      dueAt: until,
      isQuiet: true,
      isBookkeeping: isIdle,
    }
  }

  async #writeOnce(change: (record: TaskRecord) => Changed): Promise<void> {
    const task = this.task!
    let isWritten = false
    const next = await this.#options.records.change(
      task.id,
      ({ record }) => {
        isWritten = record.run?.id === this.#runId && !isEnded(record)
        return isWritten ? change(this.#withStatus(record)) : undefined
      },
      task,
    )
    if (isWritten && next !== undefined) this.task = next
    else this.#onLost()
  }

  /** The latest progress, which may not be written yet. */
  #withStatus(record: TaskRecord): TaskRecord {
    return this.#statusMessage === undefined ? record : { ...record, statusMessage: this.#statusMessage }
  }
}
