/** The log of each type: its events by number, as long as they are stored. Polls and streams read it from a position on. */
import { type Core, isWanted } from './core.ts'
import type { Position } from './cursor.ts'
import { untilMade } from './data.ts'
import { type Head, newLog, type StoredEvent } from './emit.ts'
import type { EventType } from './event.ts'
import { eventKey, eventPrefix, headKey, seqIn } from './keys.ts'

/** What to read. */
export interface LogQuery {
  readonly args: unknown
  /** Null: nothing, from now on. */
  readonly from: Position | null
  /** Older events are left out. */
  readonly since: number | undefined
  readonly maxEvents: number
}

/** An event with its number. */
export interface LoggedEvent extends StoredEvent {
  readonly name: string
  readonly seq: number
}

export interface LogPage {
  readonly events: readonly LoggedEvent[]
  /** After what was read. */
  readonly position: Position
  /** Events were left out that came after the position. */
  readonly isTruncated: boolean
  /** The log does not have the position that it was asked for, any more. */
  readonly isLost: boolean
  readonly hasMore: boolean
}

/** Events that are read for one page, of which few may be wanted. */
const MAX_READ = 200
const READ_AT_ONCE = 20
/** Characters of a page, which may have one event more. */
const MAX_CHARACTERS = 1_000_000

/** The newest event of a type. Its log begins with the first question, so that a position has a name. */
export async function headOf(core: Core, type: EventType): Promise<Head> {
  const { data } = core
  return untilMade(async () => {
    const found = await data.read<Head>(headKey(type.id))
    if (found !== undefined) return found.value
    const begun = await newLog(core, type.id)
    const made = await data.commit([{ key: headKey(type.id), value: JSON.stringify(begun), ifVersion: null }])
    return made === undefined ? undefined : begun
  })
}

/** Stored events by number, of which some may be gone. */
export function readEvents(
  { data }: Core,
  type: EventType,
  first: number,
  last: number,
): Promise<readonly { readonly seq: number; readonly event: StoredEvent | undefined }[]> {
  const seqs = Array.from({ length: last - first + 1 }, (_none, index) => first + index)
  return Promise.all(
    seqs.map(async (seq) => ({ seq, event: (await data.read<StoredEvent>(eventKey(type.id, seq)))?.value })),
  )
}

/** A page of what is wanted, in order. */
export async function readLog(core: Core, type: EventType, query: LogQuery): Promise<LogPage> {
  const { from, since = 0, maxEvents, args } = query
  const { epoch, seq: newest, start = 0 } = await headOf(core, type)
  const at = (seq: number): Position => ({ epoch, seq })
  const nothing = { events: [], position: at(newest), hasMore: false }
  const lost = { ...nothing, isTruncated: true, isLost: true }
  if (from === null || (from.epoch === epoch && from.seq === newest))
    return { ...nothing, isTruncated: false, isLost: false }
  if (from.epoch !== epoch || from.seq > newest) return lost
  const oldest = await oldestOf(core, type)
  if (oldest === undefined) return lost
  const first = Math.max(from.seq + 1, oldest, start + 1)
  const isLost = first > from.seq + 1
  let isTruncated = isLost
  const events: LoggedEvent[] = []
  let characters = 0
  let next = first
  const last = Math.min(newest, first + MAX_READ - 1)
  while (next <= last) {
    for (const { seq, event } of await readEvents(
      core,
      type,
      next,
      Math.min(next + READ_AT_ONCE - 1, last),
    )) {
      if (events.length >= maxEvents || characters >= MAX_CHARACTERS)
        return { events, position: at(next - 1), isTruncated, isLost, hasMore: true }
      next = seq + 1
      if (event === undefined) continue
      const { eventId, timestamp, data } = event
      if (Date.parse(timestamp) < since) isTruncated = true
      else if (isWanted(core, type, data, args)) {
        const occurrence = { eventId, name: type.id, timestamp, data }
        characters += JSON.stringify(occurrence).length
        events.push({ ...occurrence, seq })
      }
    }
  }
  return { events, position: at(last), isTruncated, isLost, hasMore: last < newest }
}

async function oldestOf({ data }: Core, type: EventType): Promise<number | undefined> {
  const { keys } = await data.keys(eventPrefix(type.id), 1)
  return keys[0] === undefined ? undefined : seqIn(keys[0], eventPrefix(type.id))
}
