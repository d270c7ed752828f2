/** Two tenants in one index: whatever a model asks for, it sees no row of the other. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createGraphRAGTool, createMemoryVectorStore, createVectorQueryTool } from '../../../src/retrieval.ts'
import { DIMENSION, embed, embedText } from './_embed.ts'
import { comparison, filtersOf, negation } from './_filters.ts'

const WORDS = ['red', 'blue', 'apple', 'sky', 'tree', 'bread']

const row = fc.record({
  tenant: fc.constantFrom('a', 'b'),
  text: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }).map((words) => words.join(' ')),
  page: fc.integer({ min: 0, max: 5 }),
})

const scalar = fc.oneof(fc.constantFrom<string | number | boolean>('a', 'b', 0, 3, true), fc.string())
const field = fc.constantFrom('tenant', 'page', 'text', 'other', '__proto__')
const leaf = fc.oneof(
  fc.tuple(field, scalar).map(([name, value]) => ({ [name]: value })),
  comparison(field, ['$eq', '$ne', '$contains'], scalar),
  comparison(field, ['$in', '$nin'], fc.array(scalar)),
  comparison(field, ['$exists'], fc.boolean()),
)
const filter = filtersOf(leaf, negation, (one) => fc.record({ tenant: scalar, $or: fc.tuple(one) }))

describe.each([
  ['createVectorQueryTool', createVectorQueryTool],
  ['createGraphRAGTool', createGraphRAGTool],
])('%s', (_, create) => {
  it('no filter of a model, in any form, shows a row of another tenant', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 20 }),
        fc.array(
          fc.tuple(
            fc.constantFrom('a', 'b'),
            fc.oneof(
              filter,
              fc.jsonValue(),
              filter.map((one) => JSON.stringify(one)),
            ),
          ),
        ),
        fc.constantFrom('option', 'function', 'context', 'store'),
        async (rows, calls, way) => {
          const stores = {
            a: await storeOf(rows.filter(({ tenant }) => tenant === 'a')),
            b: await storeOf(rows.filter(({ tenant }) => tenant === 'b')),
          }
          const all = await storeOf(rows)
          const tool = create({
            indexName: 'i',
            model: embed,
            enableFilter: true,
            vectorStore:
              way === 'store'
                ? ({ requestContext }) => stores[requestContext.get('tenant') as 'a' | 'b']
                : all,
            ...(way === 'function' && {
              filter: ({ requestContext }) => ({ tenant: requestContext.get('tenant') }),
            }),
            ...(way === 'option' && { filter: { tenant: 'a' } }),
          })
          for (const [given, asked] of calls) {
            const tenant = way === 'option' ? 'a' : given
            const requestContext = new Map<string, unknown>([
              ['tenant', tenant],
              ...(way === 'context' ? ([['filter', { tenant }]] as const) : []),
            ])
            const call = (more: object) =>
              tool.execute({ queryText: 'red apple', topK: 50, ...more }, { requestContext })
            const narrowed = await call({ filter: asked as never }).catch(() => undefined)
            const { sources } = await call({})
            const allowed = new Set(sources.map(({ id }) => id))
            for (const { id, metadata } of [...sources, ...(narrowed?.sources ?? [])]) {
              expect(metadata.tenant).toBe(tenant)
              expect(allowed.has(id)).toBe(true)
            }
          }
        },
      ),
      { numRuns: 150 },
    )
  })
})

it.each([
  ['createVectorQueryTool', createVectorQueryTool],
  ['createGraphRAGTool', createGraphRAGTool],
])('%s: a store that ignores filters shows no row of another tenant either', async (_, create) => {
  const store = await storeOf([
    { tenant: 'a', text: 'red', page: 1 },
    { tenant: 'b', text: 'red', page: 2 },
  ])
  const careless = {
    query: ({ filter: _filter, ...params }: Parameters<typeof store.query>[0]) => store.query(params),
  }
  const tool = create({ indexName: 'i', model: embed, vectorStore: careless, filter: { tenant: 'a' } })
  const { sources } = await tool.execute({ queryText: 'red' })
  expect(sources.map(({ metadata }) => metadata.tenant)).toEqual(['a'])
})

async function storeOf(rows: readonly { tenant: string; text: string; page: number }[]) {
  const store = createMemoryVectorStore()
  await store.createIndex({ indexName: 'i', dimension: DIMENSION })
  await store.upsert({
    indexName: 'i',
    vectors: rows.map(({ text }) => embedText(text)),
    metadata: rows,
    ids: rows.map(({ tenant }, at) => `${tenant}${at}`),
  })
  return store
}
