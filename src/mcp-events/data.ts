/** The store as Events use it: JSON under keys, and commits that are repeated if their answer was lost. */
import { type Backoff, backoffMs } from '../definition/backoff.ts'
import { pause } from '../definition/pause.ts'
import { storeOf } from '../keyed/given-store.ts'
import { repeatedCommit } from '../keyed/repeated-commit.ts'
import type { KeyedPage, KeyedStore, KeyedWrite } from '../keyed/store.ts'

/** What was read, and the version that a write of it demands. */
export interface Entry<Value> {
  readonly value: Value
  readonly version: string
  readonly expiresAt?: number | undefined
}

export interface Data {
  read<Value>(key: string): Promise<Entry<Value> | undefined>
  /**
   * The version of all entries that were written. Undefined: something changed that a write demanded.
   *
   * @throws the error of the store: the commit may have been made.
   */
  commit(writes: readonly KeyedWrite[]): Promise<string | undefined>
  keys(prefix: string, limit: number, after?: string): Promise<KeyedPage>
}

/** Attempts of a change whose entries others change at the same time: about 3 seconds. */
const MAX_ATTEMPTS = 12
const CONTENTION: Backoff = { firstMs: 10, maxMs: 400 }

/** Others changed the same entries at each attempt. */
export class ContendedError extends Error {
  override readonly name = 'ContendedError'
  readonly code = 'events_contended'
}

export function createData(store: KeyedStore, tag: () => string): Data {
  let opening: Promise<KeyedStore> | undefined
  const open = (): Promise<KeyedStore> => {
    opening ??= storeOf(store, `events of ${tag()}`, 'store of events')
    return opening
  }
  return {
    async read<Value>(key: string) {
      const entry = await (await open()).read(key)
      return entry && { ...entry, value: JSON.parse(entry.value) as Value }
    },
    async commit(writes) {
      return repeatedCommit(await open(), writes)
    },
    async keys(prefix, limit, after) {
      return (await open()).list({ prefix, limit, ...(after !== undefined && { after }) })
    },
  }
}

/**
 * Calls `attempt` until it resolves with something, after random pauses.
 *
 * @throws ContendedError after the last attempt.
 */
export async function untilMade<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let number = 1; number <= MAX_ATTEMPTS; number++) {
    const result = await attempt()
    if (result !== undefined) return result
    await pause(backoffMs(number, CONTENTION) * Math.random())
  }
  throw new ContendedError('Other processes changed the same events at the same time: try again.')
}
