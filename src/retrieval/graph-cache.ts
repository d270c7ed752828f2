/** Graphs by what they were built from, limited in bytes; the least recently used one is removed first. */
import type { ChunkGraph } from './graph.ts'

/** A graph of all chunks, or `partial`: the index has too many for one graph. */
export type Cached = ChunkGraph | 'partial'

interface Entry {
  readonly version: string
  readonly graph: Cached
  readonly expiresAt: number
}

const ENTRY_BYTES = 200

export class GraphCache {
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  get(key: string, version: string): Cached | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#delete(key, entry)
    if (entry.version !== version || Date.now() >= entry.expiresAt) return undefined
    this.#add(key, entry)
    return entry.graph
  }

  /** Stores a graph, unless it is larger than the whole cache. */
  set(key: string, entry: Entry): void {
    const old = this.#entries.get(key)
    if (old !== undefined) this.#delete(key, old)
    if (bytesOf(key, entry) > this.#maxBytes) return
    this.#add(key, entry)
    for (const [first, oldest] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break
      this.#delete(first, oldest)
    }
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry)
    this.#bytes += bytesOf(key, entry)
  }

  #delete(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#bytes -= bytesOf(key, entry)
  }
}

/** Including the key, which contains a filter, and ids. */
function bytesOf(key: string, { graph }: Entry): number {
  return ENTRY_BYTES + 2 * key.length + (graph === 'partial' ? 0 : graph.bytes)
}
