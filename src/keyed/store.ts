/** A transactional key-value store. Entries are text under a key, and the writes of a commit are made together or not at all. */
import { isObject } from '../definition/is-object.ts'

/** What a store has under a key. */
export interface KeyedEntry {
  /** Opaque for the store: at most 64 KiB of UTF-8. */
  readonly value: string
  /** Changes with every write. */
  readonly version: string
  /** Milliseconds since the epoch. Undefined: it does not expire. */
  readonly expiresAt?: number | undefined
}

/** One write of a commit. */
export interface KeyedWrite {
  /** 1 to 512 characters, without control characters. */
  readonly key: string
  /** Undefined: the entry is deleted. */
  readonly value?: string | undefined
  /** Milliseconds since the epoch. Undefined: it does not expire. */
  readonly expiresAt?: number | undefined
  /** The version that the entry must have now; null: there must be none. Undefined: it may be anything. */
  readonly ifVersion?: string | null | undefined
  /** Only compares `ifVersion`, and writes nothing. Default false. */
  readonly isCheck?: boolean | undefined
}

/** A part of a list of keys. */
export interface KeyedPage {
  /** May be empty before the last page. */
  readonly keys: readonly string[]
  /** For `after` of the next page. Undefined: this is the last one. */
  readonly next?: string | undefined
}

/**
 * A store of entries, for the option `store` of `signIn` or of Events. What one process commits, all others read. Each function rejects if
 * the store is down, in a time that the store limits: a rejected commit may still be made, and is repeated with the same `version`.
 */
export interface KeyedStore {
  /** Resolves with undefined for an unknown key, and for an entry that has expired. */
  read(key: string): Promise<KeyedEntry | undefined>
  /**
   * Makes all writes or none. `version` is random, chosen by the caller, and becomes the version of every entry that is written. Resolves
   * with false if an entry is not what its write demands; with true also if exactly this commit was made before, which the caller repeats
   * because its answer was lost. At most 25 writes of different keys; keys up to 512 characters, values up to 64 KiB.
   */
  commit(version: string, writes: readonly KeyedWrite[]): Promise<boolean>
  /** Keys with the prefix in the order of their characters: about `limit`, after `after`. */
  list(options: {
    readonly prefix: string
    readonly limit: number
    readonly after?: string | undefined
  }): Promise<KeyedPage>
  /**
   * Milliseconds by which the clock of the store is ahead of this machine's. Called before each operation, so it must answer from memory
   * mostly. Default: none; then the machines' clocks must agree with the store's to within a few seconds.
   */
  clockOffsetMs?(): Promise<number>
  /** Whether the entries exist only in one process, which then needs no `MAYFLY_SECRET`. Default false. */
  readonly isLocal?: boolean
}

/** Maximum writes of one commit. */
export const MAX_WRITES = 25

/** Maximum characters of a key. */
export const MAX_KEY_CHARACTERS = 512

/** Maximum bytes of a value. */
export const MAX_VALUE_BYTES = 65_536

export function isKeyedStore(store: unknown): store is KeyedStore {
  const names = ['read', 'commit', 'list']
  return isObject(store) && names.every((name) => typeof store[name] === 'function')
}
