/** The cells of the table as tests: each entry against each guard. */
import { describe, expect, it } from 'vitest'
import { IMPLEMENTED } from './_entries.ts'
import { SCENARIOS } from './_scenarios.ts'
import { watchTests } from './_watched.ts'
import { ENTRIES, type EntryId, type EntryRow, GUARDS, type GuardId } from './matrix.ts'

/** Makes a test of each cell of the entries that `isMeant`. */
export function testCells(isMeant: (entry: EntryId) => boolean): void {
  const { starting } = watchTests()
  const rows = Object.entries<EntryRow>(ENTRIES).filter(([id]) => isMeant(id as EntryId))
  describe.each(rows)('%s', (id, { title, exempt }) => {
    const entry = IMPLEMENTED[id as EntryId]
    for (const [guard, what] of Object.entries(GUARDS)) {
      const name = `${title} × ${what}`
      const reason = exempt[guard as GuardId]
      if (reason !== undefined) {
        it(`${name}: ${reason}`, () => expect(reason).toMatch(/^[A-Z].+\.$/))
        continue
      }
      it(name, async () => {
        expect.hasAssertions()
        await SCENARIOS[guard as GuardId](entry, starting(entry))
      })
    }
  })
}
