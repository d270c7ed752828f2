/**
 * libSQL (Turso, or a file), whose SQLite compares vectors itself. Search is exact. Tables of Mastra's LibSQLVector
 * can be read and filled.
 */
import { textOf } from '../../definition/error-text.ts'
import { type Names, requireOptions } from '../../definition/unknown-option.ts'
import { checkedStore, QUERY_OPTIONS } from '../checked-store.ts'
import {
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
import { toSqliteCondition } from './sqlite-filter.ts'

interface Statement {
  sql: string
  args: (string | number)[]
}

type Rows = readonly { readonly [column: string]: unknown }[]

/** A client of `@libsql/client`, from any of its builds. */
export interface LibSqlClient {
  execute(statement: Statement): PromiseLike<{ rows: readonly object[] }>
  batch(statements: Statement[], mode: 'write'): PromiseLike<unknown>
}

export interface LibSqlOptions {
  readonly client: LibSqlClient
  /** `cosine` or `euclidean`, for every index of this store. Default `cosine`. */
  readonly metric?: Exclude<Metric, 'dotproduct'>
}

export interface LibSqlQueryParams extends QueryParams {
  /** Excludes rows with a lower score. */
  readonly minScore?: number
}

const DISTANCES = { cosine: 'vector_distance_cos', euclidean: 'vector_distance_l2' } as const
const ROWS_AT_ONCE = 100

const OPTIONS: Names<LibSqlOptions> = { client: 'object', metric: { cosine: 1, euclidean: 1 } }
const QUERY: Names<LibSqlQueryParams> = { ...QUERY_OPTIONS, minScore: [-Infinity] }

/**
 * Creates a store on libSQL. Compares every vector, which is exact, and fast up to about 100 000 rows.
 *
 * ```ts
 * const store = libSqlVector({ client: createClient({ url: 'file:docs.db' }) })
 * ```
 */
export function libSqlVector(options: LibSqlOptions): VectorStore {
  requireOptions('libSqlVector', options, OPTIONS)
  const { client, metric = 'cosine' } = options
  if (typeof client?.execute !== 'function')
    throw new TypeError('libSqlVector needs "client": createClient() of @libsql/client.')
  if (!Object.hasOwn(DISTANCES, metric))
    throw new TypeError('"metric" of libSqlVector must be "cosine" or "euclidean".')
  const ask = async (indexName: string, sql: string, args: (string | number)[] = []): Promise<Rows> => {
    try {
      const { rows } = await client.execute({ sql, args })
      return rows as Rows
    } catch (error) {
      throw toStoreError(indexName, error)
    }
  }
  const write = async (indexName: string, statements: Statement[]): Promise<void> => {
    try {
      await client.batch(statements, 'write')
    } catch (error) {
      throw toStoreError(indexName, error)
    }
  }

  const store: VectorStore = {
    hasExactQuery: true,
    async createIndex({ indexName, dimension, metric: given = metric }) {
      if (given !== metric)
        throw new TypeError(
          `This libSqlVector store compares by "${metric}": pass metric: "${given}" to libSqlVector, if it supports it.`,
        )
      if (!Number.isInteger(dimension) || dimension < 1)
        throw new TypeError('"dimension" must be a whole number above 0.')
      await ask(
        indexName,
        `CREATE TABLE IF NOT EXISTS ${table(indexName)} (id INTEGER PRIMARY KEY AUTOINCREMENT, vector_id TEXT UNIQUE NOT NULL,
          embedding F32_BLOB(${dimension}), metadata TEXT DEFAULT '{}')`,
      )
      const stats = await this.describeIndex({ indexName })
      if (stats.dimension !== dimension)
        throw new VectorStoreError(
          'WRONG_DIMENSION',
          `The index "${indexName}" exists with ${stats.dimension} dimensions.`,
        )
    },
    async upsert(params) {
      const { dimension } = await this.describeIndex({ indexName: params.indexName })
      const rows = toRows(params, dimension)
      // Replacing gives a row a new id, so that indexVersion detects the change.
      const sql = `INSERT OR REPLACE INTO ${table(params.indexName)} (vector_id, embedding, metadata) VALUES (?, vector32(?), ?)`
      for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
        const statements = rows.slice(at, at + ROWS_AT_ONCE).map(({ id, vector, metadata }) => ({
          sql,
          args: [id, JSON.stringify(vector), JSON.stringify(metadata)],
        }))
        await write(params.indexName, statements)
      }
      return rows.map(({ id }) => id)
    },
    async query(params: LibSqlQueryParams) {
      const { sql, args } = toQuery(params, metric)
      return (await ask(params.indexName, sql, args)).map(toResult)
    },
    async deleteVector({ indexName, id }) {
      await this.deleteVectors({ indexName, ids: [id] })
    },
    async deleteVectors({ indexName, ids }) {
      const sql = `DELETE FROM ${table(indexName)} WHERE vector_id IN (SELECT value FROM json_each(?))`
      await ask(indexName, sql, [JSON.stringify(ids)])
    },
    async describeIndex({ indexName }) {
      const name = table(indexName)
      const [column] = await ask(
        indexName,
        `SELECT type FROM pragma_table_info(?) WHERE name = 'embedding'`,
        [indexName],
      )
      const dimension = Number(/\((\d+)\)/.exec(String(column?.type))?.[1])
      const [row] = await ask(indexName, `SELECT count(*) AS count FROM ${name}`)
      return { dimension, count: Number(row?.count), metric }
    },
    async indexVersion({ indexName }) {
      const sql = `SELECT (SELECT count(*) FROM ${table(indexName)}) || '.' || coalesce((SELECT max(rowid) FROM ${table(indexName)}), 0) AS version`
      const [row] = await ask(indexName, sql)
      return String(row?.version)
    },
    async listIds({ indexName, prefix }) {
      const sql = `SELECT vector_id AS id FROM ${table(indexName)} WHERE substr(vector_id, 1, length(?)) = ?`
      return (await ask(indexName, sql, [prefix, prefix])).map(({ id }) => String(id))
    },
  }
  return checkedStore('libSqlVector', store, QUERY)
}

function table(indexName: string): string {
  return `"${checkIndexName(indexName)}"`
}

function toQuery(params: LibSqlQueryParams, metric: keyof typeof DISTANCES): Statement {
  const { indexName, queryVector, includeVector = false, minScore } = params
  checkVector(queryVector, queryVector.length)
  const topK = checkTopK(params.topK)
  const args: (string | number)[] = [JSON.stringify(queryVector)]
  const condition = conditionOf(params)
  const where = condition === undefined ? '' : `WHERE ${toSqliteCondition(condition, args)}`
  const score = metric === 'cosine' ? '1 - distance' : '1 / (1 + distance)'
  const rows = `SELECT vector_id, metadata, embedding, ${DISTANCES[metric]}(embedding, vector32(?)) AS distance FROM ${table(indexName)} ${where}`
  const limit = minScore === undefined ? '' : `WHERE ${score} >= ?`
  if (minScore !== undefined) args.push(Number(minScore))
  const vector = includeVector ? ', vector_extract(embedding) AS vector' : ''
  return {
    sql: `SELECT vector_id AS id, ${score} AS score, metadata${vector} FROM (${rows}) ${limit} ORDER BY distance, vector_id LIMIT ${topK}`,
    args,
  }
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
  const message = textOf(error)
  const failure = /no such table/.test(message)
    ? new VectorStoreError(
        'NO_INDEX',
        `Index "${indexName}" does not exist in libSQL: create it, or ingest into it.`,
      )
    : /dimension|same length/.test(message)
      ? new VectorStoreError(
          'WRONG_DIMENSION',
          'The vector has another dimension than the index: use the embedding model that filled it.',
        )
      : new VectorStoreError('STORE_FAILED', 'libSQL failed: see the server’s log.')
  return withCause(failure, error)
}
