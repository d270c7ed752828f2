/**
 * The feed that informs sessions: one subscription to the bus for all of them, restarted if it fails.
 */
import { add, type Bus, type ChangeEvent, deliver } from './bus.ts'
import { subscribeWithin } from './subscription.ts'

/** Calls `listener` for each change from now on. Returns a function that ends this. */
export type Feed = (listener: (event: ChangeEvent) => void) => () => void

/** Milliseconds until a failed subscription is tried again; doubled each time. */
const FIRST_RETRY_MS = 1000
const LAST_RETRY_MS = 60_000

/** @param reportError called once per outage, not per attempt. */
export function createFeed(bus: Bus, reportError: (error: unknown) => void): Feed {
  const listeners = new Set<(event: ChangeEvent) => void>()
  let end: (() => void) | undefined

  const begin = (): (() => void) => {
    let unsubscribe: (() => void) | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const attempt = async (retryMs: number): Promise<void> => {
      try {
        unsubscribe = await subscribeWithin(bus, (event) => deliver(event, listeners))
        if (isOver) unsubscribe()
      } catch (error) {
        if (retryMs === FIRST_RETRY_MS) reportError(error)
        if (!isOver) timer = setTimeout(attempt, retryMs, Math.min(2 * retryMs, LAST_RETRY_MS))
      }
    }
    void attempt(FIRST_RETRY_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
      unsubscribe?.()
    }
  }

  return (listener) => {
    const remove = add(listener, listeners)
    end ??= begin()
    return () => {
      remove()
      if (listeners.size > 0) return
      end?.()
      end = undefined
    }
  }
}
