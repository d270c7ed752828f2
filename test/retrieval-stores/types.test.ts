/** The compiler takes the stores of Mastra as they are: this folder has packages that the rest has not. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('stores of Mastra and clients of libSQL and PGlite type-check as options', () => {
  const tsc = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
  const compile = () => execFileSync(process.execPath, [tsc, '--noEmit', '-p', import.meta.dirname])
  expect(compile).not.toThrow()
})
