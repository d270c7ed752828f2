/**
 * Handles transports that fail: reports each outage once.
 */
import { callHook } from '../definition/hook.ts'
import { printFault } from '../definition/print-error.ts'
import type { Names } from '../definition/unknown-option.ts'

/** Milliseconds within which a bus must accept an event or a subscription. */
export const BUS_TIMEOUT_MS = 5000

/** Options of everything that uses a transport. */
export interface OutageOptions {
  /** Milliseconds after which a transport that does not answer counts as down. Default 2000. */
  readonly timeoutMs?: number
  /** Called with errors that no caller receives. Default: a line on the console. */
  readonly onError?: (error: unknown) => void
}

/** The names of these options. */
export const OUTAGE_OPTIONS: Names<OutageOptions> = { timeoutMs: [0], onError: 'function' }

export type Report = (error: unknown) => void

/** @param what The name in the line on the console. */
export function toReport({ onError }: OutageOptions, what: string): Report {
  const print: Report = (error) => printFault(what, error)
  return onError === undefined ? print : (error) => callHook(() => onError(error), print)
}

/** Reports each outage of a transport once, however many calls fail during it. */
export interface Outage {
  begin(error: unknown): void
  end(): void
}

/** Errors that were already reported, for example by the bus before the server got them. */
const known = new WeakSet<object>()

export function markReported(error: unknown): void {
  known.add(Object(error))
}

export function createOutage(report: Report): Outage {
  let isDown = false
  return {
    begin(error) {
      if (!isDown && !known.has(Object(error))) report(error)
      isDown = true
      markReported(error)
    },
    end() {
      isDown = false
    },
  }
}
