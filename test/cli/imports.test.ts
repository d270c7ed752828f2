/** An import that does not resolve: every command names the file that has it, and what to do. */
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { MayflyProcess, Project } from './_dev-process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const COMMANDS = [
  'build --target node',
  'build --target vercel-edge',
  'dev --target node --port 0',
  'dev --target deno --port 0',
  'stdio',
]

test.concurrent.for(COMMANDS)(
  'mayfly %s → a line for each import, with its place',
  { timeout: 60_000 },
  async (line) => {
    await using project = new Project()
    mkdirSync(join(project.folder, 'node_modules'))
    symlinkSync(ROOT, join(project.folder, 'node_modules/mayfly-mcp'))
    symlinkSync(join(ROOT, 'node_modules/zod'), join(project.folder, 'node_modules/zod'))
    project.write('prices.ts', 'export const prices = 1')
    project.write(
      'server.ts',
      `import 'mayfly-mcp/nodes'
import './price.ts'
import './nowhere/at-all.ts'
import 'not-installed'
import '@scope/not-installed/part'
import 'zod/nope'
export default { fetch: () => new Response('hello') }
`,
    )
    const { code, stdout, stderr } = await new MayflyProcess(line.split(' '), project.folder).exited
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(
      stderr
        .replace(/^mayfly: /, '')
        .trim()
        .split('\n'),
    ).toEqual([
      'server.ts:1:8: Could not resolve "mayfly-mcp/nodes": mayfly-mcp has no such entry point; did you mean "mayfly-mcp/node"?',
      'server.ts:2:8: Could not resolve "./price.ts": there is no such file; did you mean "./prices.ts"?',
      'server.ts:3:8: Could not resolve "./nowhere/at-all.ts": there is no such file',
      'server.ts:4:8: Could not resolve "not-installed": if it is a package, run npm install not-installed',
      'server.ts:5:8: Could not resolve "@scope/not-installed/part": if it is a package, run npm install @scope/not-installed',
      'server.ts:6:8: Could not resolve "zod/nope": zod is installed, but has no such entry point',
    ])
  },
)

test('a module of Node on a platform without one, and a default import of a file without one', async () => {
  await using project = new Project()
  project.write('prices.ts', 'export const prices = 1')
  project.write(
    'server.ts',
    `import { readFileSync } from 'fs'
import prices from './prices.ts'
export default { fetch: () => new Response(readFileSync + prices) }
`,
  )
  const args = ['build', '--target', 'vercel-edge']
  const first = await new MayflyProcess(args, project.folder).exited
  expect(first.stderr).toBe(
    'mayfly: server.ts:1:30: Could not resolve "fs": it is a module of Node, which this platform does not have\n',
  )
  project.write('server.ts', `import prices from './prices.ts'\nexport default { fetch: () => prices }`)
  const second = await new MayflyProcess(args, project.folder).exited
  expect(second.stderr).toBe(
    'mayfly: server.ts:1:8: No matching export in "prices.ts" for import "default"\n',
  )
})
