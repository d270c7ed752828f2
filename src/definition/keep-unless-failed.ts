/** What is made once, and made again only after a failure. */
import { createShare } from './flights.ts'

/**
 * Calls `make` at the first use, and keeps its value for all later ones. If it rejects, the next use calls `make` again; also after 8 seconds
 * without an answer, since on workerd no promise of a request settles that its client has ended.
 *
 * @param what Names it in the TimeoutError of who waits for another request that makes it.
 */
export function keepUnlessFailed<Value>(make: () => Promise<Value>, what: string): () => Promise<Value> {
  const share = createShare<{ readonly value: Value }>(what)
  let kept: { readonly value: Value } | undefined
  const keep = async (): Promise<{ readonly value: Value }> => {
    kept = { value: await make() }
    return kept
  }
  return async () => (kept ?? (await share.run('', keep))).value
}
