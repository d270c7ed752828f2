/** Work that continues after a call. Lambda freezes the process between calls, so the call waits for it. */
import { printError } from '../../src/definition/print-error.ts'

export interface Background {
  readonly waitUntil: (promise: Promise<unknown>) => void
  /** Resolves once all work is done, or at `until` (milliseconds since the epoch). */
  settled(until: number): Promise<void>
}

export function createBackground(): Background {
  const running = new Set<Promise<unknown>>()
  // Running work may register more.
  const drain = async (): Promise<void> => {
    while (running.size > 0) await Promise.allSettled(running)
  }
  return {
    waitUntil: (promise) => {
      const work = promise.catch(printError)
      running.add(work)
      work.finally(() => running.delete(work))
    },
    settled: async (until) => {
      if (running.size === 0) return
      let timer: ReturnType<typeof setTimeout> | undefined
      const timeUp = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, Math.max(0, until - Date.now()))
      })
      await Promise.race([drain(), timeUp])
      clearTimeout(timer)
    },
  }
}
