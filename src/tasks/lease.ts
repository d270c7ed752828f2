/**
 * Leases: of the runs that may want a task, only the one that holds its lease runs it.
 */

import { failedWith } from './changes.ts'
import { isEnded, type Task, type TaskLease } from './record.ts'
import type { Settings } from './settings.ts'
import type { Changed } from './task-records.ts'

export function newLease(id: string, leaseMs: number): TaskLease {
  const until = Date.now() + leaseMs
  return { id, until, lookAt: until }
}

/** Gives the lease of a task that is due to this run. Undefined if it is not due, or another run holds the lease. */
export function takeLease({ record, dueAt }: Task, runId: string, settings: Settings): Changed | undefined {
  const { runner, maxIdleRuns, leaseMs } = settings
  const now = Date.now()
  const { run } = record
  if (isEnded(record) || dueAt === null) return undefined
  if (run !== undefined && run.until > now) {
    // The runner has come to see whether that run is alive. It is, so far: one of those who come looks again.
    if (runner === undefined || runner.isPrompt || run.lookAt > now) return undefined
    return { record: { ...record, run: { ...run, lookAt: run.until } }, dueAt }
  }
  if (dueAt > now) return undefined
  if (record.idleRuns >= maxIdleRuns) return { record: failedWith(record, stuck(maxIdleRuns)), dueAt: null }
  const lease = newLease(runId, leaseMs)
  return { record: { ...record, run: lease, idleRuns: record.idleRuns + 1 }, dueAt: lease.until }
}

function stuck(runs: number): { code: number; message: string } {
  return {
    code: -32603,
    message: `The task was given up: ${runs} runs in a row finished no step. A step may need longer than the platform allows for one run.`,
  }
}
