/** What a client that wakes up by events needs of the server. */
import { isA } from '../../../src/definition/error-text.ts'
import { isObject } from '../../../src/definition/is-object.ts'
import type { FindEvents } from '../clients/profile.ts'
import { declaredEvents, hasEvents, readEventList } from '../events.ts'
import { degrades, type Outcome, Stop, skipped, works } from '../outcome.ts'
import { quote } from '../safe-text.ts'
import { type Stepped, stopped, type Trail } from './trail.ts'

/** Never `wrong`: its tools work without events. */
export async function findEvents(step: FindEvents, { endpoint }: Trail): Promise<Stepped> {
  try {
    return { outcome: await judge(step, endpoint) }
  } catch (error) {
    if (!isA(error, Stop)) throw error
    const outcome = stopped(error)
    return { outcome: outcome.verdict === 'wrong' ? degrades(outcome.detail, outcome.fix) : outcome }
  }
}

async function judge({ mode }: FindEvents, endpoint: Trail['endpoint']): Promise<Outcome> {
  const { contact, wire } = endpoint
  if (contact.isLocked) return skipped('not known without a token')
  if (!hasEvents(contact)) return skipped('none are declared')
  if (!declaredEvents(contact).asCapability)
    return degrades(
      'it looks for the capability "events", which is not declared',
      'declare "events": {} in the capabilities, too',
    )
  const events = await readEventList(endpoint)
  const usable = events.filter(({ delivery }) => Array.isArray(delivery) && delivery.includes(mode))
  if (usable.length > 0) return works(`${usable.length} by ${mode}, after its endpoint is verified`)
  if (wire.options.bearer === undefined)
    return degrades(
      `no event by ${mode} without a token`,
      'subscriptions belong to a principal: the server needs "auth"; pass a token with --bearer-env to see what it offers then',
    )
  const [first] = events
  if (!isObject(first))
    return degrades(
      'no event is listed',
      'declare one, or let the authorization server give out the scopes that the events need: this token may lack them',
    )
  return degrades(
    `it takes no event by ${mode}, such as ${quote(first.name)}`,
    `offer events by ${mode}: it does not poll, and holds no streams`,
  )
}
