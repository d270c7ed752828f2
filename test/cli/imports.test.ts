/** An import that does not resolve: every command names the file that has it, and what to do. */
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
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
    project.linkPackage()
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
import 'mayfly'
import 'mayfly/auth'
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
      'server.ts:7:8: Could not resolve "mayfly": did you mean "mayfly-mcp"?',
      'server.ts:8:8: Could not resolve "mayfly/auth": did you mean "mayfly-mcp/auth"?',
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

describe('a name that the entry point does not export', { timeout: 60_000 }, () => {
  const line = `import { apiKeys, createTol, cloudflre } from 'mayfly-mcp/auth'
export default { fetch: () => new Response([apiKeys, createTol, cloudflre].join()) }`

  test('of a linked package → a line for each, with the entry point that has it or the name that is near', async () => {
    await using project = new Project()
    project.linkPackage()
    project.write('server.ts', line)
    const { code, stderr } = await new MayflyProcess(['build', '--target', 'node'], project.folder).exited
    expect(code).toBe(1)
    expect(
      stderr
        .replaceAll(/"[^"]*dist/g, '"dist')
        .trim()
        .split('\n'),
    ).toEqual([
      'mayfly: server.ts:1:10: No matching export in "dist/src/auth.js" for import "apiKeys": import it from "mayfly-mcp/keys"',
      'server.ts:1:19: No matching export in "dist/src/auth.js" for import "createTol": did you mean "createTool" of "mayfly-mcp"?',
      'server.ts:1:30: No matching export in "dist/src/auth.js" for import "cloudflre": did you mean "cloudflare" of "mayfly-mcp/cloudflare"?',
    ])
  })

  test.each(['dev --target node --port 0', 'stdio'])(
    'mayfly %s of an installed package, which Node loads → the same',
    async (command) => {
      await using project = new Project()
      const folder = join(project.folder, 'node_modules/mayfly-mcp')
      mkdirSync(folder, { recursive: true })
      cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
      cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true })
      for (const name of readdirSync(join(ROOT, 'node_modules')).filter(
        (one) => /^[@a-z]/.test(one) && one !== 'mayfly-mcp',
      ))
        symlinkSync(join(ROOT, 'node_modules', name), join(project.folder, 'node_modules', name))
      project.write('server.ts', line.replaceAll(/, (?:createTol|cloudflre)/g, ''))
      const cli = join(folder, 'dist/deploy/cli.js')
      const { code, stderr } = await new MayflyProcess(command.split(' '), project.folder, cli).exited
      expect(code).toBe(1)
      expect(stderr).toMatch(/^mayfly: [^\n]*'apiKeys': import it from "mayfly-mcp\/keys"\n$/)
    },
  )
})
