/** A subscription of which a run has the lease: no other run sends to it until the lease ends. */
import type { KeyedWrite } from '../keyed/store.ts'
import type { Core } from './core.ts'
import { type Entry, untilMade } from './data.ts'
import { dueKey, subscriptionKey } from './keys.ts'
import { dueAtOf, type Subscription, toWrites } from './record.ts'

/** Twice and more what the longest request and the user's code take together. */
const LEASE_MS = 90_000

export interface Held {
  /** As it was read or stored last. */
  current(): Subscription
  /** Reads it again. False: it was removed, or another run has it. */
  reread(): Promise<boolean>
  /**
   * Stores a change, and what else belongs to it; applied again to what others changed meanwhile. Undefined deletes the subscription.
   * False: it was removed, or another run has it.
   */
  change(
    change: (subscription: Subscription) => Subscription | undefined,
    more?: (changed: Subscription) => readonly KeyedWrite[],
  ): Promise<boolean>
}

/** Takes the lease. Undefined: the subscription is not due, or another run has it. */
export async function hold(core: Core, id: string): Promise<Held | undefined> {
  const { data } = core
  const lease = crypto.randomUUID()
  const taken = await untilMade(async () => {
    const found = await data.read<Subscription>(subscriptionKey(id))
    const { dueAt } = found?.value ?? {}
    if (found === undefined || dueAt === undefined || dueAt > Date.now()) return { entry: undefined }
    const changed = { ...found.value, lease: { id: lease, until: Date.now() + LEASE_MS } }
    const version = await data.commit(toWrites(id, found, changed))
    return version === undefined ? undefined : { entry: written(changed, version) }
  })
  if (taken.entry === undefined) return undefined
  let { entry } = taken
  const reread = async (): Promise<boolean> => {
    const found = await data.read<Subscription>(subscriptionKey(id))
    if (found?.value.lease?.id !== lease) return false
    entry = found
    return true
  }
  return {
    current: () => entry.value,
    reread,
    async change(change, more = () => []) {
      let isCurrent = true
      return untilMade(async () => {
        if (!isCurrent && !(await reread())) return false
        isCurrent = false
        const changed = change(entry.value)
        if (changed === undefined)
          return (await data.commit(removal(id, entry))) === undefined ? undefined : false
        const next = renewed(changed)
        const version = await data.commit([...toWrites(id, entry, next), ...more(next)])
        if (version === undefined) return undefined
        entry = written(next, version)
        return true
      })
    },
  }
}

const written = (value: Subscription, version: string): Entry<Subscription> => ({
  value: { ...value, dueAt: dueAtOf(value) },
  version,
})

/** With a lease that does not end during the next request. */
function renewed(subscription: Subscription): Subscription {
  const { lease } = subscription
  if (lease === undefined || lease.until - Date.now() > LEASE_MS / 2) return subscription
  return { ...subscription, lease: { ...lease, until: Date.now() + LEASE_MS } }
}

/** The writes that delete a subscription, at most two; it may still be listed. */
export function removal(
  id: string,
  { value: { dueAt, host, owner }, version }: Entry<Subscription>,
): KeyedWrite[] {
  return [
    { key: subscriptionKey(id), ifVersion: version },
    ...(dueAt === undefined ? [] : [{ key: dueKey(dueAt, host, owner, id) }]),
  ]
}
