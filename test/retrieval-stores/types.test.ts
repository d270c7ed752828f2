/** The compiler takes the stores of Mastra as they are: this folder has packages that the rest has not. */
import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { TSC } from '../_type-check.ts'

it('stores of Mastra and clients of libSQL and PGlite type-check as options', () => {
  const compile = () => execFileSync(process.execPath, [TSC, '--noEmit', '-p', import.meta.dirname])
  expect(compile).not.toThrow()
})
