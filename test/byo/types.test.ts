/** The compiler takes Mastra's tools, agents and workflows as they are: this folder has packages that the rest has not. */
import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { TSC } from '../_type-check.ts'

it('a Mastra project type-checks as the config of an MCPServer', () => {
  const compile = () => execFileSync(process.execPath, [TSC, '--noEmit', '-p', import.meta.dirname])
  expect(compile).not.toThrow()
})
