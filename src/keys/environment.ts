/** API keys in a variable, for platforms without a store. */
import { textOf } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import { type KeyStore, type StoredKey, sameId, toStoredKey } from './store.ts'

/** The variable that `mayfly keys` writes. */
export const KEYS_VARIABLE = 'MAYFLY_API_KEYS'

const NOT_SET =
  'MAYFLY_API_KEYS is not set: pass it, as in node --env-file=.env, or set it on the platform. mayfly keys create writes it into .env.'

/**
 * The keys of the variable `MAYFLY_API_KEYS`: a JSON list of what a store has of each key, which contains hashes and no keys. They change
 * with a deployment, and when they were last used is not stored. An entry that cannot be read lets no one in and is named in the log;
 * the others are served. Two entries with one id let no one in either.
 *
 * ```ts
 * apiKeys({ store: environmentKeyStore })
 * ```
 *
 * @param env The platform's environment.
 */
export function environmentKeyStore(env: object): KeyStore {
  const { keys, fault } = keysIn((env as { readonly [name: string]: unknown } | undefined)?.[KEYS_VARIABLE])
  const refuse = async (): Promise<never> => {
    throw new TypeError(`Keys in ${KEYS_VARIABLE} change with a deployment: use mayfly keys.`)
  }
  return {
    read: async (id) => keys.get(id),
    list: async () => ({ keys: [...keys.values()] }),
    create: refuse,
    revoke: refuse,
    fault,
    variable: KEYS_VARIABLE,
  }
}

function keysIn(text: unknown): { readonly keys: ReadonlyMap<string, StoredKey>; readonly fault?: string } {
  const keys = new Map<string, StoredKey>()
  if (text === undefined) return { keys, fault: NOT_SET }
  if (typeof text !== 'string' || text.trim() === '')
    return { keys, fault: `${KEYS_VARIABLE} has no keys: make one with mayfly keys create.` }
  let entries: unknown
  try {
    entries = JSON.parse(text)
  } catch {
    // Left undefined: the error of JSON.parse would show a part of the value.
  }
  if (!Array.isArray(entries)) return { keys, fault: `${KEYS_VARIABLE} is not a JSON list of keys.` }
  const faults: string[] = []
  const repeated = new Set<string>()
  for (const [index, entry] of entries.entries()) {
    try {
      const key = toStoredKey(entry)
      const other = keys.get(key.id)
      if (other !== undefined) {
        faults.push(sameId(other, key))
        repeated.add(key.id)
      } else keys.set(key.id, key)
    } catch (error) {
      const isNamed = isObject(entry) && (entry.name ?? entry.id) !== undefined
      faults.push(`${isNamed ? '' : `Entry ${index + 1}: `}${textOf(error)}`)
    }
  }
  for (const id of repeated) keys.delete(id)
  return { keys, ...(faults.length > 0 && { fault: `${KEYS_VARIABLE}: ${faults.join(' ')}` }) }
}
