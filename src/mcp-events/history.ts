/** The past of an event, as its upstream has it: `replay` of the event, asked for one caller. */
import { isObject } from '../definition/is-object.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import { bytesOver } from '../definition/utf8.ts'
import type { Core } from './core.ts'
import { MAX_UPSTREAM_BYTES } from './cursor.ts'
import { checkData, EVENT_ID, MAX_EVENT_BYTES, type StoredEvent } from './emit.ts'
import type { EventType } from './event.ts'
import type { ReplayContext, ReplayQuery } from './replay.ts'

/** Events of one page. */
export const MAX_REPLAYED = 50

/** A page that was checked. */
export interface HistoryPage {
  readonly events: readonly StoredEvent[]
  readonly cursor: string
  readonly hasMore: boolean
  readonly isTruncated: boolean
}

/**
 * Asks the user's code. What it returns that is not an event is reported and left out: it would hold up all events after it.
 *
 * @throws ProtocolError `-32603` if it fails, takes over 10 seconds, or returns no page. The reason is reported.
 */
export async function readHistory(
  core: Core,
  type: EventType,
  query: ReplayQuery,
  caller: Omit<ReplayContext, 'signal'> & { readonly signal: AbortSignal },
): Promise<HistoryPage> {
  const own = new AbortController()
  const signal = AbortSignal.any([caller.signal, own.signal])
  try {
    const what = `"replay" of event "${type.id}"`
    const asked = (async () => type.replay?.(query, { ...caller, signal }))()
    return await toPage(core, type, query, await withTimeout(asked, ANSWER_TIMEOUT_MS, what))
  } catch (error) {
    core.report(error)
    throw new ProtocolError(ErrorCode.internal, `The past of event "${type.id}" cannot be read now.`)
  } finally {
    own.abort()
  }
}

async function toPage(core: Core, type: EventType, query: ReplayQuery, page: unknown): Promise<HistoryPage> {
  const wrong = (must: string): never => {
    throw new TypeError(`"replay" of event "${type.id}" must return ${must}.`)
  }
  if (!isObject(page) || !Array.isArray(page.events)) return wrong('{ events, cursor }')
  const { events, cursor, hasMore = false, truncated = false } = page
  if (typeof cursor !== 'string' || bytesOver(cursor, MAX_UPSTREAM_BYTES) !== undefined)
    return wrong(`a "cursor" of at most ${MAX_UPSTREAM_BYTES} bytes`)
  if (typeof hasMore !== 'boolean' || typeof truncated !== 'boolean')
    return wrong('true or false as "hasMore" and "truncated"')
  const rest = { cursor, isTruncated: truncated }
  if (query.cursor === null) return { ...rest, events: [], hasMore: false }
  if (events.length > query.limit) return wrong(`at most ${query.limit} events, its "limit"`)
  if (hasMore && cursor === query.cursor) return wrong('another "cursor" where there are more events')
  const checked = await Promise.all(events.map((event) => checkEvent(core, type, event)))
  return { ...rest, events: checked.filter((event) => event !== undefined), hasMore }
}

async function checkEvent(core: Core, type: EventType, event: unknown): Promise<StoredEvent | undefined> {
  try {
    const { eventId, timestamp, data } = isObject(event) ? event : {}
    if (typeof eventId !== 'string' || !EVENT_ID.test(eventId))
      throw new TypeError(
        `"replay" of event "${type.id}" returned an "eventId" that is not 1 to 200 visible ASCII characters without a period.`,
      )
    const at = new Date(timestamp as string | Date)
    if (Number.isNaN(at.getTime()))
      throw new TypeError(
        `"replay" of event "${type.id}" returned an event without a "timestamp": a Date, or text as of a Date.`,
      )
    const stored = { eventId, timestamp: at.toISOString(), data: await checkData(type, data) }
    if (bytesOver(JSON.stringify(stored), MAX_EVENT_BYTES) === undefined) return stored
    throw new TypeError(
      `"replay" of event "${type.id}" returned an event of more than ${MAX_EVENT_BYTES} bytes.`,
    )
  } catch (error) {
    core.report(error)
    return undefined
  }
}
