/** Sends spans before a serverless platform freezes the process. */
import { isA, textOf } from '../definition/error-text.ts'
import { TimeoutError, withTimeout } from '../definition/timeout.ts'
import type { TracedRequest } from '../request/telemetry.ts'

/** Milliseconds that a platform is kept awake for one flush. Lambda's buffered responses wait for it. */
const FLUSH_TIMEOUT_MS = 2000

/** Milliseconds between two reports: without its collector, each request would have one. */
const REPORT_EVERY_MS = 60_000

/** Milliseconds after a timeout during which nothing waits: otherwise each of those responses would come that much later. */
const UNHELD_MS = 60_000

/** Starts a flush that `waitUntil` waits for, unless an earlier one timed out within the last minute. */
export type StartFlush = (invocation: Pick<TracedRequest, 'waitUntil'>) => void

/** One for each invocation: a Worker cannot wait for the work of another request. */
export function createFlush(flush: (() => unknown) | undefined): StartFlush {
  if (flush === undefined) return () => {}
  let reportedAt = Number.NEGATIVE_INFINITY
  let unheldUntil = Number.NEGATIVE_INFINITY
  let isUnheldRunning = false
  const send = async (): Promise<void> => {
    await withTimeout(flush(), FLUSH_TIMEOUT_MS, 'function "flush" of openTelemetry')
    unheldUntil = Number.NEGATIVE_INFINITY
  }
  const run = async (): Promise<void> => {
    try {
      await send()
    } catch (cause) {
      const isLate = isA(cause, TimeoutError)
      if (isLate) unheldUntil = Date.now() + UNHELD_MS
      if (Date.now() - reportedAt < REPORT_EVERY_MS) return
      reportedAt = Date.now()
      const waits = isLate ? ' Where a response waits for it, none does for the next minute.' : ''
      throw new Error(
        `Spans may be lost: ${textOf(cause)} (check the address of the collector, and that it answers)${waits}`,
        { cause },
      )
    }
  }
  /** One at a time, since the earlier ones may hang. The next one that is held reports. */
  const runUnheld = async (): Promise<void> => {
    if (isUnheldRunning) return
    isUnheldRunning = true
    await send().catch(() => {})
    isUnheldRunning = false
  }
  return ({ waitUntil }) => {
    if (Date.now() < unheldUntil) void runUnheld()
    else waitUntil(run())
  }
}
