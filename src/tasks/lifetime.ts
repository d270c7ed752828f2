/** How long a task is kept: its store deletes it `ttlMs` after its creation, and `ttlMs` grows with what the task still waits for. */
import type { TaskRecord } from './record.ts'

/**
 * The record with a time to live that covers its wait: the task is kept for at least half of the original `ttlMs` after this write, and after
 * `dueAt`. Half, so that `ttlMs` changes rarely: some stores keep it in two places.
 */
export function withLifetime(record: TaskRecord, dueAt: number | null, now: number): TaskRecord {
  const { createdAt, ttlMs, keepMs = ttlMs, run } = record
  if (ttlMs === null || keepMs === null) return record
  // A running task is due when its lease ends, and does not wait.
  const until = run === undefined ? Math.max(now, dueAt ?? 0) : now
  if (until + keepMs / 2 <= createdAt + ttlMs) return record
  const latest = Number.MAX_SAFE_INTEGER - createdAt
  return { ...record, keepMs, ttlMs: Math.min(Math.ceil(until - createdAt + keepMs), latest) }
}
