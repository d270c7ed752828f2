/** Stores events: each with its number, its identifier and a mark that it is not yet in the subscriptions, one or several in a commit. */

import { randomBase64Url } from '../definition/base64.ts'
import { isObject } from '../definition/is-object.ts'
import { describeIssues } from '../definition/schema.ts'
import { bytesOver } from '../definition/utf8.ts'
import { type KeyedWrite, MAX_WRITES } from '../keyed/store.ts'
import { shortDigest } from './canonical.ts'
import type { Core } from './core.ts'
import { untilMade } from './data.ts'
import type { EventType } from './event.ts'
import { emittedKey, eventKey, eventPrefix, headKey, outboxKey, typePrefix } from './keys.ts'
import { emitInTurn, type Line, type NewEvent } from './one-at-a-time.ts'
import type { EmitOptions, Emitted } from './support.ts'

/** The newest event of a type, and the log in which it has its number. */
export interface Head {
  readonly epoch: string
  readonly seq: number
  /** The number before its first event, if it replaced a log that was lost. */
  readonly start?: number
}

/** An event as it is stored. */
export interface StoredEvent {
  readonly eventId: string
  readonly timestamp: string
  readonly data: object
}

/** Since 2020, the milliseconds of now have 12 digits, as numbers in keys have, until 2051. */
const FIRST_MS = 1_577_836_800_000

/**
 * A log without events, with a random name. If there are events or subscriptions already, its head was lost: then its numbers are above all
 * that it can have had, since no log gets a thousand events a second. So subscriptions still receive what is new, what waits for them is not
 * overwritten, and who reads from a position of before learns that it is gone.
 */
export async function newLog({ data }: Core, type: string): Promise<Head> {
  const epoch = randomBase64Url(6)
  const pages = await Promise.all([eventPrefix(type), typePrefix(type)].map((prefix) => data.keys(prefix, 1)))
  if (pages.every(({ keys, next }) => keys.length === 0 && next === undefined)) return { epoch, seq: 0 }
  const start = Date.now() - FIRST_MS
  return { epoch, seq: start, start }
}

/** With the rest of its body and the store's own data, an event stays below the 64 KiB of an entry. */
export const MAX_EVENT_BYTES = 60_000

/** As of the webhooks that `mayfly-mcp/webhook` accepts: a period in it would change the meaning of what is signed. */
export const EVENT_ID = /^[!-\-/-~]{1,200}$/

/** The number of the log, and up to four entries of each event. */
const MAX_TOGETHER = (MAX_WRITES - 1) / 4

export async function emitEvent(
  core: Core,
  name: string,
  data: object,
  { eventId = crypto.randomUUID(), timestamp = new Date() }: EmitOptions,
): Promise<Emitted> {
  const { settings } = core
  const type = settings.types.get(name)
  if (type === undefined) throw new TypeError(`There is no event "${name}": add it to "types" of events.`)
  if (typeof eventId !== 'string' || !EVENT_ID.test(eventId))
    throw new TypeError(
      '"eventId" must be 1 to 200 visible ASCII characters without a period: clients receive it as a header.',
    )
  const stored: StoredEvent = {
    eventId,
    timestamp: timestamp.toISOString(),
    data: await checkData(type, data),
  }
  const text = JSON.stringify(stored)
  const bytes = bytesOver(text, MAX_EVENT_BYTES)
  if (bytes !== undefined)
    throw new TypeError(
      `An event "${name}" of ${bytes} bytes is not emitted: at most ${MAX_EVENT_BYTES} are allowed. Send what identifies it, and let clients read the rest by a tool.`,
    )
  const event: NewEvent = {
    eventId,
    known: emittedKey(name, await shortDigest(eventId)),
    mark: randomBase64Url(9),
    text,
    emitted: undefined,
  }
  const line = core.lineOf(name)
  return emitInTurn(line, event, () => untilMade(() => storeWith(core, name, line, event)))
}

/** Stores the event, and the oldest of those that wait. Undefined: others changed the log meanwhile. */
async function storeWith(
  core: Core,
  name: string,
  line: Line,
  event: NewEvent,
): Promise<Emitted | undefined> {
  const { data } = core
  if (event.emitted !== undefined) return event.emitted
  // Those that the newest ones push out are in the store.
  const count = Math.min(MAX_TOGETHER, core.settings.maxEvents)
  const events = firstOf(line.unstored, event, count)
  const [head, ...seen] = await Promise.all([
    data.read<Head>(headKey(name)),
    ...events.map(({ known }) => data.read<string>(known)),
  ])
  const isNew = events.map(({ known }, at) => seen[at] === undefined && isFirst(events, known, at))
  const added = events.filter((_event, at) => isNew[at])
  if (added.length > 0) {
    const log = head?.value ?? (await newLog(core, name))
    if ((await data.commit(writesOf(core, name, added, log, head?.version ?? null))) === undefined)
      return undefined
  }
  for (const [at, one] of events.entries()) {
    // The answer to the commit that stored it may have been lost.
    const isOwn = seen[at]?.value === one.mark
    one.emitted ??= { eventId: one.eventId, isRepeated: !isNew[at] && !isOwn }
    line.unstored.delete(one)
  }
  return event.emitted
}

/** In their order; `own` is one of them. */
function firstOf(waiting: ReadonlySet<NewEvent>, own: NewEvent, count: number): readonly NewEvent[] {
  const first: NewEvent[] = []
  let hasOwn = false
  for (const event of waiting) {
    if (first.length === count - (hasOwn ? 0 : 1)) break
    first.push(event)
    hasOwn ||= event === own
  }
  return hasOwn ? first : [...first, own]
}

const isFirst = (events: readonly NewEvent[], known: string, at: number): boolean =>
  events.findIndex((other) => other.known === known) === at

function writesOf(
  { settings: { retentionMs, maxEvents } }: Core,
  name: string,
  added: readonly NewEvent[],
  log: Head,
  ifVersion: string | null,
): KeyedWrite[] {
  const expiresAt = Date.now() + retentionMs
  return [
    { key: headKey(name), value: JSON.stringify({ ...log, seq: log.seq + added.length }), ifVersion },
    ...added.flatMap(({ known, mark, text }, at) => {
      const seq = log.seq + 1 + at
      return [
        { key: known, value: JSON.stringify(mark), ifVersion: null, expiresAt },
        { key: eventKey(name, seq), value: text, expiresAt },
        { key: outboxKey(name, seq), value: '{}', expiresAt },
        ...(seq > maxEvents ? [{ key: eventKey(name, seq - maxEvents) }] : []),
      ]
    }),
  ]
}

/** @throws TypeError for data that is not as the event's `payloadSchema` says, or no object. */
export async function checkData(type: EventType, data: unknown): Promise<object> {
  const validation = (await type.payload?.validate(data)) ?? { ok: true as const, value: data }
  if (!validation.ok)
    throw new TypeError(`The data of event "${type.id}" is invalid: ${describeIssues(validation.issues)}`)
  if (!isObject(validation.value)) throw new TypeError(`The data of event "${type.id}" must be an object.`)
  return validation.value
}
