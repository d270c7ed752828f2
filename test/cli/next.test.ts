/** On a terminal a command ends with what comes next; elsewhere it says nothing of it. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Project } from './_dev-process.ts'
import { expectScreen, leftOf, Screen } from './_screen.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CLI = join(ROOT, 'deploy/cli.ts')

const SERVER = `import { createTool, MCPServer } from 'mayfly-mcp'
const hello = createTool({ id: 'hello', description: 'Greets', execute: () => 'hello' })
export default new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', tools: { hello } })
`

test.each([
  [
    'add',
    ['add', 'https://shop.example.com/mcp', '--client', 'cursor'],
    /\nNext: restart Cursor, and ask it which tools "[\w-]+" has\n$/,
  ],
  [
    'keys-create',
    ['keys', 'create', 'ci', '--file', 'keys.json', '--server', 'shop'],
    /\nNext: clients send it as Authorization: Bearer <key>\n$/,
  ],
  [
    'keys-list',
    ['keys', 'list', '--file', 'keys.json'],
    /\nNext: npx mayfly keys create <name>, with the same options\n$/,
  ],
  [
    'registry',
    [
      'registry',
      ...[
        '--url',
        'https://shop.example.com/mcp',
        '--name',
        'com.example.shop/shop',
        '--description',
        'Sells',
      ],
    ],
    /\nNext: mcp-publisher publish, after mcp-publisher login\n$/,
  ],
] as const)('%s', { timeout: 240_000 }, async (name, args, words) => {
  await using project = new Project()
  project.linkPackage()
  project.write('package.json', '{ "name": "shop", "type": "module" }')
  project.write('server.ts', SERVER)
  await using screen = new Screen(args, project.folder)
  await screen.end()
  const text = leftOf(screen.raw)
  expect(text).toMatch(words)
  await expectScreen(text.replaceAll(/mk_[\w-]+/g, 'mk_…'), name)
  const again = name === 'add' ? [...args, '--force'] : args
  const { status, stderr } = spawnSync(process.execPath, [CLI, ...again], {
    cwd: project.folder,
    encoding: 'utf8',
  })
  expect(status).toBe(0)
  expect(stderr).not.toContain('Next:')
})
