/**
 * `npm run bench:retrieval`: how much of the exact answer each local store finds, how fast search in memory is, and what a graph costs.
 * The vectors are synthetic, in groups as embeddings are: 20 000 of 256 dimensions around 200 centres. `-- --quick` takes 2000.
 * `-- --spread` has no groups: the hardest case, where the nearest vectors are hardly nearer than all others.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createGraphRAGTool,
  createMemoryVectorStore,
  type LibSqlClient,
  libSqlVector,
  pgVector,
  type QueryingClient,
  type VectorStore,
} from '../src/retrieval.ts'

const isQuick = process.argv.includes('--quick')
const isSpread = process.argv.includes('--spread')
const ROWS = isQuick ? 2000 : 20_000
const MANY_ROWS = 50_000
const DIMENSION = 256
const CENTRES = 200
const QUERIES = 50
const RUNS = 101
const indexName = 'bench'

/** The same numbers in every run: xorshift, then the sum of four for about a normal distribution. */
function createNormal(): () => number {
  let state = 0x9e3779b9
  const random = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  return () => random() + random() + random() + random() - 2
}

const normal = createNormal()
const vector = (): number[] => Array.from({ length: DIMENSION }, normal)
const centres = Array.from({ length: CENTRES }, vector)
const near = (at: number): number[] =>
  isSpread ? vector() : centres[at % CENTRES]!.map((value) => value + 0.8 * normal())

async function fill(store: VectorStore, vectors: readonly number[][]): Promise<number> {
  const startedAt = performance.now()
  await store.createIndex({ indexName, dimension: DIMENSION })
  for (let at = 0; at < vectors.length; at += 500) {
    const part = vectors.slice(at, at + 500)
    await store.upsert({
      indexName,
      vectors: part,
      ids: part.map((_, row) => `v${at + row}`),
      metadata: part.map((_, row) => ({ text: `text ${at + row}`, tenth: (at + row) % 10 })),
    })
  }
  return (performance.now() - startedAt) / 1000
}

/** By comparing and sorting all, in 64 bits, without any code of the stores. */
function exact(vectors: readonly number[][], query: readonly number[], topK: number): string[] {
  const length = (one: readonly number[]): number =>
    Math.sqrt(one.reduce((sum, value) => sum + value * value, 0))
  const own = length(query)
  return vectors
    .map((one, row) => ({
      id: `v${row}`,
      score: one.reduce((sum, value, at) => sum + value * query[at]!, 0) / length(one) / own,
    }))
    .sort((one, other) => other.score - one.score)
    .slice(0, topK)
    .map(({ id }) => id)
}

interface Measured {
  readonly recall: number
  readonly medianMs: number
}

async function measure(
  store: VectorStore,
  queries: readonly number[][],
  expected: readonly string[][],
  options: object = {},
): Promise<Measured> {
  let hits = 0
  const times: number[] = []
  for (const [at, queryVector] of queries.entries()) {
    const startedAt = performance.now()
    const found = await store.query({ indexName, queryVector, topK: 10, ...options })
    times.push(performance.now() - startedAt)
    hits += found.filter(({ id }) => expected[at]!.includes(id)).length
  }
  return { recall: hits / (10 * queries.length), medianMs: median(times) }
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]!
}

/** Packages of test/retrieval-stores, which is installed by `npm run test:others`. */
async function load(specifier: string): Promise<Record<string, unknown>> {
  const folder = join(import.meta.dirname, '../test/retrieval-stores/node_modules')
  return import(join(folder, specifier)) as Promise<Record<string, unknown>>
}

async function openPglite(): Promise<QueryingClient & { close(): Promise<void> }> {
  const { PGlite } = await load('@electric-sql/pglite/dist/index.js')
  const { vector: extension } = await load('@electric-sql/pglite-pgvector/dist/index.js')
  const { create } = PGlite as {
    create(options: object): Promise<QueryingClient & { close(): Promise<void> }>
  }
  return create.call(PGlite, { extensions: { vector: extension } })
}

async function openLibSql(url: string): Promise<LibSqlClient & { close(): void }> {
  const { createClient } = await load('@libsql/client/lib-esm/node.js')
  return (createClient as (config: object) => LibSqlClient & { close(): void })({ url })
}

const print = (name: string, { recall, medianMs }: Measured, seconds: number): void =>
  console.log(
    `${name.padEnd(40)} ${recall.toFixed(3).padStart(9)} ${medianMs.toFixed(1).padStart(9)} ${seconds.toFixed(0).padStart(9)}`,
  )

const vectors = Array.from({ length: ROWS }, (_, at) => near(at))
const queries = Array.from({ length: QUERIES }, (_, at) => near(at * 7))
const expected = queries.map((query) => exact(vectors, query, 10))
console.log(`${ROWS} vectors of ${DIMENSION} dimensions, ${QUERIES} queries`)
console.log(
  `${''.padEnd(40)} ${'recall@10'.padStart(9)} ${'median ms'.padStart(9)} ${'filled s'.padStart(9)}`,
)

const memory = createMemoryVectorStore()
const memorySeconds = await fill(memory, vectors)
print('createMemoryVectorStore', await measure(memory, queries, expected), memorySeconds)

const folder = mkdtempSync(join(tmpdir(), 'mayfly-bench-'))
const libsql = await openLibSql(`file:${join(folder, 'bench.db')}`)
const libSqlStore = libSqlVector({ client: libsql })
const libSqlSeconds = await fill(libSqlStore, vectors)
print('libSqlVector, a file', await measure(libSqlStore, queries, expected), libSqlSeconds)
libsql.close()
rmSync(folder, { recursive: true })

const pglite = await openPglite()
// The index after the rows, as one fills a large table.
const pgStore = pgVector({ client: pglite, index: 'none' })
const pgSeconds = await fill(pgStore, vectors)
const indexedAt = performance.now()
await pglite.query(`CREATE INDEX ON "${indexName}" USING hnsw (embedding vector_cosine_ops)`, [])
await pglite.query('ANALYZE', [])
const indexSeconds = (performance.now() - indexedAt) / 1000
for (const ef of [40, 200, 400])
  print(
    `pgVector on PGlite, hnsw, ef ${ef}`,
    await measure(pgStore, queries, expected, { ef }),
    pgSeconds + indexSeconds,
  )
await pglite.close()

const many = createMemoryVectorStore()
await fill(
  many,
  Array.from({ length: isQuick ? ROWS : MANY_ROWS }, (_, at) => near(at)),
)
const { count } = await many.describeIndex({ indexName })
for (const [name, filter] of [
  ['', undefined],
  [', a filter that one row in ten meets', { tenth: 3 }],
] as const) {
  const times: number[] = []
  const cpu: number[] = []
  for (let run = 0; run < RUNS; run++) {
    const queryVector = near(run)
    const before = process.cpuUsage()
    const startedAt = performance.now()
    await many.query({ indexName, queryVector, topK: 10, ...(filter && { filter }) })
    times.push(performance.now() - startedAt)
    const { user, system } = process.cpuUsage(before)
    cpu.push((user + system) / 1000)
  }
  console.log(
    `in memory, ${count} × ${DIMENSION}${name}: median ${median(times).toFixed(1)} ms, ${median(cpu).toFixed(1)} ms of CPU`,
  )
}

const small = createMemoryVectorStore()
await fill(small, vectors.slice(0, 1000))
const graph = createGraphRAGTool({
  vectorStore: small,
  indexName,
  model: () => [near(1)],
  graphOptions: { threshold: 0.5 },
})
const graphTimes: number[] = []
for (let run = 0; run < 21; run++) {
  const startedAt = performance.now()
  await graph.execute({ queryText: 'x' })
  graphTimes.push(performance.now() - startedAt)
}
console.log(
  `a graph of 1000 chunks: first question ${graphTimes[0]!.toFixed(0)} ms, then median ${median(graphTimes.slice(1)).toFixed(1)} ms`,
)
