/** Reads what servers answer to requests for events: undefined for what is invalid. */
import { isObject } from '../definition/is-object.ts'
import type { OfferedEvent, PolledEvents, ReceivedEvent, SubscribedEvents } from './event-types.ts'

/** Events of one answer. */
const MAX_EVENTS = 1000

type Answer = { readonly [name: string]: unknown }

/** The channel leaves out what is not an `OfferedEvent`. */
export function readPage({
  events,
  nextCursor,
}: Answer): { items: OfferedEvent[]; nextCursor?: string } | undefined {
  if (!Array.isArray(events) || events.length > MAX_EVENTS) return undefined
  return { items: events, ...(typeof nextCursor === 'string' && { nextCursor }) }
}

/** What continues a poll or a stream; null: there is nothing to continue. */
export const isCursor = (cursor: unknown): cursor is string | null =>
  typeof cursor === 'string' || cursor === null

/** Whether it is an event of SEP-3415. */
export const isEvent = (event: unknown): event is ReceivedEvent =>
  isObject(event) &&
  typeof event.eventId === 'string' &&
  typeof event.name === 'string' &&
  typeof event.timestamp === 'string' &&
  isObject(event.data)

export function readPolled({
  events,
  cursor = null,
  truncated,
  hasMore,
  nextPollMs,
}: Answer): PolledEvents | undefined {
  if (!Array.isArray(events) || events.length > MAX_EVENTS || !isCursor(cursor)) return undefined
  if (!events.every(isEvent)) return undefined
  const wait = typeof nextPollMs === 'number' && nextPollMs >= 0 ? { nextPollMs } : {}
  return { events, cursor, truncated: truncated === true, hasMore: hasMore === true, ...wait }
}

export function readSubscribed({
  id,
  refreshBefore,
  cursor = null,
  truncated,
}: Answer): SubscribedEvents | undefined {
  const isDate = typeof refreshBefore === 'string' && !Number.isNaN(Date.parse(refreshBefore))
  if (typeof id !== 'string' || !isCursor(cursor)) return undefined
  if (!isDate && refreshBefore !== null) return undefined
  return { id, refreshBefore: refreshBefore as string | null, cursor, truncated: truncated === true }
}
