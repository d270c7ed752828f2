/** Stores events: each with its number, its identifier and a mark that it is not yet in the subscriptions, in one commit. */

import { randomBase64Url } from '../definition/base64.ts'
import { isObject } from '../definition/is-object.ts'
import { describeIssues } from '../definition/schema.ts'
import { bytesOver } from '../definition/utf8.ts'
import type { KeyedWrite } from '../keyed/store.ts'
import { shortDigest } from './canonical.ts'
import type { Core } from './core.ts'
import { type Entry, untilMade } from './data.ts'
import type { EventType } from './event.ts'
import { emittedKey, eventKey, headKey, outboxKey } from './keys.ts'
import type { EmitOptions, Emitted } from './support.ts'

/** The newest event of a type, and the log in which it has its number. */
export interface Head {
  readonly epoch: string
  readonly seq: number
}

/** An event as it is stored. */
export interface StoredEvent {
  readonly eventId: string
  readonly timestamp: string
  readonly data: object
}

/** A log without events, with a random name. */
export const newLog = (): Head => ({ epoch: randomBase64Url(6), seq: 0 })

/** With the rest of its body and the store's own data, an event stays below the 64 KiB of an entry. */
export const MAX_EVENT_BYTES = 60_000

/** As of the webhooks that `mayfly-mcp/webhook` accepts: a period in it would change the meaning of what is signed. */
export const EVENT_ID = /^[!-\-/-~]{1,200}$/

export async function emitEvent(
  core: Core,
  name: string,
  data: object,
  { eventId = crypto.randomUUID(), timestamp = new Date() }: EmitOptions,
): Promise<Emitted> {
  const { data: store, settings } = core
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
  const known = emittedKey(name, await shortDigest(eventId))
  return untilMade(async () => {
    const [seen, head] = await Promise.all([store.read(known), store.read<Head>(headKey(name))])
    if (seen !== undefined) return { eventId, isRepeated: true }
    const made = await store.commit(writesOf(core, name, known, text, head))
    return made === undefined ? undefined : { eventId, isRepeated: false }
  })
}

function writesOf(
  { settings: { retentionMs, maxEvents } }: Core,
  name: string,
  known: string,
  text: string,
  head: Entry<Head> | undefined,
): KeyedWrite[] {
  const seq = (head?.value.seq ?? 0) + 1
  const { epoch } = head?.value ?? newLog()
  const expiresAt = Date.now() + retentionMs
  return [
    { key: headKey(name), value: JSON.stringify({ epoch, seq }), ifVersion: head?.version ?? null },
    { key: known, value: String(seq), ifVersion: null, expiresAt },
    { key: eventKey(name, seq), value: text, expiresAt },
    { key: outboxKey(name, seq), value: '{}', expiresAt },
    ...(seq > maxEvents ? [{ key: eventKey(name, seq - maxEvents) }] : []),
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
