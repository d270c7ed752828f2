/** The package postgres, which pgVector imports for a connection string. */
import { expect, it, vi } from 'vitest'
import { pgVector } from '../../../src/retrieval.ts'

let imports = 0

vi.mock('postgres', () => ({
  get default() {
    if (imports++ === 0) throw new Error('no file today')
    return () => ({ unsafe: async () => [] })
  },
}))

it('an import that failed once is tried again at the next call', async () => {
  const store = pgVector({ connectionString: 'postgres://user:secret@host:5432/db' })
  await expect(store.query({ indexName: 'docs', queryVector: [1], topK: 1 })).rejects.toThrow(
    'Postgres failed',
  )
  await store.query({ indexName: 'docs', queryVector: [1], topK: 1 })
  await store.query({ indexName: 'docs', queryVector: [1], topK: 1 })
  expect(imports).toBe(2)
})
