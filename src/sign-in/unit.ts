/**
 * What one request reads and writes: the writes are kept until the response is known, and then made together, if nothing that was read has
 * changed meanwhile. So codes and tokens are used once, and a process that dies in between leaves nothing half done.
 */
import { type Backoff, backoffMs } from '../definition/backoff.ts'
import { isObject } from '../definition/is-object.ts'
import { pause } from '../definition/pause.ts'
import { repeatedCommit } from '../keyed/repeated-commit.ts'
import { MAX_VALUE_BYTES } from '../keyed/store.ts'
import type { GrantEntry, GrantStore, GrantWrite } from './store/store.ts'
import type { LibraryStore } from './tokens/library.ts'

/** Attempts for one request whose entries others change at the same time. */
const MAX_ATTEMPTS = 8
/** Milliseconds before the second attempt, at most, and before a later one. Random: those that met do not meet again. */
const CONTENTION: Backoff = { firstMs: 20, maxMs: 400 }

/** The keys of clients with a document, or whose id contains their registration. The ids of stored ones are short. */
const ELSEWHERE = /^client:(https:.+|.{100,})$/

/** Requests that write the same entries came at once, or the store is down: the client may try again. */
export class SignInBusyError extends Error {
  override readonly name = 'SignInBusyError'
  readonly code = 'sign_in_busy'
}

/** What is to be stored does not fit into an entry: trying again does not help. */
export class EntryTooLargeError extends RangeError {
  override readonly name = 'EntryTooLargeError'
  readonly bytes: number
  constructor(bytes: number) {
    super(`An entry of sign-in would have ${bytes} bytes: at most ${MAX_VALUE_BYTES} fit.`)
    this.bytes = bytes
  }
}

export interface Unit {
  /** Nothing is written if the entry changes before `commit`. */
  read(key: string): Promise<string | undefined>
  /** The entry may change meanwhile. */
  peek(key: string): Promise<GrantEntry | undefined>
  /**
   * @param expiresAt Milliseconds since the epoch. Undefined: never.
   * @throws EntryTooLargeError
   */
  put(key: string, value: string, expiresAt?: number): void
  delete(key: string): void
  /** What `put` was given for a key. */
  pending(key: string): string | undefined
  readonly library: LibraryStore
}

/**
 * Runs `work` and makes its writes; again from the start if others were faster.
 *
 * @param client Finds clients that are not in the store: those with a URL or a long id.
 * @param attempts Default 8, in about 2 seconds.
 * @throws SignInBusyError after the last attempt.
 */
export async function inOneUnit<Result>(
  store: GrantStore,
  client: (id: string) => Promise<object | undefined>,
  work: (unit: Unit) => Promise<Result>,
  attempts: number = MAX_ATTEMPTS,
): Promise<Result> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const seen = new Map<string, GrantEntry | undefined>()
    const writes = new Map<string, { value?: string; expiresAt?: number | undefined }>()
    const result = await work(createUnit(store, client, seen, writes))
    if (writes.size === 0 || (await commit(store, toWrites(seen, writes)))) return result
    await pause(backoffMs(attempt, CONTENTION) * Math.random())
  }
  throw new SignInBusyError('Other requests changed the same entries.')
}

/** Whether the writes were made. */
export async function commit(store: GrantStore, writes: readonly GrantWrite[]): Promise<boolean> {
  return (await repeatedCommit(store, writes)) !== undefined
}

type Seen = ReadonlyMap<string, GrantEntry | undefined>
type Pending = ReadonlyMap<string, { value?: string; expiresAt?: number | undefined }>

function toWrites(seen: Seen, writes: Pending): GrantWrite[] {
  const demanded = (key: string) => (seen.has(key) ? { ifVersion: seen.get(key)?.version ?? null } : {})
  return [
    ...[...writes].map(([key, write]) => ({ key, ...write, ...demanded(key) })),
    ...[...seen.keys()]
      .filter((key) => !writes.has(key))
      .map((key) => ({ key, isCheck: true, ...demanded(key) })),
  ]
}

function createUnit(
  store: GrantStore,
  client: (id: string) => Promise<object | undefined>,
  seen: Map<string, GrantEntry | undefined>,
  writes: Map<string, { value?: string; expiresAt?: number | undefined }>,
): Unit {
  const read = async (key: string): Promise<string | undefined> => {
    const pending = writes.get(key)
    if (pending !== undefined) return pending.value
    if (!seen.has(key)) seen.set(key, await store.read(key))
    return seen.get(key)?.value
  }
  const put = (key: string, value: string, expiresAt?: number): void => {
    const bytes = new TextEncoder().encode(value).length
    if (bytes > MAX_VALUE_BYTES) throw new EntryTooLargeError(bytes)
    writes.set(key, { value, expiresAt })
  }
  const remove = (key: string): void => {
    writes.set(key, {})
  }
  return {
    read,
    peek: (key) => store.read(key),
    put,
    delete: remove,
    pending: (key) => writes.get(key)?.value,
    library: {
      async get(key, options) {
        const id = ELSEWHERE.exec(key)?.[1]
        const found = id === undefined ? await read(key) : JSON.stringify(await client(id))
        if (found === undefined) return null
        if (options?.type !== 'json') return found
        return key.startsWith('grant:') ? withoutPrevious(JSON.parse(found)) : JSON.parse(found)
      },
      async put(key, value, { expirationTtl, expiration } = {}) {
        if (expirationTtl !== undefined) put(key, value, Date.now() + expirationTtl * 1000)
        else put(key, value, expiration === undefined ? undefined : expiration * 1000)
      },
      async delete(key) {
        remove(key)
        // The provider's tokens end with the connection.
        if (key.startsWith('grant:')) remove(key.replace('grant:', 'upstream:'))
      },
      // Asked only for the tokens of a grant that ends: they end with it, since each check of a token reads its grant.
      async list() {
        return { keys: [], list_complete: true }
      },
    },
  }
}

/** The library takes the refresh token before the last one for as long as that one is not used. Here it is answered from a record. */
function withoutPrevious(grant: unknown): unknown {
  if (!isObject(grant)) return grant
  const { previousRefreshTokenId: _id, previousRefreshTokenWrappedKey: _key, ...rest } = grant
  return rest
}
