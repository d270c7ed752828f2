/** Leases: only the run that holds a task's lease runs it. */

import { failedWith } from './changes.ts'
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

/** Gives this run the lease of a due task. Undefined if the task is not due, or another run holds the lease. */
export function takeLease({ record, dueAt }: Task, runId: string, settings: Settings): Changed | undefined {
  const { runner, maxIdleRuns, leaseMs } = settings
  const now = Date.now()
  const { run } = record
  if (isEnded(record) || dueAt === null) return undefined
  if (run !== undefined && run.until > now) {
    // The runner checks whether that run is alive. It still is, so one of the callers checks again later.
    if (runner === undefined || runner.isPrompt || run.lookAt > now) return undefined
    return { record: { ...record, run: { ...run, lookAt: run.until } }, dueAt }
  }
  if (dueAt > now) return undefined
  if (record.idleRuns >= maxIdleRuns) return { record: failedWith(record, stuck(maxIdleRuns)), dueAt: null }
  const grownMs = leaseAfter(run, settings)
  const lease = { ...newLease(runId, grownMs), ...(grownMs > leaseMs && { leaseMs: grownMs }) }
  return { record: { ...record, run: lease, idleRuns: record.idleRuns + 1 }, dueAt: lease.until }
}

function stuck(runs: number): { code: number; message: string } {
  return {
    code: -32603,
    message: `The task failed: ${runs} consecutive runs finished no step. A step may need longer than the platform allows for one run.`,
  }
}
