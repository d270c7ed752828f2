/** Deliveries that were given up, for an operator: of limited age and number, for each subscription, each principal and in all. */
import { type KeyedWrite, MAX_WRITES } from '../keyed/store.ts'
import type { DeliveryError, PostOutcome } from './contract.ts'
import type { Core } from './core.ts'
import { isAccepted, toDeliveryError } from './deliver/outcome.ts'
import { DEAD_PREFIX, deadKey, readDeadKey } from './keys.ts'
import type { Subscription } from './record.ts'

/**
 * Why: `refused`, the endpoint will never take it; `expired`, its event was deleted before it could be delivered.
 */
export type DeadReason = 'refused' | 'expired'

/** A delivery that was given up, as it is stored. */
export interface DeadLetter {
  readonly subscription: string
  readonly type: string
  readonly seq: number
  /** Undefined: the event was gone. */
  readonly eventId?: string
  readonly tries: number
  readonly reason: DeadReason
  readonly lastError?: DeliveryError | undefined
  readonly status?: number | undefined
}

/** What is given up, and the answer that decided it. */
interface Given {
  readonly seq: number
  readonly tries: number
  readonly eventId?: string
  readonly outcome?: PostOutcome
}

const DEAD_MS = 604_800_000
/** Of one subscription: a client that refuses everything takes no more of the list. */
const MAX_OF_ONE = 20
/** Of one principal, which may have many subscriptions, one after the other: a tenth of all. */
const MAX_OF_PRINCIPAL = 500
/** Of all, counted after a run in which there were more. */
export const MAX_DEAD = 5000
const PAGE = 1000
const MAX_PAGES = 10

/** By the answer that decided it. */
export const reasonOf = (outcome: PostOutcome | undefined): DeadReason =>
  outcome === undefined ? 'expired' : 'refused'

/** The subscription, and the writes beside it: one for each letter, and one for each old letter that it replaces. */
export function deadWrites(
  id: string,
  subscription: Subscription,
  given: readonly Given[],
): { readonly subscription: Subscription; readonly writes: readonly KeyedWrite[] } {
  const now = Date.now()
  const { owner } = subscription
  const all = [...(subscription.dead ?? []), ...given.map(({ seq }) => [now, seq] as const)]
  const tooOld = all.slice(0, Math.max(0, all.length - MAX_OF_ONE))
  const written = given.map(({ outcome, ...one }): KeyedWrite => {
    const letter: DeadLetter = {
      ...one,
      subscription: id,
      type: subscription.type,
      reason: reasonOf(outcome),
      lastError:
        outcome === undefined || isAccepted(outcome) ? subscription.lastError : toDeliveryError(outcome),
      ...(outcome !== undefined && 'status' in outcome && { status: outcome.status }),
    }
    return { key: deadKey(now, id, one.seq, owner), value: JSON.stringify(letter), expiresAt: now + DEAD_MS }
  })
  return {
    subscription: { ...subscription, dead: all.slice(-MAX_OF_ONE) },
    writes: [...written, ...tooOld.map(([at, seq]) => ({ key: deadKey(at, id, seq, owner) }))],
  }
}

/** Deletes the oldest letters over the limits: of one subscription, which may have begun again since, of one principal, and of all. */
export async function trimDead({ data }: Core): Promise<void> {
  const keys: string[] = []
  let after: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const found = await data.keys(DEAD_PREFIX, PAGE, after)
    keys.push(...found.keys)
    after = found.next
    if (after === undefined) break
  }
  const counts = new Map<string, number>()
  const isOneOf = (name: string, max: number): boolean => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return count <= max
  }
  // The newest first.
  const kept = keys.toReversed().filter((key) => {
    const { id, owner } = readDeadKey(key)
    return isOneOf(id, MAX_OF_ONE) && isOneOf(owner, MAX_OF_PRINCIPAL)
  })
  const keep = new Set(kept.slice(0, MAX_DEAD))
  const tooMany = keys.filter((key) => !keep.has(key))
  for (let first = 0; first < tooMany.length; first += MAX_WRITES)
    await data.commit(tooMany.slice(first, first + MAX_WRITES).map((key) => ({ key })))
}
