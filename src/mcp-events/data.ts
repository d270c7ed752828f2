/** The store as Events use it: JSON under keys, and commits that are repeated if their answer was lost. */
import { toBase64Url } from '../definition/base64.ts'
import { storeOf } from '../keyed/given-store.ts'
import type { KeyedPage, KeyedStore, KeyedWrite } from '../keyed/store.ts'
import { MAX_WRITES } from '../keyed/store.ts'

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
const FIRST_PAUSE_MS = 10
const LAST_PAUSE_MS = 400

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
      if (writes.length > MAX_WRITES) throw new RangeError(`A commit of ${writes.length} writes.`)
      const opened = await open()
      const version = toBase64Url(crypto.getRandomValues(new Uint8Array(18)))
      // If its answer is lost: the store recognizes the commit by its version.
      const isMade = await opened.commit(version, writes).catch(() => opened.commit(version, writes))
      return isMade ? version : undefined
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
    const longestMs = Math.min(FIRST_PAUSE_MS * 2 ** (number - 1), LAST_PAUSE_MS)
    await new Promise((resolve) => setTimeout(resolve, longestMs * Math.random()))
  }
  throw new ContendedError('Other processes changed the same events at the same time: try again.')
}
