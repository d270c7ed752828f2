/** The store of `--store`, configured by environment variables. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  createMemoryVectorStore,
  type MemorySnapshot,
  type MemoryVectorStore,
} from '../../src/retrieval/memory-store.ts'
import { chromaVector } from '../../src/retrieval/stores/chroma.ts'
import { type LibSqlClient, libSqlVector } from '../../src/retrieval/stores/libsql.ts'
import { pgVector } from '../../src/retrieval/stores/pgvector.ts'
import { type PineconeOptions, pineconeVector } from '../../src/retrieval/stores/pinecone.ts'
import { qdrantVector } from '../../src/retrieval/stores/qdrant.ts'
import { upstashVector } from '../../src/retrieval/stores/upstash.ts'
import { withLock } from '../project/lock.ts'
import { isWritable, writeWhole } from '../project/written-file.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { isSystemError, systemError } from '../terminal/system-error.ts'
import { loadDefault, loadPackage } from './module.ts'
import { type IngestStore, vectorizeHttp } from './vectorize.ts'

export interface OpenedStore {
  readonly store: IngestStore
  /** Writes a store in memory to its file. */
  save(): Promise<void>
}

const NAMED: { readonly [name: string]: (cwd: string) => IngestStore | Promise<IngestStore> } = {
  pgvector: () => pgVector({ connectionString: variable('DATABASE_URL') }),
  libsql: async (cwd) => {
    const { createClient } = (await loadPackage(cwd, '@libsql/client')) as {
      createClient(config: { url: string; authToken?: string }): LibSqlClient
    }
    const authToken = process.env.LIBSQL_AUTH_TOKEN
    return libSqlVector({
      client: createClient({ url: variable('LIBSQL_URL'), ...(authToken && { authToken }) }),
    })
  },
  upstash: () =>
    upstashVector({ url: variable('UPSTASH_VECTOR_REST_URL'), token: variable('UPSTASH_VECTOR_REST_TOKEN') }),
  pinecone: () => pineconeVector({ apiKey: variable('PINECONE_API_KEY'), ...serverless() }),
  qdrant: () => qdrantVector({ url: variable('QDRANT_URL'), ...apiKey('QDRANT_API_KEY') }),
  vectorize: () =>
    vectorizeHttp({
      accountId: variable('CLOUDFLARE_ACCOUNT_ID'),
      apiToken: variable('CLOUDFLARE_API_TOKEN'),
      ...(process.env.CLOUDFLARE_API_BASE_URL && { url: process.env.CLOUDFLARE_API_BASE_URL }),
    }),
  chroma: () =>
    chromaVector({
      ...(process.env.CHROMA_URL && { url: process.env.CHROMA_URL }),
      ...apiKey('CHROMA_API_KEY'),
    }),
}

/** Throws `CliError` for a missing variable, or if a module does not export a store. */
export async function openStore(cwd: string, name: string): Promise<OpenedStore> {
  if (name.endsWith('.json')) return openSnapshot(cwd, name)
  const store = Object.hasOwn(NAMED, name)
    ? await NAMED[name]!(cwd)
    : ((await loadDefault(cwd, name, 'a vector store')) as IngestStore)
  for (const method of ['createIndex', 'upsert', 'deleteVectors', 'describeIndex', 'listIds'] as const)
    if (typeof store[method] !== 'function')
      throw new CliError(
        `the store of ${printable(name)} has no ${method}(), which ingest needs: use a store of mayfly-mcp/retrieval (pgvector and libsql fill indexes of Mastra’s PgVector and LibSQLVector)`,
      )
  return { store, save: async () => {} }
}

function openSnapshot(cwd: string, name: string): OpenedStore {
  const path = resolve(cwd, name)
  const read = (): string | undefined => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)
  const open = (text: string | undefined): MemoryVectorStore =>
    createMemoryVectorStore(text === undefined ? undefined : parseSnapshot(text, name))
  const stats = statSync(path, { throwIfNoEntry: false })
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
    const temporary = `${path}.${randomUUID()}.tmp`
    try {
      for (let isWritten = false; !isWritten; ) {
        const before = read()
        const merged = before === opened ? store : open(before)
        if (merged !== store) for (const change of changes) await change(merged)
        rmSync(temporary, { force: true })
        writeWhole(temporary, JSON.stringify(merged.snapshot()), statSync(path, { throwIfNoEntry: false }))
        withLock(`${path}.mayfly-lock`, toLocked, (isHeld) => {
          if (read() !== before || !isHeld()) return
          // Atomic, since a server may be reading it.
          renameSync(temporary, path)
          isWritten = true
        })
      }
    } catch (error) {
      rmSync(temporary, { force: true })
      throw isSystemError(error) ? systemError(`cannot write ${printable(name)}`, error) : error
    }
  }
  const toLocked = (reason: string): CliError => new CliError(`${printable(name)} ${reason}`)
  return {
    store: {
      createIndex: recorded((to, params) => to.createIndex(params)),
      upsert: recorded((to, params) => to.upsert(params)),
      deleteVectors: recorded((to, params) => to.deleteVectors(params)),
      describeIndex: (params) => store.describeIndex(params),
      listIds: (params) => store.listIds(params),
    },
    save,
  }
}

function parseSnapshot(text: string, name: string): MemorySnapshot {
  try {
    const snapshot = JSON.parse(text) as Partial<MemorySnapshot> | null
    if (snapshot?.version === 1 && typeof snapshot.indexes === 'object') return snapshot as MemorySnapshot
  } catch {}
  throw new CliError(`${printable(name)} is not an index of mayfly ingest: pass another file, or delete it`)
}

function variable(name: string): string {
  const value = process.env[name]
  if (value) return value
  throw new CliError(`${name} is not set: put it into .env, or into the environment`)
}

/** Only for an index that does not exist yet. */
function serverless(): Pick<PineconeOptions, 'serverless'> {
  const { PINECONE_CLOUD: cloud, PINECONE_REGION: region } = process.env
  return cloud && region ? { serverless: { cloud, region } } : {}
}

function apiKey(name: string): { apiKey?: string } {
  const value = process.env[name]
  return value ? { apiKey: value } : {}
}
