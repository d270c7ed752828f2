/** What an operator does with the deliveries that a server has given up. */
import { fromBase64Url, toBase64Url } from '../../definition/base64.ts'
import { type Names, refuseUnknown } from '../../definition/unknown-option.ts'
import { shown, shownText } from '../../tasks/admin/shown.ts'
import { CursorError } from '../../tasks/stored.ts'
import type { Core, Operated } from '../core.ts'
import { type Entry, untilMade } from '../data.ts'
import type { DeadLetter, DeadReason } from '../dead.ts'
import type { StoredEvent } from '../emit.ts'
import { queued } from '../fan-out.ts'
import { DEAD_PREFIX, deadAt, deadIdOf, eventKey, isDeadId, keyOfDead, subscriptionKey } from '../keys.ts'
import { isEnded, MAX_QUEUE, type Subscription, toWrites } from '../record.ts'
import { EventAdminError } from './refusal.ts'
import { type DeadLetterDetails, type DeadLetterSummary, describe, summarize } from './summary.ts'

/** Which dead letters to list, and how many. */
export interface DeadLetterListOptions {
  /** `refused`: the endpoint answered 410 or 413. `expired`: the event was deleted before it could be delivered. Default: all. */
  readonly reason?: DeadReason | undefined
  /** Only of this event. Default: all. */
  readonly name?: string | undefined
  /** Only what was given up this many milliseconds ago, or longer. Default 0. */
  readonly olderThanMs?: number | undefined
  /** Only what was given up less than this many milliseconds ago. Default: any time. */
  readonly youngerThanMs?: number | undefined
  /** Letters of the page, 1 to 200. Default 50. */
  readonly limit?: number | undefined
  /** `next` of the page before. Default: the first page. */
  readonly after?: string | undefined
}

const LIST_OPTIONS: Names<DeadLetterListOptions> = {
  reason: { refused: 1, expired: 1 },
  name: 'string',
  olderThanMs: [0],
  youngerThanMs: [0],
  limit: [1, 200],
  after: 'string',
}
const DEFAULT_LIMIT = 50

/** Of one page: letters read at once and in all, and milliseconds. */
const AT_ONCE = 20
const MAX_READ = 500
const MAX_MS = 5000

export interface DeadLetterPage {
  readonly letters: readonly DeadLetterSummary[]
  /** For `after` of the next page, which may also come with an empty page. Undefined for the last page. */
  readonly next?: string
}

/** All reject with an `EventAdminError` for what is refused, and with the store's error if it does not answer within seconds. @throws TypeError for invalid options. */
export interface EventOperations {
  /** One page, the oldest first. A call reads at most 500 letters. */
  list(options?: DeadLetterListOptions): Promise<DeadLetterPage>
  show(id: string): Promise<DeadLetterDetails>
  /**
   * Puts the event back among those that its subscription waits for, before newer ones, with the same `eventId`: the next run delivers it,
   * if the subscriber may still have it. `isActive` is false for a suspended subscription: then after its client has refreshed it.
   */
  redeliver(id: string): Promise<{ readonly eventId: string; readonly isActive: boolean }>
}

export function createOperations({ core, wake }: Operated): EventOperations {
  return {
    list: (options = {}) => list(core, options),
    show: (id) => show(core, id),
    async redeliver(id) {
      const done = await untilMade(() => redeliver(core, id))
      await wake()
      return done
    },
  }
}

async function list({ data }: Core, options: DeadLetterListOptions): Promise<DeadLetterPage> {
  checkList(options)
  const { limit = DEFAULT_LIMIT } = options
  const startedAt = Date.now()
  const letters: DeadLetterSummary[] = []
  let next = options.after === undefined ? undefined : keyIn(options.after)
  let read = 0
  do {
    const page = await data.keys(DEAD_PREFIX, Math.min(AT_ONCE, limit - letters.length), next)
    const found = await Promise.all(
      page.keys.map(async (key) => ({ key, entry: await data.read<DeadLetter>(key) })),
    )
    read += found.length
    for (const { key, entry } of found) {
      if (entry === undefined) continue
      const summary = summarize(key, entry.value)
      if (isListed(summary, deadAt(key), options, startedAt)) letters.push(summary)
    }
    next = page.next
  } while (next !== undefined && letters.length < limit && read < MAX_READ && Date.now() - startedAt < MAX_MS)
  return { letters, ...(next !== undefined && { next: toBase64Url(new TextEncoder().encode(next)) }) }
}

async function show(core: Core, id: string): Promise<DeadLetterDetails> {
  const { value } = await letterOf(core, id)
  const [event, entry] = await Promise.all([eventOf(core, value), subscriptionOf(core, value)])
  return {
    ...summarize(keyOfDead(id), value),
    event: event && { timestamp: shownText(event.timestamp), data: shown(event.data) },
    subscription: entry && describe(entry.value),
  }
}

/** Undefined: others changed the subscription or the letter meanwhile. */
async function redeliver(
  core: Core,
  id: string,
): Promise<{ readonly eventId: string; readonly isActive: boolean } | undefined> {
  const letter = await letterOf(core, id)
  const { seq } = letter.value
  const [event, entry] = await Promise.all([eventOf(core, letter.value), subscriptionOf(core, letter.value)])
  if (entry === null)
    throw new EventAdminError(
      'SUBSCRIPTION_GONE',
      'Its subscription has ended: the client reads what it missed when it subscribes with its last cursor.',
    )
  if (event === null)
    throw new EventAdminError(
      'EVENT_GONE',
      'Its event is not stored any more (retentionMs, maxEvents): emit it again, with another eventId.',
    )
  const { value } = entry
  const isWaiting = value.queue.some(([one]) => one === seq)
  if (!isWaiting && value.queue.length >= MAX_QUEUE)
    throw new EventAdminError(
      'QUEUE_FULL',
      `${MAX_QUEUE} events wait for its subscription: try again when some of them are delivered.`,
    )
  const dead = value.dead?.filter(([at, one]) => one !== seq || at !== deadAt(keyOfDead(id)))
  const changed = isWaiting ? value : queued(value, [[seq, 0, Date.now()]])
  const made = await core.data.commit([
    ...toWrites(letter.value.subscription, entry, { ...changed, dead }),
    { key: keyOfDead(id), ifVersion: letter.version },
  ])
  return made === undefined ? undefined : { eventId: event.eventId, isActive: value.isActive }
}

/** @throws EventAdminError */
async function letterOf({ data }: Core, id: string): Promise<Entry<DeadLetter>> {
  const found = isDeadId(id) ? await data.read<DeadLetter>(keyOfDead(id)) : undefined
  if (found !== undefined) return found
  throw new EventAdminError(
    'UNKNOWN_LETTER',
    'There is no such dead letter: it was delivered again, or deleted after a week or because of newer ones.',
  )
}

/** Null: gone. A log that was deleted and began again has other events under the same numbers. */
async function eventOf({ data }: Core, { type, seq, eventId }: DeadLetter): Promise<StoredEvent | null> {
  const event = (await data.read<StoredEvent>(eventKey(type, seq)))?.value
  return event !== undefined && event.eventId === eventId ? event : null
}

/** Null: it has ended. */
async function subscriptionOf(
  { data }: Core,
  { subscription }: DeadLetter,
): Promise<Entry<Subscription> | null> {
  const found = await data.read<Subscription>(subscriptionKey(subscription))
  return found === undefined || isEnded(found.value) ? null : found
}

/** @throws TypeError */
export function checkList(options: DeadLetterListOptions): void {
  refuseUnknown('list', options, LIST_OPTIONS)
  const { limit = DEFAULT_LIMIT, after } = options
  if (!Number.isInteger(limit)) throw new TypeError('"limit" of list must be a whole number.')
  if (after !== undefined) keyIn(after)
}

/** @throws CursorError */
function keyIn(after: string): string {
  const bytes = after.length <= 1000 ? fromBase64Url(after) : undefined
  const key = new TextDecoder().decode(bytes)
  const id = deadIdOf(key)
  if (!isDeadId(id) || keyOfDead(id) !== key) throw new CursorError()
  return key
}

function isListed(
  { reason, name }: DeadLetterSummary,
  at: number,
  options: DeadLetterListOptions,
  now: number,
): boolean {
  const { olderThanMs = 0, youngerThanMs = Number.POSITIVE_INFINITY } = options
  if (options.reason !== undefined && reason !== options.reason) return false
  if (options.name !== undefined && name !== options.name) return false
  return now - at >= olderThanMs && now - at < youngerThanMs
}
