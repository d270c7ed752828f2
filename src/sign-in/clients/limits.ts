/**
 * How much strangers may make the server store and fetch: shares by network, at three widths, so that no network takes those of
 * others. What all networks together may store is bounded too, but who comes after that is not turned away: the caller does without the store.
 */
import { digest } from '../../definition/digest.ts'
import type { Shared } from '../../keyed/given-store.ts'
import type { Unit } from '../unit.ts'
import { sharesOf } from './networks.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** What is counted for all is, over several counters: they change with each request. */
const COUNTERS = 8
/** What all together may store in an hour, for each counter. */
const MAX_STORED = 250
/** What callers without a known address may do together, for each counter: in a minute, so that nobody takes an hour of the others. */
const MAX_UNKNOWN = 15

/**
 * `registered`: clients. `asked`: documents and keys of clients that nobody has signed in with. `begun`: long requests to sign in. `refused`:
 * codes that the provider did not accept.
 */
export type Counted = 'registered' | 'asked' | 'begun' | 'refused'

/** For how long a network's share is. Those who share its address with an attacker wait for as long to sign in. */
const PERIODS: { readonly [kind in Counted]: number } = {
  registered: HOUR_MS,
  asked: HOUR_MS,
  begun: HOUR_MS,
  refused: MINUTE_MS,
}

/** Without the dot that a name may end with. */
export const hostOf = (issuer: string): string => new URL(issuer).hostname.replace(/\.$/, '')

const COUNTER = /^(?:registered|asked|begun|refused):/

/**
 * Counters are for a host, not for an issuer: where the platform names the host and the operator no URL, each path and port that a stranger
 * makes up is another issuer.
 */
export const countersOfHost = (issuer: string): Shared => ({
  owner: `counters of ${hostOf(issuer)}`,
  has: (key) => COUNTER.test(key),
})

/** Attempts of a unit that counts: a whole network may come at once, and its counters are few. They take about 5 seconds at most. */
export const COUNTING_ATTEMPTS = 24

export interface Allowance {
  /** Whether it may be stored. */
  readonly isStored: boolean
  count(): Promise<void>
  /** Takes back what was counted, in a later unit. */
  giveBack(later: Unit): Promise<void>
}

interface Counter {
  readonly key: string
  readonly most: number
  readonly expiresAt: number
}

/** Undefined: too many of this network, for now. Nothing is counted until `count` is called. */
export async function allowanceOf(
  kind: Counted,
  address: string | undefined,
  unit: Unit,
): Promise<Allowance | undefined> {
  const widths = await countersOf(kind, address)
  const counters = await Promise.all(widths.map((all) => withRoom(all, unit)))
  if (counters.includes(undefined)) return undefined
  // Codes are not stored.
  const stored =
    kind === 'refused' ? undefined : toCounter(kind, `all:${anyOf(COUNTERS)}`, MAX_STORED, PERIODS[kind])
  const isStored = stored === undefined || Number((await unit.peek(stored.key))?.value ?? 0) < MAX_STORED
  const counted = isStored ? [...counters, stored] : counters
  const add = async (to: Unit, change: number): Promise<void> => {
    for (const counter of counted) {
      if (counter === undefined) continue
      const count = Number((await to.read(counter.key)) ?? 0) + change
      if (count >= 0) to.put(counter.key, String(count), counter.expiresAt)
    }
  }
  return { isStored, count: () => add(unit, 1), giveBack: (later) => add(later, -1) }
}

/** One of a network's counters that is not full. */
async function withRoom(counters: readonly Counter[], unit: Unit): Promise<Counter | undefined> {
  const counts = await Promise.all(
    counters.map(async ({ key }) => Number((await unit.peek(key))?.value ?? 0)),
  )
  const open = counters.filter(({ most }, at) => counts[at]! < most)
  const counter = open[anyOf(open.length)]
  // It is compared when the unit is written: what others do meanwhile counts.
  return counter !== undefined && Number((await unit.read(counter.key)) ?? 0) < counter.most
    ? counter
    : undefined
}

/** The counters of each width. */
async function countersOf(kind: Counted, address: string | undefined): Promise<Counter[][]> {
  const shares = sharesOf(address)
  if (shares.length === 0) return [[toCounter(kind, `unknown:${anyOf(COUNTERS)}`, MAX_UNKNOWN, MINUTE_MS)]]
  return Promise.all(
    shares.map(async ({ network, counters, most }) => {
      const name = `from:${(await digest(network)).slice(0, 22)}`
      return Array.from({ length: counters }, (_, at) =>
        toCounter(kind, `${name}:${at}`, most, PERIODS[kind]),
      )
    }),
  )
}

function toCounter(kind: Counted, name: string, most: number, everyMs: number): Counter {
  const period = Math.floor(Date.now() / everyMs)
  return { key: `${kind}:${period}:${name}`, most, expiresAt: (period + 2) * everyMs }
}

const anyOf = (count: number): number => Math.floor(Math.random() * count)
