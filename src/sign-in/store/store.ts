/** Where sign-in stores what it knows: clients, grants, tokens (as hashes), consents and sealed tokens of the upstream. */
import {
  isKeyedStore,
  type KeyedEntry,
  type KeyedPage,
  type KeyedStore,
  type KeyedWrite,
} from '../../keyed/store.ts'

/** What a store of grants has under a key. */
export type GrantEntry = KeyedEntry

/** A part of a list of keys. */
export type GrantPage = KeyedPage

/** Where grants are stored, for the option `store` of `signIn`. */
export type GrantStore = KeyedStore

/** One write of a commit. */
export type GrantWrite = KeyedWrite

/** @throws TypeError unless it is a store. */
export function requireGrantStore(where: string, store: unknown): asserts store is GrantStore {
  if (isKeyedStore(store)) return
  throw new TypeError(
    `${where} needs a store of grants: postgresGrants(…), redisGrants(…), dynamoGrants(…), durableObjectGrants(…) or createMemoryGrants().`,
  )
}
