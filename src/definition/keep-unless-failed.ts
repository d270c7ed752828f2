/** What is made once, and made again only after a failure. */

/** Calls `make` at the first use, and keeps its promise for all later ones. If it rejects, the next use calls `make` again. */
export function keepUnlessFailed<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let kept: Promise<Value> | undefined
  return () => {
    kept ??= make().catch((error: unknown) => {
      kept = undefined
      throw error
    })
    return kept
  }
}
