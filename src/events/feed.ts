/**
 * The feed connects a server with the bus. One subscription serves all streams and sessions of a process or isolate: it starts with the
 * first of them and ends with the last.
 */
import { callHook } from '../definition/hook.ts'
import { withTimeout } from '../definition/timeout.ts'
import { add, type Bus, type ChangeEvent, deliver } from './bus.ts'
import { BUS_TIMEOUT_MS, createOutage, type Report, toReport } from './outage.ts'
import { createPublisher } from './publisher.ts'

type Listener = (event: ChangeEvent) => void

export interface Feed {
  /** Never rejects. */
  readonly publish: (event: ChangeEvent) => Promise<void>
  /**
   * Calls `listener` for each change, from the start of delivery until the returned function is called.
   *
   * @throws Error if the bus does not answer, and the error that it rejects with.
   */
  readonly join: (listener: Listener) => Promise<() => void>
}

/** @param report called once per outage of the bus, not per attempt. */
export function createFeed(bus: Bus, report: Report): Feed {
  const outage = createOutage(report)
  const listeners = new Set<Listener>()
  /** The running or successful attempt. */
  let current: Promise<void> | undefined
  let unsubscribe: (() => void) | undefined

  const attempt = async (): Promise<void> => {
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
      if (isCurrent()) current = undefined
      throw error
    }
  }

  const enter = (listener: Listener): (() => void) => {
    const remove = add(listener, listeners)
    return () => {
      remove()
      if (listeners.size > 0) return
      unsubscribe?.()
      current = unsubscribe = undefined
    }
  }

  return {
    publish: createPublisher(bus, outage),
    async join(listener) {
      // Not shared if the subscription would end with the request of another stream.
      const leave = bus.isRequestBound ? undefined : enter(listener)
      try {
        if (leave === undefined) {
          const own = await subscribeWithin(bus, listener)
          outage.end()
          return own
        }
        await (current ?? attempt())
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
 * Subscribes within the time limit, or gives up.
 *
 * @throws Error if the bus does not answer, and the error that it rejects with.
 */
async function subscribeWithin(bus: Bus, listener: Listener): Promise<() => void> {
  const subscribed = Promise.resolve(bus.subscribe(listener))
  try {
    const unsubscribe = await withTimeout(subscribed, BUS_TIMEOUT_MS, 'bus')
    return () => callHook(unsubscribe, toReport({}, 'Leaving the bus'))
  } catch (error) {
    subscribed.then((unsubscribe) => unsubscribe()).catch(() => {}) // it resolved too late
    throw error
  }
}
