/** Leases: only the run that holds a task's lease runs it. */

import { failedWith } from './changes.ts'
import type { Place } from './places.ts'
import { isEnded, type Task, type TaskLease } from './record.ts'
import type { Settings } from './settings.ts'
import type { Changed } from './task-records.ts'

export function newLease(id: string, leaseMs: number): TaskLease {
  const until = Date.now() + leaseMs
  return { id, until, lookAt: until }
}

/**
 * The lease of a run after one that lost its own without finishing a step: twice as long, up to the longest run. So a step that blocks its
 * process for longer than a lease ends after a few runs, instead of being begun again forever.
 */
function leaseAfter(lost: TaskLease | undefined, { leaseMs, maxRunMs }: Settings): number {
  if (lost === undefined) return leaseMs
  const lostMs = lost.leaseMs ?? leaseMs
  return lost.hasWorked ? lostMs : Math.max(leaseMs, Math.min(2 * lostMs, maxRunMs))
}

/** Crashes in a row, beside other runs or not, for each one that `maxCrashes` counts. */
const ANY_CRASHES = 10

/** What a process knows of its own runs. */
export interface OwnRuns {
  /** Whether a run of the task is in this process: then its lease ended because the process was late, and others are safe from it. */
  has(id: string): boolean
  /** @param crashes of the task, in a row. */
  enter(crashes: number): Place | undefined
}

/**
 * Gives this run the lease of a due task. Undefined if the task is not due, another run holds the lease, or there is no place.
 */
export function takeLease(
  { id, record, dueAt }: Task,
  runId: string,
  settings: Settings,
  own: OwnRuns,
): Changed | undefined {
  const { runner, maxIdleRuns, maxCrashes, leaseMs } = settings
  const now = Date.now()
  const { run } = record
  if (isEnded(record) || dueAt === null) return undefined
  if (run !== undefined && run.until > now) {
    // The runner checks whether that run is alive. It still is, so one of the callers checks again later.
    if (runner === undefined || runner.isPrompt || run.lookAt > now) return undefined
    return { record: { ...record, run: { ...run, lookAt: run.until } }, dueAt, isBookkeeping: true }
  }
  if (dueAt > now) return undefined
  if (record.idleRuns >= maxIdleRuns) return { record: failedWith(record, stuck(maxIdleRuns)), dueAt: null }
  const isHere = own.has(id)
  const crashes = (record.crashes ?? 0) + (run === undefined ? 0 : 1)
  const loneCrashes = (record.loneCrashes ?? 0) + (run?.isAlone && !isHere ? 1 : 0)
  if (loneCrashes >= maxCrashes || crashes >= ANY_CRASHES * maxCrashes)
    return { record: failedWith({ ...record, crashes }, crashed(crashes)), dueAt: null }
  const place = own.enter(isHere ? 0 : crashes)
  if (place === undefined) return undefined
  const grownMs = leaseAfter(run, settings)
  const lease = {
    ...newLease(runId, grownMs),
    ...(grownMs > leaseMs && { leaseMs: grownMs }),
    ...(place.isAlone(0) && { isAlone: true }),
  }
  return {
    record: { ...record, run: lease, ...(crashes > 0 && { crashes, loneCrashes }) },
    dueAt: lease.until,
    isBookkeeping: true,
  }
}

function crashed(runs: number): { code: number; message: string } {
  return {
    code: -32603,
    message: `The task failed: ${runs} consecutive runs ended with their process, or lost the store, before they finished a step. A step may need too much memory, or block the process for longer than a lease.`,
  }
}

function stuck(runs: number): { code: number; message: string } {
  return {
    code: -32603,
    message: `The task failed: ${runs} consecutive runs finished no step. A step may need longer than the platform allows for one run.`,
  }
}
