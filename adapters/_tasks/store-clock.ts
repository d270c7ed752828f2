/** How far the clock of a store is ahead of this machine's, as measured by a question to it, once a minute at most. */
import { createShare } from '../../src/definition/flights.ts'

export interface MeasuredClock {
  /** Milliseconds. Rejects if it was never measured, and the store does not answer. */
  offsetMs(): Promise<number>
  /** The store's time, as far as it was measured. */
  now(): number
  /** Measures with another answer of the store, if it is time to. */
  heard(time: number, sentAt: number): void
}

/** Clocks drift by milliseconds in a minute, and leases are seconds. */
const MEASURED_FOR_MS = 60_000

/** @param askTime Resolves with the store's time, in milliseconds since the epoch. Without it, only `heard` measures. */
export function createMeasuredClock(askTime?: () => Promise<number>): MeasuredClock {
  let offsetMs: number | undefined
  /** By a clock that nobody sets. */
  let measuredAt = Number.NEGATIVE_INFINITY
  const share = createShare<void>('clock of the store')

  const isOld = (): boolean => performance.now() - measuredAt >= MEASURED_FOR_MS
  const heard = (time: number, sentAt: number): void => {
    if (!isOld()) return
    // The store read its clock somewhere in between.
    if (Number.isFinite(time)) offsetMs = Math.round(time - (sentAt + Date.now()) / 2)
    measuredAt = performance.now()
  }
  const measure = async (askTime: () => Promise<number>): Promise<void> => {
    const sentAt = Date.now()
    heard(await askTime(), sentAt)
  }
  return {
    heard,
    now: () => Date.now() + (offsetMs ?? 0),
    async offsetMs() {
      if (askTime !== undefined && isOld()) {
        try {
          await share.run('', () => measure(askTime))
        } catch (error) {
          if (offsetMs === undefined) throw error
        }
      }
      return offsetMs ?? 0
    },
  }
}
