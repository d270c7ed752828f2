/**
 * How often strangers may make the server store or fetch something new, in an hour: by network, and in all. A part of all is kept for
 * networks that come for the first time, so that one with many addresses does not keep everybody else out.
 */
import { digest } from '../../definition/digest.ts'
import { toNetwork } from '../../request/address.ts'
import type { Unit } from '../unit.ts'

const HOUR_MS = 60 * 60 * 1000
const MAX_PER_NETWORK = 30
/** A line has up to 65 536 networks of IPv6 (RFC 6177): those of one /48 together. */
const MAX_PER_SITE = 4 * MAX_PER_NETWORK
/** Of all, over several counters: they change with each request. */
const COUNTERS = 8
const MAX_PER_COUNTER = 250
/** Of those, what is left to networks that come for the first time. */
const KEPT_PER_COUNTER = 63

/** `registered`: clients. `asked`: documents and keys of clients that nobody has signed in with. */
export type Counted = 'registered' | 'asked'

export interface Counting {
  byNetwork(): void
  /** By network, too. */
  inAll(): Promise<void>
}

/** Undefined: too many in this hour. Nothing is counted until one of the functions is called. */
export async function counting(
  kind: Counted,
  address: string | undefined,
  unit: Unit,
): Promise<Counting | undefined> {
  const hour = Math.floor(Date.now() / HOUR_MS)
  const expiresAt = (hour + 2) * HOUR_MS
  const networks = await Promise.all(
    networksOf(address).map(async ([network, most]) => {
      const key = `${kind}:${hour}:from:${(await digest(network)).slice(0, 22)}`
      return { key, most, before: Number((await unit.read(key)) ?? 0) }
    }),
  )
  if (networks.some(({ most, before }) => before >= most)) return undefined
  const shard = `${kind}:${hour}:${Math.floor(Math.random() * COUNTERS)}`
  const isFirst = networks.length > 0 && networks.every(({ before }) => before === 0)
  const mostInAll = isFirst ? MAX_PER_COUNTER : MAX_PER_COUNTER - KEPT_PER_COUNTER
  if (Number((await unit.peek(shard))?.value ?? 0) >= mostInAll) return undefined
  const byNetwork = (): void => {
    for (const { key, before } of networks) unit.put(key, String(before + 1), expiresAt)
  }
  return {
    byNetwork,
    async inAll() {
      byNetwork()
      unit.put(shard, String(Number((await unit.read(shard)) ?? 0) + 1), expiresAt)
    },
  }
}

function networksOf(address: string | undefined): [network: string, most: number][] {
  if (address === undefined) return []
  const own: [string, number] = [toNetwork(address), MAX_PER_NETWORK]
  return address.includes(':') ? [own, [toNetwork(address, 48), MAX_PER_SITE]] : [own]
}
