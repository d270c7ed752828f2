/**
 * The feed: a server's way to the bus and from it. One subscription serves all streams and sessions of a process or isolate: it begins
 * with the first of them and ends with the last.
 */
import { callHook } from '../definition/hook.ts'
import { add, type Bus, type ChangeEvent, deliver } from './bus.ts'
import { BUS_TIMEOUT_MS, createOutage, type Report, toReport, within } from './outage.ts'
import { createPublisher } from './publisher.ts'

type Listener = (event: ChangeEvent) => void

export interface Feed {
  /** Never rejects. */
  readonly publish: (event: ChangeEvent) => Promise<void>
  /** For a session: calls `listener` for each change until the returned function is called. A failed subscription is tried again. */
  readonly listen: (listener: Listener) => () => void
  /**
   * For a stream: the same, but only once the bus delivers.
   *
   * @throws Error if the bus does not answer, and the error that it rejects with.
   */
  readonly join: (listener: Listener) => Promise<() => void>
}

/** Milliseconds until a failed subscription is tried again; doubled each time. */
const FIRST_RETRY_MS = 1000
const LAST_RETRY_MS = 60_000

/** @param report called once per outage of the bus, not per attempt. */
export function createFeed(bus: Bus, report: Report): Feed {
  const outage = createOutage(report)
  const listeners = new Set<Listener>()
  /** The attempt that runs or has succeeded. */
  let current: Promise<void> | undefined
  let unsubscribe: (() => void) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let retryMs = FIRST_RETRY_MS

  const attempt = async (): Promise<void> => {
    clearTimeout(timer)
    const subscribed = subscribeWithin(bus, (event) => deliver(event, listeners))
    const mine = settle(subscribed, () => current === mine)
    current = mine
    return mine
  }

  const settle = async (subscribed: Promise<() => void>, isCurrent: () => boolean): Promise<void> => {
    try {
      const leave = await subscribed
      outage.end()
      if (isCurrent()) unsubscribe = leave
      else leave()
    } catch (error) {
      outage.begin(error)
      if (isCurrent()) {
        current = undefined
        timer = setTimeout(() => attempt().catch(() => {}), retryMs)
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS)
      }
      throw error
    }
  }

  const enter = (listener: Listener): (() => void) => {
    const remove = add(listener, listeners)
    return () => {
      remove()
      if (listeners.size > 0) return
      clearTimeout(timer)
      unsubscribe?.()
      current = unsubscribe = undefined
      retryMs = FIRST_RETRY_MS
    }
  }

  return {
    publish: createPublisher(bus, outage),
    listen(listener) {
      const leave = enter(listener)
      ;(current ?? attempt()).catch(() => {})
      return leave
    },
    async join(listener) {
      // Not shared if the subscription would end with the request of another stream.
      const leave = bus.isRequestBound ? undefined : enter(listener)
      try {
        if (leave === undefined) {
          const own = await subscribeWithin(bus, listener)
          outage.end()
          return own
        }
        await within(current ?? attempt(), BUS_TIMEOUT_MS, 'bus')
        return leave
      } catch (error) {
        outage.begin(error)
        leave?.()
        throw error
      }
    },
  }
}

/**
 * Subscribes within the time limit; otherwise not at all.
 *
 * @throws Error if the bus does not answer, and the error that it rejects with.
 */
async function subscribeWithin(bus: Bus, listener: Listener): Promise<() => void> {
  const subscribed = Promise.resolve(bus.subscribe(listener))
  try {
    const unsubscribe = await within(subscribed, BUS_TIMEOUT_MS, 'bus')
    return () => callHook(unsubscribe, toReport({}, 'Leaving the bus'))
  } catch (error) {
    subscribed.then((unsubscribe) => unsubscribe()).catch(() => {}) // it resolved too late to be used
    throw error
  }
}
