/** What pgVector says about a connection string that is none. */
import { expect, it } from 'vitest'
import { pgVector } from '../../../src/retrieval.ts'

it.each(['nonsense', 'postgres://user:pass#word@host:5x32/db', 'postgres://user:secret@[::1/db'])(
  '%s → what is wrong with it, without the password',
  async (connectionString) => {
    const error = await pgVector({ connectionString })
      .describeIndex({ indexName: 'docs' })
      .catch((thrown: unknown) => thrown as Error)
    const shown = String((error as Error).stack) + String((error as { cause?: unknown }).cause)
    expect(shown).toContain('"connectionString" of pgVector is not a URL')
    expect(shown).not.toMatch(/install postgres|secret|pass#word/)
  },
)
