/**
 * Postgres with the extension pgvector, by any driver: `pg`, `postgres`, Neon's over HTTP, PGlite, or a function that runs SQL.
 * Tables of Mastra's PgVector can be read and filled.
 */
import { memberOf, textOf } from '../../definition/error-text.ts'
import { type Names, requireOptions } from '../../definition/unknown-option.ts'
import { checkedStore, QUERY_OPTIONS } from '../checked-store.ts'
import {
  type CreateIndexParams,
  checkIndexName,
  checkTopK,
  checkVector,
  conditionOf,
  type Metric,
  type QueryParams,
  type QueryResult,
  toRows,
  type VectorStore,
  VectorStoreError,
  withCause,
} from '../store.ts'
import { type QueryingClient, type Rows, type RunSql, toRun, type UnsafeClient } from './pg-client.ts'
import { PgParameters, toPgCondition } from './pg-filter.ts'

export interface PgVectorOptions {
  readonly client?: QueryingClient | UnsafeClient | RunSql
  /** Connects with the package `postgres`, which must be installed. */
  readonly connectionString?: string
  /** Default: the first of the connection's search path. */
  readonly schema?: string
  /** For every index of this store. Default `cosine`. */
  readonly metric?: Metric
  /** How a new index is searched; `none` compares every row. Default `hnsw`, and `none` above 2000 dimensions. */
  readonly index?: 'hnsw' | 'ivfflat' | 'none'
  /** Whether a search with a filter continues until it has enough rows. Needs pgvector 0.8. Default true. */
  readonly iterativeScan?: boolean
}

export interface PgVectorQueryParams extends QueryParams {
  /** Excludes rows with a lower score. */
  readonly minScore?: number
  /** Candidates of an `hnsw` index, up to 1000. Default: `topK`, but at least 40. */
  readonly ef?: number
  /** Compares every row, without an index. Default false. */
  readonly exact?: boolean
  /** Lists of an `ivfflat` index that are searched. */
  readonly probes?: number
}

const DISTANCES = { cosine: '<=>', euclidean: '<->', dotproduct: '<#>' } as const
const CLASSES = {
  cosine: 'vector_cosine_ops',
  euclidean: 'vector_l2_ops',
  dotproduct: 'vector_ip_ops',
} as const
/** A zero vector has no angle: its distance is NaN, which Postgres sorts after every number. */
const SCORES = {
  cosine: `coalesce(nullif(1 - distance, 'NaN'), 0)`,
  euclidean: '1 / (1 + distance)',
  dotproduct: '-distance',
} as const

/** The maximum dimensions that pgvector can index for its type `vector`. */
const MAX_INDEXED_DIMENSIONS = 2000
const MAX_EF = 1000
const DEFAULT_EF = 40
const ROWS_AT_ONCE = 100

const OPTIONS: Names<PgVectorOptions> = {
  client: 'object',
  connectionString: 'string',
  schema: 'string',
  metric: { cosine: 1, euclidean: 1, dotproduct: 1 },
  index: { hnsw: 1, ivfflat: 1, none: 1 },
  iterativeScan: 'boolean',
}
const QUERY: Names<PgVectorQueryParams> = {
  ...QUERY_OPTIONS,
  minScore: [-Infinity],
  ef: [1],
  exact: 'boolean',
  probes: [1],
}

/**
 * Creates a store on Postgres with pgvector. No statement depends on an earlier one, so it works over HTTP and behind a pooler.
 *
 * @throws TypeError without a client or a connection string.
 *
 * ```ts
 * const store = pgVector({ connectionString: env.DATABASE_URL })
 * ```
 */
export function pgVector(options: PgVectorOptions): VectorStore {
  requireOptions('pgVector', options, OPTIONS)
  const { schema, metric = 'cosine', index = 'hnsw', iterativeScan = true } = options
  if (schema !== undefined) checkIndexName(schema)
  const run = toRun(options)
  const table = (indexName: string): string => {
    const name = `"${checkIndexName(indexName)}"`
    return schema === undefined ? name : `"${schema}".${name}`
  }
  const ask = async (indexName: string, sql: string, parameters: string[] = []): Promise<Rows> => {
    try {
      return await run(sql, parameters)
    } catch (error) {
      throw toStoreError(indexName, error)
    }
  }

  const store: VectorStore = {
    hasExactQuery: true,
    // More rows than an index has candidates are only found by continuing.
    ...(!iterativeScan && index === 'hnsw' && { maxTopK: MAX_EF }),
    async createIndex({ indexName, dimension, metric: given = metric }) {
      if (given !== metric)
        throw new TypeError(
          `This pgVector store compares by "${metric}": pass metric: "${given}" to pgVector.`,
        )
      for (const sql of createStatements(table(indexName), indexName, dimension, { metric, index }))
        await ask(indexName, sql)
      const stats = await this.describeIndex({ indexName })
      if (stats.dimension !== dimension)
        throw new VectorStoreError(
          'WRONG_DIMENSION',
          `The index "${indexName}" exists with ${stats.dimension} dimensions.`,
        )
    },
    async upsert(params) {
      const name = table(params.indexName)
      // By id, since one statement must not change a row twice.
      const rows = toRows(params)
      const unique = [...new Map(rows.map((row) => [row.id, row])).values()]
      for (let at = 0; at < unique.length; at += ROWS_AT_ONCE) {
        const values = unique
          .slice(at, at + ROWS_AT_ONCE)
          .map(({ id, vector, metadata }) => [id, vector, metadata])
        await ask(params.indexName, UPSERT.replaceAll('$table', name), [JSON.stringify(values)])
      }
      return rows.map(({ id }) => id)
    },
    async query(params: PgVectorQueryParams) {
      const parameters = new PgParameters()
      const sql = toQuery(table(params.indexName), params, { metric, iterativeScan }, parameters)
      return (await ask(params.indexName, sql, parameters.values)).map(toResult)
    },
    async deleteVector({ indexName, id }) {
      await this.deleteVectors({ indexName, ids: [id] })
    },
    async deleteVectors({ indexName, ids }) {
      const sql = `DELETE FROM ${table(indexName)} WHERE vector_id IN (SELECT jsonb_array_elements_text($1::text::jsonb))`
      await ask(indexName, sql, [JSON.stringify(ids)])
    },
    async describeIndex({ indexName }) {
      const name = table(indexName)
      const sql = `SELECT (SELECT count(*) FROM ${name})::text AS count, atttypmod::text AS dimension
        FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = 'embedding'`
      const [row] = await ask(indexName, sql, [name])
      return { dimension: Number(row?.dimension), count: Number(row?.count), metric }
    },
    async indexVersion({ indexName }) {
      const sql = `SELECT count(*)::text || '.' || coalesce(max(id), 0)::text AS version FROM ${table(indexName)}`
      const [row] = await ask(indexName, sql)
      return String(row?.version)
    },
    async listIds({ indexName, prefix }) {
      const sql = `SELECT vector_id AS id FROM ${table(indexName)} WHERE starts_with(vector_id, $1::text)`
      return (await ask(indexName, sql, [prefix])).map(({ id }) => String(id))
    },
  }
  return checkedStore('pgVector', store, QUERY)
}

/**
 * A replaced row gets a new `id`, so that `indexVersion` detects the change. Does not name a constraint: tables of Mastra's PgVector are
 * unique by namespace and id, and it changes our tables accordingly when it opens them.
 */
const UPSERT = `WITH given AS (
    SELECT value ->> 0 AS vector_id, (value ->> 1)::vector AS embedding, value -> 2 AS metadata
    FROM jsonb_array_elements($1::text::jsonb) AS value
  ), replaced AS (
    UPDATE $table AS old SET id = DEFAULT, embedding = given.embedding, metadata = given.metadata
    FROM given WHERE old.vector_id = given.vector_id RETURNING old.vector_id
  )
  INSERT INTO $table (vector_id, embedding, metadata) SELECT vector_id, embedding, metadata FROM given
  WHERE vector_id NOT IN (SELECT vector_id FROM replaced) ON CONFLICT DO NOTHING`

function createStatements(
  table: string,
  indexName: string,
  dimension: CreateIndexParams['dimension'],
  { metric, index }: { readonly metric: Metric; readonly index: string },
): string[] {
  if (!Number.isInteger(dimension) || dimension < 1 || dimension > 16_000)
    throw new TypeError('"dimension" must be a whole number from 1 to 16 000.')
  const statements = [
    'CREATE EXTENSION IF NOT EXISTS vector',
    `CREATE TABLE IF NOT EXISTS ${table} (id SERIAL PRIMARY KEY, vector_id TEXT UNIQUE NOT NULL,
      embedding vector(${dimension}), metadata JSONB DEFAULT '{}'::jsonb)`,
  ]
  if (index !== 'none' && dimension <= MAX_INDEXED_DIMENSIONS) {
    // Postgres truncates names to 63 bytes.
    const name = `${indexName.slice(0, 52)}_vector_idx`
    statements.push(
      `CREATE INDEX IF NOT EXISTS "${name}" ON ${table} USING ${index} (embedding ${CLASSES[metric]})`,
    )
  }
  return statements
}

/**
 * One statement with its settings: a condition without a column is evaluated once, before the first row, and settings of `set_config` with
 * `true` end with the statement.
 */
function toQuery(
  table: string,
  params: PgVectorQueryParams,
  { metric, iterativeScan }: { readonly metric: Metric; readonly iterativeScan: boolean },
  parameters: PgParameters,
): string {
  const { queryVector, includeVector = false, minScore, ef, probes, exact = false } = params
  checkVector(queryVector, queryVector.length)
  const topK = checkTopK(params.topK)
  const vector = parameters.add(JSON.stringify(queryVector), 'vector')
  const condition = conditionOf(params)
  const settings = {
    'hnsw.ef_search': Math.min(MAX_EF, ef ?? Math.max(topK, DEFAULT_EF)),
    ...(probes !== undefined && { 'ivfflat.probes': probes }),
    ...(iterativeScan && { 'hnsw.iterative_scan': 'strict_order' }),
  }
  const where = Object.entries(settings).map(
    ([name, value]) =>
      `(SELECT set_config(${parameters.add(name, 'text')}, ${parameters.add(String(value), 'text')}, true)) IS NOT NULL`,
  )
  if (condition !== undefined) where.push(toPgCondition(condition, parameters))
  const distance = `embedding ${DISTANCES[metric]} ${vector}`
  // An index is used only for the distance itself.
  const nearest = `SELECT vector_id, metadata, embedding, ${distance} AS distance
    FROM ${table} WHERE ${where.join(' AND ')}
    ORDER BY ${exact ? `(${distance}) + 0` : distance} LIMIT ${topK}`
  const score = `(${SCORES[metric]})`
  return `SELECT vector_id AS id, ${score}::text AS score, metadata::text AS metadata${includeVector ? ', embedding::text AS vector' : ''}
    FROM (${nearest}) AS nearest
    ${minScore === undefined ? '' : `WHERE ${score} >= ${parameters.add(String(Number(minScore)), 'float8')}`}
    ORDER BY distance, vector_id`
}

function toResult({ id, score, metadata, vector }: Rows[number]): QueryResult {
  return {
    id: String(id),
    score: Number(score),
    metadata: JSON.parse(String(metadata ?? '{}')) as Record<string, unknown>,
    ...(typeof vector === 'string' && { vector: JSON.parse(vector) as number[] }),
  }
}

function toStoreError(indexName: string, error: unknown): Error {
  const code = memberOf(error, 'code')
  const message = textOf(error)
  const failure =
    code === '42P01'
      ? new VectorStoreError(
          'NO_INDEX',
          `Index "${indexName}" does not exist in Postgres: create it, or ingest into it.`,
        )
      : /different vector dimensions|expected \d+ dimensions/.test(message)
        ? new VectorStoreError(
            'WRONG_DIMENSION',
            'The vector has another dimension than the index: use the embedding model that filled it.',
          )
        : new VectorStoreError('STORE_FAILED', 'Postgres failed: see the server’s log.')
  return withCause(failure, error)
}
