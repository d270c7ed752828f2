/** Makes an index contain exactly these chunks: embeds and adds new ones, and deletes removed ones. */

import { setTimeout as delay } from 'node:timers/promises'
import { isA, memberOf, textOf } from '../../src/definition/error-text.ts'
import { EmbeddingError } from '../../src/retrieval/embed.ts'
import { VectorStoreError } from '../../src/retrieval/store.ts'
import { CliError } from '../terminal/cli-error.ts'
import type { Show } from '../terminal/progress.ts'
import { terminal } from '../terminal/terminal.ts'
import { type Chunk, documentOf } from './chunks.ts'
import type { IngestStore } from './vectorize.ts'

export interface SynchroniseOptions {
  readonly indexName: string
  /** Only ids with this prefix belong to these documents. */
  readonly prefix: string
  readonly embed: (texts: readonly string[]) => Promise<number[][]>
  readonly removes: boolean
  /** Whether more than half of the index may belong to documents that are gone. */
  readonly mayRemoveMost: boolean
  readonly isDryRun: boolean
  /** Says what happens. Default: nothing does. */
  readonly show?: Show
  /** Milliseconds before the first retry. Default 1000. */
  readonly retryMs?: number
}

export interface Changes {
  readonly added: number
  readonly removed: number
  readonly kept: number
  /** Of a dry run: whether a real one would be refused. A warning said why. */
  readonly isRefused?: boolean
}

/** Chunks that are embedded and added together. If interrupted, added chunks stay. */
const BATCH = 64
const ATTEMPTS = 4
const DOCUMENT_LENGTH = documentOf('').length

/** Throws `CliError` if the model or the store keeps failing. */
export async function synchronise(
  store: IngestStore,
  chunks: readonly Chunk[],
  options: SynchroniseOptions,
): Promise<Changes> {
  const { indexName, prefix, embed, show = () => {}, retryMs = 1000 } = options
  const again = <Value>(what: string, act: () => Promise<Value>): Promise<Value> => repeat(what, act, retryMs)
  show('reading the index')
  const existing = await again('listing the index', () => idsOf(store, indexName, prefix))
  const wanted = new Set(chunks.map(({ id }) => id))
  const missing = chunks.filter(({ id }) => existing?.has(id) !== true)
  const gone = options.removes ? [...(existing ?? [])].filter((id) => !wanted.has(id)) : []
  const documents = new Set(chunks.map(({ metadata }) => documentOf(metadata.source)))
  // A chunk of a document that is still there is replaced.
  const lost = gone.filter((id) => !documents.has(id.slice(prefix.length, prefix.length + DOCUMENT_LENGTH)))
  const isRefused = lost.length > (existing?.size ?? 0) / 2 && !options.mayRemoveMost
  if (isRefused) {
    const why = `${lost.length} of the ${existing?.size} chunks named ${prefix.slice(0, -1)} are of documents that are not here, and would be removed: pass --remove-most if they may go, or another --name to keep them`
    if (!options.isDryRun) throw new CliError(why)
    terminal.warn(why)
  }
  const changes = { added: missing.length, removed: gone.length, kept: chunks.length - missing.length }
  if (options.isDryRun) return { ...changes, isRefused }
  let isCreated = existing !== undefined
  for (let at = 0; at < missing.length; at += BATCH) {
    show('embedding', `${at} of ${missing.length} chunks`)
    const batch = missing.slice(at, at + BATCH)
    const vectors = await again('embedding', () => embed(batch.map(({ input }) => input)))
    if (!isCreated)
      await again('creating the index', () => store.createIndex({ indexName, dimension: vectors[0]!.length }))
    isCreated = true
    await again('adding to the index', () =>
      store.upsert({
        indexName,
        vectors,
        ids: batch.map(({ id }) => id),
        metadata: batch.map(({ metadata }) => metadata),
      }),
    )
  }
  // Last, so that no chunk is missing in the meantime.
  if (gone.length > 0) {
    show('removing', `${gone.length} chunks`)
    await again('removing from the index', () => store.deleteVectors({ indexName, ids: gone }))
  }
  return changes
}

/** Undefined if the index does not exist. */
async function idsOf(
  store: IngestStore,
  indexName: string,
  prefix: string,
): Promise<Set<string> | undefined> {
  try {
    return new Set(await store.listIds({ indexName, prefix }))
  } catch (error) {
    if (isA(error, VectorStoreError) && error.code === 'NO_INDEX') return undefined
    throw error
  }
}

async function repeat<Value>(what: string, act: () => Promise<Value>, retryMs: number): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act()
    } catch (error) {
      const message = textOf(error)
      const cause = memberOf(error, 'cause')
      const reason = cause === undefined ? message : `${message} (${textOf(cause)})`
      if (attempt === ATTEMPTS || !mayPass(error))
        throw new CliError(`${what} failed: ${reason.replaceAll('\n', ' ')}`)
      await delay(retryMs * 2 ** (attempt - 1))
    }
  }
}

/** Does not retry errors that would repeat. */
function mayPass(error: unknown): boolean {
  if (isA(error, TypeError) && !/fetch failed/.test(error.message)) return false
  const status = memberOf(error, 'status')
  const code = memberOf(error, 'code')
  // For example a missing key.
  if (isA(error, EmbeddingError) && status === undefined) return false
  if (typeof status === 'number') return status === 408 || status === 429 || status >= 500
  return code !== 'WRONG_DIMENSION' && code !== 'UNSUPPORTED_FILTER' && code !== 'NO_INDEX'
}
