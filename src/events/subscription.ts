/**
 * What a `subscriptions/listen` stream delivers (MCP 2026-07-28, "Subscriptions"): the events of the bus that pass the filter, in a
 * queue that the stream reads. Events arrive in the publisher's request and leave in the subscriber's, since platforms forbid I/O on
 * behalf of another request.
 */
import { invalidParams } from '../definition/protocol-error.ts'
import type { ServerCapabilities } from '../interaction/matrix.ts'
import type { Change } from './bus.ts'
import type { Feed } from './feed.ts'

/** MCP's `SubscriptionFilter`. */
export interface SubscriptionFilter {
  toolsListChanged?: boolean
  promptsListChanged?: boolean
  resourcesListChanged?: boolean
  resourceSubscriptions?: string[]
}

const FLAGS = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'] as const

/** Limits the URIs of one filter or session: they are stored, and compared with every template. */
export const MAX_SUBSCRIBED_URIS = 1000
export const MAX_SUBSCRIBED_CHARACTERS = 100_000

/** Milliseconds within which a stream sends the same change only once; what comes meanwhile leaves as one at their end. */
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

/** All that a filter lets through. */
export function changesIn(filter: SubscriptionFilter): Change[] {
  const lists = FLAGS.filter((flag) => filter[flag]).map((type) => ({ type }))
  const uris = filter.resourceSubscriptions ?? []
  return [...lists, ...uris.map((uri) => ({ type: 'resourceUpdated' as const, uri }))]
}

export interface Subscription {
  /** Resolves with the next change, or with undefined after `waitMs` milliseconds without one. Changes that wait come first. */
  next(waitMs: number): Promise<Change | undefined>
  /** Ends the wait for the next event at once. */
  wake(): void
  /** Takes no further events. What waits stays. */
  leave(): void
  close(): void
}

/** A change, and the earliest time at which it is sent again. */
interface Wanted {
  readonly change: Change
  dueAt: number
}

/**
 * Subscribes to the events that pass `filter`. A change that waits is not queued again, so the queue never holds more than the filter
 * names. The first of a burst leaves at once, all others as one, `COALESCE_MS` later.
 *
 * @param join begins to call its listener with events, and resolves with a function that ends this.
 */
export async function subscribe(join: Feed['join'], filter: SubscriptionFilter): Promise<Subscription> {
  const all = new Map(changesIn(filter).map((change) => [keyOf(change), { change, dueAt: 0 } as Wanted]))
  const queue = new Set<Wanted>()
  let endsAt = 0
  let wake: (() => void) | undefined
  const unsubscribe = await join((event) => {
    const wanted = event.type === 'gap' ? all.values() : [all.get(keyOf(event))]
    for (const one of wanted) if (one !== undefined) queue.add(one)
    if (queue.size > 0) wake?.()
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
        for (const one of queue) {
          // What is held back is sent early rather than never.
          if (one.dueAt <= now || endsAt <= now) {
            queue.delete(one)
            one.dueAt = now + COALESCE_MS
            return one.change
          }
          until = Math.min(until, one.dueAt)
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

function keyOf(change: Change): string {
  return change.type === 'resourceUpdated' ? change.type + change.uri : change.type
}

const METHODS: { readonly [type in Change['type']]: string } = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
  resourceUpdated: 'notifications/resources/updated',
}

/** A change as a notification in wire form. */
export function toNotification(change: Change): { method: string; params: { uri?: string } } {
  return {
    method: METHODS[change.type],
    params: change.type === 'resourceUpdated' ? { uri: change.uri } : {},
  }
}
