/** Every entry against every guard: what the table in SECURITY.md says, over real sockets. */
import { expect, it } from 'vitest'
import { testCells } from './_cells.ts'
import { IMPLEMENTED } from './_entries.ts'
import { SCENARIOS } from './_scenarios.ts'
import { ENTRIES, GUARDS } from './matrix.ts'

testCells((entry) => entry !== 'stdio')

it('every entry and every guard of the table is known here', () => {
  expect(Object.keys(IMPLEMENTED)).toEqual(Object.keys(ENTRIES))
  expect(Object.keys(SCENARIOS)).toEqual(Object.keys(GUARDS))
})
