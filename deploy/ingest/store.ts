/** The store of `--store`, configured by environment variables. */
import { chromaVector } from '../../src/retrieval/stores/chroma.ts'
import { type LibSqlClient, libSqlVector } from '../../src/retrieval/stores/libsql.ts'
import { pgVector } from '../../src/retrieval/stores/pgvector.ts'
import { type PineconeOptions, pineconeVector } from '../../src/retrieval/stores/pinecone.ts'
import { qdrantVector } from '../../src/retrieval/stores/qdrant.ts'
import { upstashVector } from '../../src/retrieval/stores/upstash.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { loadDefault, loadPackage } from './module.ts'
import { type OpenedStore, openSnapshot } from './snapshot.ts'
import { type IngestStore, vectorizeHttp } from './vectorize.ts'

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
