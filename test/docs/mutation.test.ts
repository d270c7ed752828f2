/** What SECURITY.md says about mutation testing is what the last run found, about the code as it is. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ACCEPTED } from '../../scripts/mutation/accepted.ts'
import { GROUPS } from '../../scripts/mutation/groups.ts'
import { percent, readResults, renderTable, writtenTable } from '../../scripts/mutation/report.ts'

const ROOT = join(import.meta.dirname, '../..')
const results = readResults()

/** Groups that have been run. */
const measured = GROUPS.filter(({ name }) => results[name] !== undefined)

it('SECURITY.md has the table of the last run', () => {
  expect(writtenTable()).toBe(renderTable())
  for (const { name } of measured) expect(writtenTable()).toContain(`(\`${name}\`)`)
})

it('the first eight groups must kill 90 %, as SECURITY.md says, and no other must', () => {
  expect(readFileSync(join(ROOT, 'SECURITY.md'), 'utf8').replaceAll('\n', ' ')).toContain(
    'In the first eight groups at least 90 % of the changes must fail a test.',
  )
  expect(GROUPS.map(({ atLeast }) => atLeast)).toEqual([
    ...Array(8).fill(90),
    ...Array(GROUPS.length - 8).fill(undefined),
  ])
})

it.each(measured.flatMap(({ name, atLeast }) => (atLeast === undefined ? [] : [[name, atLeast] as const])))(
  '%s: at least %d %% of the mutants were killed',
  (name, atLeast) => {
    expect(percent(results[name]!)).toBeGreaterThanOrEqual(atLeast)
  },
)

it.each(GROUPS.map((group) => [group.name, group] as const))(
  '%s: its sources exist',
  (_name, { sources }) => {
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  },
)

it('each mutant that is accepted is of a line that exists, and has a reason', () => {
  const gone = ACCEPTED.filter(
    ({ file, line }) =>
      !existsSync(join(ROOT, file)) ||
      !readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .some((one) => one.trim() === line),
  )

  expect(gone.map(({ file, line }) => `${file}: ${line}`)).toEqual([])
  expect(ACCEPTED.filter(({ reason }) => reason.length < 20)).toEqual([])
})
