/** Every entry against every guard: what the table in SECURITY.md says, over real sockets. */
import { describe, expect, it } from 'vitest'
import { IMPLEMENTED } from './_entries.ts'
import { SCENARIOS } from './_scenarios.ts'
import { watchTests } from './_watched.ts'
import { ENTRIES, type EntryId, type EntryRow, GUARDS, type GuardId } from './matrix.ts'

const { starting } = watchTests()

describe.each(Object.entries<EntryRow>(ENTRIES))('%s', (id, { title, exempt }) => {
  const entry = IMPLEMENTED[id as EntryId]
  for (const [guard, what] of Object.entries(GUARDS)) {
    const name = `${title} × ${what}`
    const reason = exempt[guard as GuardId]
    if (reason !== undefined) {
      it(`${name}: ${reason}`, () => expect(reason).toMatch(/^[A-Z].+\.$/))
      continue
    }
    it(name, { timeout: 10_000 }, async () => {
      expect.hasAssertions()
      await SCENARIOS[guard as GuardId](entry, starting(entry))
    })
  }
})

it('every entry and every guard of the table is known here', () => {
  expect(Object.keys(IMPLEMENTED)).toEqual(Object.keys(ENTRIES))
  expect(Object.keys(SCENARIOS)).toEqual(Object.keys(GUARDS))
})
