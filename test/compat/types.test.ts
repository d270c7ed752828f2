/** The examples type-check as in a user's project: `strict`, and nothing more. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { STRICT, typeFaults } from '../_type-check.ts'

it('every example type-checks with --strict', () => {
  const files = readdirSync(import.meta.dirname).map((name) => join(import.meta.dirname, name))

  expect(files.length).toBeGreaterThan(4)
  expect(typeFaults(files, { compilerOptions: STRICT })).toEqual([])
})
