/** The example's answers in this process. `test/runtimes/retrieval` asks the same on other runtimes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import embed from '../../examples/retrieval/embed.ts'
import { createMemoryVectorStore, createVectorQueryTool, type MemorySnapshot } from '../../src/retrieval.ts'
import { INDEX, ingestDocs, ROOT } from './_index.ts'
import { countRight } from './_questions.ts'

it('of twenty questions about docs/, at least 18 have the right page among the first three results', async () => {
  ingestDocs()
  const snapshot = JSON.parse(readFileSync(join(ROOT, INDEX), 'utf8')) as MemorySnapshot
  const search = createVectorQueryTool({
    vectorStore: createMemoryVectorStore(snapshot),
    indexName: 'docs',
    model: embed,
  })
  const { right, wrong } = await countRight(async (queryText) => {
    const { sources } = await search.execute({ queryText, topK: 3 })
    return sources.map(({ metadata }) => String(metadata.source))
  })
  expect([wrong, right >= 18]).toEqual([wrong, true])
})

it('ingesting again changes nothing', () => {
  ingestDocs()
  expect(ingestDocs()).toMatch(/: 0 new, 0 removed, \d{2,} unchanged in/)
})
