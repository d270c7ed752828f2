/**
 * What a `subscriptions/listen` stream delivers (MCP 2026-07-28, "Subscriptions"): the events of the bus that pass the filter, in a queue
 * that the stream reads, a burst of the same change as one. Events are received in the publisher's request and sent in the subscriber's,
 * since platforms forbid I/O on behalf of another request.
 */
import type { ChangeEvent } from './bus.ts'
import type { Feed } from './feed.ts'
import { FLAGS, type ListChange, type SubscriptionFilter } from './listen-filter.ts'

/** Milliseconds within which a stream sends the same change only once; changes in the meantime are sent together at the end. */
const COALESCE_MS = 100

export interface Subscription {
  /** Resolves with a change, or with undefined after `waitMs` milliseconds. Queued changes come first. */
  next(waitMs: number): Promise<Key | undefined>
  /** Ends the wait for the next event immediately. */
  wake(): void
  /** Accepts no further events; queued ones stay. */
  leave(): void
  close(): void
}

/** A URI, or the index of a list in `FLAGS`; -1 if it is not a change. URIs are not copied. */
export type Key = string | number

/** What is listened to, and the earliest time to send it again. */
export type Wanted = Map<Key, number>

/** @param uris Additional URIs that are not resources. */
export function wantedBy(filter: SubscriptionFilter, uris: readonly string[] = []): Wanted {
  const lists: Key[] = [...FLAGS.keys()].filter((index) => filter[FLAGS[index]!])
  return new Map(lists.concat(filter.resourceSubscriptions ?? [], uris).map((key) => [key, 0]))
}

/**
 * Subscribes to the requested events. A queued change is not queued again, so the queue is never longer than the filter. The first change
 * of a burst is sent immediately, all others together `COALESCE_MS` later.
 *
 * @param join Starts calling its listener with events, and resolves with a function that stops it.
 */
export async function subscribe(join: Feed['join'], wanted: Wanted): Promise<Subscription> {
  const queue = new Set<Key>()
  let endsAt = 0
  let wake: (() => void) | undefined
  const unsubscribe = await join((event) => {
    const { size } = queue
    const keys = event.type === 'gap' ? wanted.keys() : [keyOf(event)]
    for (const key of keys) if (wanted.has(key)) queue.add(key)
    if (queue.size > size) wake?.()
  })
  let hasLeft = false
  const leave = (): void => {
    if (!hasLeft) unsubscribe()
    hasLeft = true
  }
  const end = (): void => {
    endsAt = 0
    wake?.()
  }
  return {
    async next(waitMs) {
      endsAt = Date.now() + waitMs
      for (;;) {
        const now = Date.now()
        let until = endsAt
        for (const key of queue) {
          const dueAt = wanted.get(key)
          if (dueAt === undefined) {
            queue.delete(key)
            continue
          }
          // Delayed changes are sent early instead of being lost.
          if (dueAt <= now || endsAt <= now) {
            queue.delete(key)
            wanted.set(key, now + COALESCE_MS)
            return key
          }
          until = Math.min(until, dueAt)
        }
        if (endsAt <= now) return undefined
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, until - now)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        wake = undefined
      }
    },
    wake: end,
    leave,
    close() {
      leave()
      queue.clear()
      end()
    },
  }
}

export function keyOf(event: ChangeEvent): Key {
  return event.type === 'resourceUpdated' ? event.uri : FLAGS.indexOf(event.type as ListChange)
}

/** A change as a notification in wire form. */
export function toNotification(key: Key): { method: string; params: { uri?: string } } {
  if (typeof key === 'string') return { method: 'notifications/resources/updated', params: { uri: key } }
  return { method: `notifications/${FLAGS[key]!.replace('ListChanged', '')}/list_changed`, params: {} }
}
