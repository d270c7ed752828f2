/** A commit as the users of a store make it. */
import { randomBase64Url } from '../definition/base64.ts'
import { type KeyedStore, type KeyedWrite, MAX_WRITES } from './store.ts'

/**
 * Makes all writes or none. If the answer is lost, it is repeated: the store recognizes the commit by its version.
 *
 * @returns The version of all entries that were written. Undefined: an entry is not what its write demands.
 * @throws the error of the store: the commit may have been made.
 */
export async function repeatedCommit(
  store: KeyedStore,
  writes: readonly KeyedWrite[],
): Promise<string | undefined> {
  if (writes.length > MAX_WRITES) throw new RangeError(`A commit of ${writes.length} writes.`)
  const version = randomBase64Url(18)
  const attempt = async (): Promise<string | undefined> =>
    (await store.commit(version, writes)) ? version : undefined
  return attempt().catch(attempt)
}
