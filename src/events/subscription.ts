/**
 * What a `subscriptions/listen` stream delivers (MCP 2026-07-28, "Subscriptions"): the events of the bus that pass the filter, in a queue
 * that the stream reads. Events are received in the publisher's request and sent in the subscriber's, since platforms forbid I/O on behalf
 * of another request.
 */
import { invalidParams } from '../definition/protocol-error.ts'
import type { ServerCapabilities } from '../interaction/matrix.ts'
import type { ChangeEvent } from './bus.ts'
import type { Feed } from './feed.ts'

/** MCP's `SubscriptionFilter`. */
export interface SubscriptionFilter {
  toolsListChanged?: boolean
  promptsListChanged?: boolean
  resourcesListChanged?: boolean
  resourceSubscriptions?: string[]
}

const FLAGS = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'] as const
type ListChange = (typeof FLAGS)[number]

/** Limits the URIs of one filter or session: they are stored, and compared with every template. */
export const MAX_SUBSCRIBED_URIS = 1000
export const MAX_SUBSCRIBED_CHARACTERS = 100_000

/** Milliseconds within which a stream sends the same change only once; changes in the meantime are sent together at the end. */
const COALESCE_MS = 100

/**
 * Reads the `notifications` parameter.
 *
 * @throws ProtocolError `-32602` if it is not a filter.
 */
export function parseFilter(notifications: unknown): SubscriptionFilter {
  if (notifications === null || typeof notifications !== 'object' || Array.isArray(notifications)) {
    throw invalidParams('"notifications" must be an object that names what to listen to.')
  }
  const filter = notifications as Record<string, unknown>
  for (const flag of FLAGS) {
    if (filter[flag] !== undefined && typeof filter[flag] !== 'boolean')
      throw invalidParams(`"notifications.${flag}" must be a boolean.`)
  }
  const uris = filter.resourceSubscriptions
  if (uris !== undefined && !(Array.isArray(uris) && uris.every((uri) => typeof uri === 'string'))) {
    throw invalidParams('"notifications.resourceSubscriptions" must be a list of URIs.')
  }
  if (
    Array.isArray(uris) &&
    (uris.length > MAX_SUBSCRIBED_URIS || charactersIn(uris) > MAX_SUBSCRIBED_CHARACTERS)
  ) {
    throw invalidParams(
      `"notifications.resourceSubscriptions" may name at most ${MAX_SUBSCRIBED_URIS} URIs, of at most ${MAX_SUBSCRIBED_CHARACTERS} characters in all.`,
    )
  }
  return filter as SubscriptionFilter
}

export function charactersIn(uris: Iterable<string>): number {
  let sum = 0
  for (const { length } of uris) sum += length
  return sum
}

/** The part of a filter that the advertised capabilities cover. */
export function honoured(filter: SubscriptionFilter, capabilities: ServerCapabilities): SubscriptionFilter {
  const uris = filter.resourceSubscriptions ?? []
  return {
    ...(filter.toolsListChanged && capabilities.tools?.listChanged && { toolsListChanged: true }),
    ...(filter.promptsListChanged && capabilities.prompts?.listChanged && { promptsListChanged: true }),
    ...(filter.resourcesListChanged && capabilities.resources?.listChanged && { resourcesListChanged: true }),
    ...(uris.length > 0 && capabilities.resources?.subscribe && { resourceSubscriptions: uris }),
  }
}

/** The filter of the lists that a server has. */
export function listsOf(has: {
  hasTools: boolean
  hasPrompts: boolean
  hasResources: boolean
}): SubscriptionFilter {
  return {
    toolsListChanged: has.hasTools,
    promptsListChanged: has.hasPrompts,
    resourcesListChanged: has.hasResources,
  }
}

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
