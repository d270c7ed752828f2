/**
 * What polls and streams read: the log, or the history of the upstream where an event has `replay`. A position in the log is continued there
 * as long as the log has it; then the history fills the gap.
 */
import { type Core, isWanted } from './core.ts'
import type { Position } from './cursor.ts'
import { type HistoryPage, MAX_REPLAYED, readHistory } from './history.ts'
import { headOf, type LoggedEvent, readLog } from './log.ts'
import type { Watched } from './watched.ts'

export interface ReadQuery {
  /** Null: nothing, from now on. */
  readonly from: Position | null
  readonly since: number | undefined
  readonly maxEvents: number
  /** Whether the log is read from then on: by a stream, after the history. */
  readonly isLive: boolean
}

/** An event with the position after which a client continues that has it. */
export interface ReadEvent {
  readonly occurrence: Omit<LoggedEvent, 'seq'>
  readonly position: Position
}

export interface ReadPage {
  readonly events: readonly ReadEvent[]
  /** Before the first of them. */
  readonly start: Position
  /** After all that was read. */
  readonly position: Position
  readonly isTruncated: boolean
  readonly hasMore: boolean
}

/** @throws the errors of the store, and ProtocolError if the history cannot be read. */
export async function readEventsOf(core: Core, watched: Watched, query: ReadQuery): Promise<ReadPage> {
  const { type, args } = watched
  const { from, since, maxEvents } = query
  const hasHistory = type.replay !== undefined
  if (!hasHistory || (from !== null && from.epoch !== '')) {
    const page = await readLog(core, type, { args, from, since, maxEvents })
    if (!hasHistory || !page.isLost) return ofLog(page, hasHistory ? from?.upstream : undefined)
  }
  const start = from?.upstream ?? null
  // Before the history is asked: what is emitted meanwhile is in the log after it.
  const head = query.isLive ? await headOf(core, type) : { epoch: '', seq: 0 }
  const limit = start === null ? 0 : Math.min(maxEvents, MAX_REPLAYED)
  const history = await readHistory(core, type, { cursor: start, args, limit }, watched.caller)
  return ofHistory(core, watched, query, history, head)
}

function ofLog(page: Awaited<ReturnType<typeof readLog>>, upstream: string | undefined): ReadPage {
  const { epoch, seq: newest } = page.position
  return {
    ...page,
    start: { epoch, seq: page.events[0] === undefined ? newest : page.events[0].seq - 1, upstream },
    position: { ...page.position, upstream },
    events: page.events.map(({ seq, ...occurrence }) => ({ occurrence, position: { epoch, seq, upstream } })),
  }
}

function ofHistory(
  core: Core,
  { type, args }: Watched,
  { from, since = 0 }: ReadQuery,
  { events, cursor, hasMore, isTruncated }: HistoryPage,
  head: Position,
): ReadPage {
  const before: Position = { epoch: '', seq: 0, upstream: from?.upstream }
  const position: Position = { ...(hasMore ? before : head), upstream: cursor }
  const isRecent = ({ timestamp }: { readonly timestamp: string }): boolean => Date.parse(timestamp) >= since
  const recent = events.filter(isRecent)
  const wanted = recent.filter(({ data }) => isWanted(core, type, data, args))
  return {
    // Within a page there is no position: who has only a part of it begins with it again.
    events: wanted.map((event, index) => ({
      occurrence: { eventId: event.eventId, name: type.id, timestamp: event.timestamp, data: event.data },
      position: index === wanted.length - 1 ? position : before,
    })),
    start: wanted.length === 0 ? position : before,
    position,
    isTruncated: isTruncated || recent.length < events.length || isBroken(from),
    hasMore,
  }
}

/** A position that neither the log nor the history can continue. */
const isBroken = (from: Position | null): boolean => from !== null && from.upstream === undefined
