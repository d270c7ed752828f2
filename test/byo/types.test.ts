/** The compiler takes Mastra's tools, agents and workflows as they are: this folder has packages that the rest has not. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('a Mastra project type-checks as the config of an MCPServer', () => {
  const tsc = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
  const compile = () => execFileSync(process.execPath, [tsc, '--noEmit', '-p', import.meta.dirname])
  expect(compile).not.toThrow()
})
