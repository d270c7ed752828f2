/**
 * How much strangers may make the server store and fetch: shares of each hour by network, at three widths, so that no network takes those of
 * others. What all networks together may store is bounded too, but who comes after that is not turned away: the caller does without the store.
 */
import { digest } from '../../definition/digest.ts'
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

/** `registered`: clients. `asked`: documents and keys of clients that nobody has signed in with. `begun`: long requests to sign in. */
export type Counted = 'registered' | 'asked' | 'begun'

export interface Allowance {
  /** Whether it may be stored. */
  readonly isStored: boolean
  count(): Promise<void>
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
  const counters = await countersOf(kind, address)
  const before = await Promise.all(counters.map(({ key }) => unit.read(key)))
  if (counters.some(({ most }, at) => Number(before[at] ?? 0) >= most)) return undefined
  const stored = toCounter(kind, `all:${anyCounter()}`, MAX_STORED, HOUR_MS)
  const isStored = Number((await unit.peek(stored.key))?.value ?? 0) < MAX_STORED
  return {
    isStored,
    async count() {
      for (const counter of isStored ? [...counters, stored] : counters)
        unit.put(counter.key, String(Number((await unit.read(counter.key)) ?? 0) + 1), counter.expiresAt)
    },
  }
}

async function countersOf(kind: Counted, address: string | undefined): Promise<Counter[]> {
  const shares = sharesOf(address)
  if (shares.length === 0) return [toCounter(kind, `unknown:${anyCounter()}`, MAX_UNKNOWN, MINUTE_MS)]
  return Promise.all(
    shares.map(async ({ network, most }) =>
      toCounter(kind, `from:${(await digest(network)).slice(0, 22)}`, most, HOUR_MS),
    ),
  )
}

function toCounter(kind: Counted, name: string, most: number, everyMs: number): Counter {
  const period = Math.floor(Date.now() / everyMs)
  return { key: `${kind}:${period}:${name}`, most, expiresAt: (period + 2) * everyMs }
}

const anyCounter = (): number => Math.floor(Math.random() * COUNTERS)
