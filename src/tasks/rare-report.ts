/** Reports of what happens to many tasks: once a minute for each kind, not for each run. */

/** Milliseconds between two reports of one kind. */
const EVERY_MS = 60_000

/** Kinds that are remembered: names of tools may come from anywhere. */
const MAX_KINDS = 100

export type RareReport = (kind: string, error: unknown) => void

export function createRareReport(report: (error: unknown) => void): RareReport {
  const reportedAt = new Map<string, number>()
  return (kind, error) => {
    const now = Date.now()
    if (now - (reportedAt.get(kind) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return
    if (reportedAt.size >= MAX_KINDS) reportedAt.clear()
    reportedAt.set(kind, now)
    report(error)
  }
}
