/** What checks of tokens found, remembered for a moment: a call whose token was checked shortly before reads nothing. */

import { digest } from '../../definition/digest.ts'
import { setNewest } from '../../definition/set-newest.ts'
import type { GrantStore, GrantWrite } from '../store/store.ts'
import type { Caller } from './verify.ts'

/** Only valid tokens are remembered, so invalid ones displace none. */
const MAX_REMEMBERED = 1000

interface Remembered {
  readonly caller: Caller
  /** The entries that say so. */
  readonly keys: readonly string[]
  readonly until: number
}

/** The checks of one environment. */
export interface Checks {
  /** `check` runs unless its answer is remembered; it reads the store that `watched` returns. */
  run(resource: string, token: string, check: (watched: Watch) => Promise<Caller>): Promise<Caller>
  /** The store for everything else: what it deletes here is forgotten at once. */
  forgetting(store: GrantStore): GrantStore
}

export type Watch = (store: GrantStore) => GrantStore

export function createChecks(cacheMs: number): Checks {
  const known = new Map<string, Remembered>()
  let deletions = 0
  const forget = (writes: readonly GrantWrite[]): void => {
    const deleted = writes.filter(({ value, isCheck }) => value === undefined && isCheck !== true)
    if (deleted.length === 0) return
    deletions++
    const gone = new Set(deleted.map(({ key }) => key))
    for (const [id, { keys }] of known) if (keys.some((key) => gone.has(key))) known.delete(id)
  }
  return {
    async run(resource, token, check) {
      const id = await digest(JSON.stringify([resource, token]))
      const now = Date.now()
      const remembered = known.get(id)
      if (remembered !== undefined && remembered.until > now) return remembered.caller
      known.delete(id)
      const keys: string[] = []
      const before = deletions
      const caller = deepFreeze(
        await check((store) => ({
          ...store,
          read(key) {
            keys.push(key)
            return store.read(key)
          },
        })),
      )
      // From before the reads: what ended during them is not accepted for longer.
      const until = Math.min(now + cacheMs, caller.expiresAt * 1000)
      if (until <= now || before !== deletions) return caller
      setNewest(known, id, { caller, keys, until }, MAX_REMEMBERED)
      return caller
    },
    forgetting: (store) => ({
      ...store,
      async commit(version, writes) {
        try {
          return await store.commit(version, writes)
        } finally {
          // Also if the answer was lost: it may be made.
          forget(writes)
        }
      },
    }),
  }
}

/** Several calls have it. It is data of a store: small, and without circles. */
function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}
