/**
 * `events/stream` (SEP-3415, "Push-Based Delivery"): the log, as it grows. A stream ends with its result before the limit of the platform,
 * like `subscriptions/listen`, and its client continues with the cursor it got last.
 */
import { isA } from '../definition/error-text.ts'
import { pause } from '../definition/pause.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { Params } from '../request/params.ts'
import type { RequestScope } from '../request/request-server.ts'
import type { Core } from './core.ts'
import { cursorOf, type Position } from './cursor.ts'
import { toTermination } from './errors.ts'
import { cursorParam, millisecondsParam } from './params.ts'
import { type ReadPage, readEventsOf } from './reading.ts'
import { type Watched, watchedBy } from './watched.ts'

export interface Sent {
  readonly method: string
  readonly params: { readonly [name: string]: unknown }
}

/** The notifications that a stream sends. */
const ACTIVE = 'notifications/events/active'
const EVENT = 'notifications/events/event'
const ERROR = 'notifications/events/error'
const HEARTBEAT = 'notifications/events/heartbeat'
const TERMINATED = 'notifications/events/terminated'

/** SEP-3415 demands one every 30 seconds. */
const HEARTBEAT_MS = 15_000
/** Between two questions whether the caller may still have it, while nothing happens: it is asked before events are sent. */
const ALLOWED_MS = 60_000
const MAX_EVENTS = 50

export async function* streamEvents(
  core: Core,
  scope: RequestScope,
  params: Params,
): AsyncGenerator<Sent, void, undefined> {
  const { signal } = scope.context
  const { streamIntervalMs } = core.settings
  const watched = await watchedBy(core, scope, params, 'push')
  const from = cursorParam(params)
  const maxAgeMs = millisecondsParam(params, 'maxAgeMs', 0)
  await watched.requireAllowed()
  const since = maxAgeMs === undefined ? undefined : Date.now() - maxAgeMs
  let page = await read(core, watched, from, since)
  yield active(from !== null && !page.isTruncated ? from : page.start, page.isTruncated)
  let askedAt = Date.now()
  let sentAt = Date.now()
  /** Of the page before: what was emitted while the history was read may be in both. */
  let sent = new Set<string>()
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    if (!isFirst) {
      let refusal: ProtocolError | undefined
      try {
        const next = await read(core, watched, page.position, undefined)
        if (next.events.length > 0 || Date.now() - askedAt >= ALLOWED_MS) {
          refusal = await refusalOf(watched)
          askedAt = Date.now()
        }
        page = next
      } catch (error) {
        core.report(error)
        yield {
          method: ERROR,
          params: { error: { code: ErrorCode.internal, message: 'The events cannot be read now.' } },
        }
        sentAt = Date.now()
        await pause(2 * streamIntervalMs, signal)
        continue
      }
      if (refusal !== undefined)
        return yield { method: TERMINATED, params: { error: toTermination(refusal) } }
      if (page.isTruncated) yield active(page.start, true)
    }
    for (const { occurrence, position } of page.events) {
      if (sent.has(occurrence.eventId)) continue
      yield { method: EVENT, params: { ...occurrence, cursor: cursorOf(position) } }
      sentAt = Date.now()
    }
    if (page.events.length > 0) sent = new Set(page.events.map(({ occurrence }) => occurrence.eventId))
    if (page.hasMore) continue
    if (Date.now() - sentAt >= HEARTBEAT_MS) {
      yield { method: HEARTBEAT, params: { cursor: cursorOf(page.position) } }
      sentAt = Date.now()
    }
    await pause(streamIntervalMs, signal)
  }
}

const read = (
  core: Core,
  watched: Watched,
  from: Position | null,
  since: number | undefined,
): Promise<ReadPage> => readEventsOf(core, watched, { from, since, maxEvents: MAX_EVENTS, isLive: true })

const active = (position: Position, truncated: boolean): Sent => ({
  method: ACTIVE,
  params: { cursor: cursorOf(position), truncated },
})

/** @throws what the user's code throws: then nothing is sent, and it is asked again. */
async function refusalOf(watched: Watched): Promise<ProtocolError | undefined> {
  try {
    await watched.requireAllowed()
    return undefined
  } catch (error) {
    if (isA(error, ProtocolError)) return error
    throw error
  }
}
