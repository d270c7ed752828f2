/** Stores what a provider keeps as JSON, in a storage of strings. */

/**
 * Strings by key: a `Map`, or a thin wrapper over any key-value store. If `delete` resolves with `false` for a missing key, as that of
 * a `Map` does, a redirect that reaches several processes at once is accepted by only one of them, and only one refreshes tokens at a time.
 * With any other `delete`, processes may refresh at the same moment, which signs the user out where refresh tokens are rotated.
 */
export interface OAuthStorage {
  get(key: string): string | null | undefined | Promise<string | null | undefined>
  set(key: string, value: string): unknown
  delete(key: string): unknown
}

export interface ProviderStore {
  load<T>(name: string): Promise<T | undefined>
  save(name: string, value: unknown): Promise<void>
  forget(name: string): Promise<void>
  /** Reads a stored value and removes it, so that no other reader gets it. */
  take<T>(name: string, isWanted: (value: T) => boolean): Promise<T | undefined>
}

/** Keys that are being taken in this process, by any provider. */
const taking = new WeakMap<OAuthStorage, Set<string>>()

/** Uses only keys that begin with `base`. */
export function createProviderStore(storage: OAuthStorage, base: () => Promise<string>): ProviderStore {
  let known: Promise<string> | undefined
  const keyOf = async (name: string): Promise<string> => {
    known ??= base()
    return `${await known}:${name}`
  }
  const keysTaken = taking.get(storage) ?? new Set()
  taking.set(storage, keysTaken)
  const load = async <T>(name: string): Promise<T | undefined> => {
    const text = await storage.get(await keyOf(name))
    // Written by `save`, so it has this type.
    return text === null || text === undefined ? undefined : (parse(text, name) as T)
  }
  return {
    load,
    async save(name, value) {
      await storage.set(await keyOf(name), JSON.stringify(value))
    },
    async forget(name) {
      await storage.delete(await keyOf(name))
    },
    async take<T>(name: string, isWanted: (value: T) => boolean) {
      const key = await keyOf(name)
      // The other read is not awaited: on some platforms, waiting for a request that has ended would never end.
      if (keysTaken.has(key)) return undefined
      keysTaken.add(key)
      try {
        const value = await load<T>(name)
        if (value === undefined || !isWanted(value)) return undefined
        return (await storage.delete(key)) === false ? undefined : value
      } finally {
        keysTaken.delete(key)
      }
    },
  }
}

/** The platform's own error quotes the text. */
function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(
      `The storage has something under the key that ends with ":${name}" that is not JSON: delete it.`,
    )
  }
}
