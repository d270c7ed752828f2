/** A file with a store in memory, as `mayfly ingest --store index.json` writes it. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  createMemoryVectorStore,
  type MemorySnapshot,
  type MemoryVectorStore,
} from '../../src/retrieval/memory-store.ts'
import { whyNotWritten } from '../project/owner.ts'
import { isWritable, replaceFile } from '../project/written-file.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { isSystemError, systemError } from '../terminal/system-error.ts'
import type { IngestStore } from './vectorize.ts'

export interface OpenedStore {
  readonly store: IngestStore
  /** Writes a store in memory to its file. */
  save(): Promise<void>
}

/** Throws `CliError` for a file that is read-only, or not of `mayfly ingest`. */
export function openSnapshot(cwd: string, name: string): OpenedStore {
  const path = resolve(cwd, name)
  const read = (): string | undefined => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)
  const open = (text: string | undefined): MemoryVectorStore =>
    createMemoryVectorStore(text === undefined ? undefined : parseSnapshot(text, name))
  const stats = statSync(path, { throwIfNoEntry: false })
  const reason = whyNotWritten(path)
  if (reason !== undefined) throw new CliError(`${printable(name)} ${reason}`)
  if (stats !== undefined && !isWritable(path, stats))
    throw new CliError(`${printable(name)} is read-only: make it writable, or pass another file`)
  const opened = read()
  const store = open(opened)
  const changes: ((to: MemoryVectorStore) => Promise<unknown>)[] = []
  const recorded =
    <Params>(act: (to: MemoryVectorStore, params: Params) => Promise<unknown>) =>
    async (params: Params): Promise<never> => {
      const done = await act(store, params)
      changes.push((to) => act(to, params))
      return done as never
    }

  /** Another process may have written the file meanwhile: its chunks stay. */
  const save = async (): Promise<void> => {
    for (let isReplaced = false; !isReplaced; ) {
      const before = read()
      const merged = before === opened ? store : open(before)
      if (merged !== store) for (const change of changes) await change(merged)
      isReplaced = replaceFile(path, JSON.stringify(merged.snapshot()), {
        stats: statSync(path, { throwIfNoEntry: false }),
        isUnchanged: () => read() === before,
        toError: (reason) => new CliError(`${printable(name)} ${reason}`),
      })
    }
  }
  return {
    store: {
      createIndex: recorded((to, params) => to.createIndex(params)),
      upsert: recorded((to, params) => to.upsert(params)),
      deleteVectors: recorded((to, params) => to.deleteVectors(params)),
      describeIndex: (params) => store.describeIndex(params),
      listIds: (params) => store.listIds(params),
    },
    save: () =>
      save().catch((error: unknown) => {
        throw isSystemError(error) ? systemError(`cannot write ${printable(name)}`, error) : error
      }),
  }
}

function parseSnapshot(text: string, name: string): MemorySnapshot {
  try {
    const snapshot = JSON.parse(text) as Partial<MemorySnapshot> | null
    if (snapshot?.version === 1 && typeof snapshot.indexes === 'object') return snapshot as MemorySnapshot
  } catch {}
  throw new CliError(`${printable(name)} is not an index of mayfly ingest: pass another file, or delete it`)
}
