/** The user's store as one server uses it: its own keys, the times of this machine's clock, and a limit of time for each answer. */
import { digest } from '../definition/digest.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import type { KeyedStore, KeyedWrite } from './store.ts'

/**
 * Servers that others own, such as other stages, may share the store: none of them sees another's entries.
 *
 * @param what Names the store in errors: `store of grants`.
 * @param shared Entries that several owners have together, which are not listed. Default: none.
 */
export async function storeOf(
  store: KeyedStore,
  owner: string,
  what: string,
  shared?: Shared,
): Promise<KeyedStore> {
  const own = await prefixOf(owner)
  const common = shared === undefined ? own : await prefixOf(shared.owner)
  const placed = (key: string): string => (shared?.has(key) === true ? common : own) + key
  const inTime = <Value>(answer: Promise<Value>): Promise<Value> =>
    withTimeout(answer, ANSWER_TIMEOUT_MS, what)
  const clock = createStoreClock(store, inTime)
  const toWrites = async (writes: readonly KeyedWrite[]): Promise<KeyedWrite[]> => {
    const offsetMs = await clock()
    return writes.map(({ key, expiresAt, ...write }) => ({
      ...write,
      key: placed(key),
      ...(expiresAt !== undefined && { expiresAt: expiresAt + offsetMs }),
    }))
  }
  /** A commit that is repeated must be the same one, although the clock was measured again meanwhile. */
  const known = new WeakMap<readonly KeyedWrite[], KeyedWrite[]>()
  return {
    clockOffsetMs: clock,
    async read(key) {
      const [offsetMs, entry] = await Promise.all([clock(), inTime(store.read(placed(key)))])
      if (entry?.expiresAt === undefined) return entry
      return { ...entry, expiresAt: entry.expiresAt - offsetMs }
    },
    async commit(version, writes) {
      const made = known.get(writes) ?? (await toWrites(writes))
      known.set(writes, made)
      return inTime(store.commit(version, made))
    },
    async list({ prefix, limit, after }) {
      const start = after === undefined ? {} : { after: own + after }
      const { keys, next } = await inTime(store.list({ prefix: own + prefix, limit, ...start }))
      // Reading all pages would never end.
      if (next !== undefined && !(next > (start.after ?? own + prefix)))
        throw new TypeError(`"list" of the ${what} must return a "next" that is after "after".`)
      return {
        keys: keys.map((key) => key.slice(own.length)),
        ...(next !== undefined && { next: next.slice(own.length) }),
      }
    },
  }
}

/** Whose they are, and which. */
export interface Shared {
  readonly owner: string
  has(key: string): boolean
}

const prefixOf = async (owner: string): Promise<string> => `${(await digest(owner)).slice(0, 16)}:`

/** @returns How far it is ahead: 0 for a store that does not tell. An answer that is not a number changes nothing. */
function createStoreClock(
  store: KeyedStore,
  inTime: <Value>(answer: Promise<Value>) => Promise<Value>,
): () => Promise<number> {
  let lastMs = 0
  return async () => {
    if (store.clockOffsetMs === undefined) return 0
    const offsetMs = Math.round(await inTime(store.clockOffsetMs()))
    if (Number.isSafeInteger(offsetMs)) lastMs = offsetMs
    return lastMs
  }
}
