/** Sends spans before a serverless platform freezes the process. */
import { textOf } from '../definition/error-text.ts'
import { withTimeout } from '../definition/timeout.ts'
import type { TracedRequest } from '../request/telemetry.ts'

/** Milliseconds that a platform is kept awake for one flush. Lambda's buffered responses wait for it. */
const FLUSH_TIMEOUT_MS = 2000

/** Milliseconds between two reports: without its collector, each request would have one. */
const REPORT_EVERY_MS = 60_000

/** Starts a flush that `waitUntil` waits for. */
export type StartFlush = (invocation: Pick<TracedRequest, 'waitUntil'>) => void

/** One for each invocation: a Worker cannot wait for the work of another request. */
export function createFlush(flush: (() => unknown) | undefined): StartFlush {
  if (flush === undefined) return () => {}
  let reportedAt = Number.NEGATIVE_INFINITY
  const run = async (): Promise<void> => {
    try {
      await withTimeout(flush(), FLUSH_TIMEOUT_MS, 'function "flush" of openTelemetry')
    } catch (cause) {
      if (Date.now() - reportedAt < REPORT_EVERY_MS) return
      reportedAt = Date.now()
      throw new Error(
        `Spans may be lost, calls are not affected: ${textOf(cause)} (check the address of the collector, and that it answers)`,
        { cause },
      )
    }
  }
  return ({ waitUntil }) => waitUntil(run())
}
