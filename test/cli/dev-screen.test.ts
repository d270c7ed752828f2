/** `mayfly dev` on a terminal: what a person sees is in `screens/`. */
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, Project } from './_dev-process.ts'
import { expectScreen, Screen } from './_screen.ts'

const TIMEOUT_MS = 240_000

const server = (...tools: string[]): string => `import { createTool, MCPServer } from 'mayfly-mcp'
const tool = (id: string) => createTool({ id, description: id, execute: () => id })
export default new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', tools: { ${tools.map((id) => `${id}: tool('${id}')`).join(', ')} } })
`

function shop(project: Project): void {
  project.linkPackage()
  mkdirSync(join(project.folder, 'src'))
  project.write('package.json', '{ "name": "shop", "type": "module" }')
  save(project, server('find', 'buy'))
}

/** At once: an empty file would be seen, too. */
function save(project: Project, text: string): void {
  project.write('src/server.ts.new', text)
  renameSync(join(project.folder, 'src/server.ts.new'), join(project.folder, 'src/server.ts'))
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

async function send(port: number, method: string, params: object = {}): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      connection: 'close',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }),
  })
  await response.text()
  return response.status
}

test('the screen of a session: ready, requests, a change, two mistakes, and mended', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using project = new Project()
  shop(project)
  const port = await testPort()
  await using dev = new Screen(['dev', '--target', 'node', '--port', `${port}`], project.folder)
  await dev.says('Ctrl+C stops it.')
  await send(port, 'tools/list')
  await dev.says(/tools\/list \d+ ms/)
  await send(port, 'prompts/lst')
  await dev.says(/prompts\/lst error -32601/)
  save(project, server('find', 'buy', 'pay'))
  await dev.says('3 tools (+1)')
  save(project, `${server('find')}\tconst price = ;\n`)
  await dev.says('before this change goes on')
  await send(port, 'tools/list')
  await dev.says(/goes on\n.*tools\/list \d+ ms/)
  save(project, `${server('find')}\nthrow new Error('no database')\n`)
  await dev.says(/no database.*\n.*\n.*\n.*goes on\n/)
  save(project, server('find'))
  await dev.says('1 tool (-2)')
  await dev.interrupt()

  await expectScreen(dev.text, 'dev')
  // In bold, underlined: the two addresses that one looks for.
  expect(dev.raw).toContain(
    `URL         \u001b[1m\u001b[4mhttp://127.0.0.1:${port}/mcp\u001b[24m\u001b[22m\n`,
  )
  expect(dev.raw).toContain(`Playground  \u001b[1m\u001b[4mhttp://127.0.0.1:${port}/\u001b[24m\u001b[22m\n`)
  expect(dev.raw).toContain('\u001b[32m200\u001b[39m tools/list')
  expect(dev.raw).toContain('\u001b[31m404\u001b[39m prompts/lst')
})

test('a server that wants a token, with NO_COLOR: how a client gets it, and no styles', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using project = new Project()
  shop(project)
  project.write(
    'src/server.ts',
    `import { MCPServer } from 'mayfly-mcp'
import { staticTokens } from 'mayfly-mcp/auth'
const auth = staticTokens([{ token: 'a-token-of-the-tests', clientId: 'tests' }])
export default new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', auth })`,
  )
  const args = ['dev', '--target', 'node', '--port', `${await testPort()}`]
  await using dev = new Screen(args, project.folder, { NO_COLOR: '1' })
  await dev.says('Ctrl+C stops it.')
  await dev.interrupt()
  await expectScreen(dev.text, 'dev-token')
  expect(dev.raw).not.toContain('\u001b')
})

test('where stderr is no terminal, a request is one line of JSON, and a mistake has no frame', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using project = new Project()
  shop(project)
  const port = await testPort()
  await using mayfly = new MayflyProcess(['dev', '--target', 'node', '--port', `${port}`], project.folder)
  await mayfly.ready()
  expect(mayfly.stdout).toBe(`ready http://127.0.0.1:${port}/mcp\n`)
  await send(port, 'tools/list')
  await mayfly.says(/^\{"level":"info",.*"method":"tools\/list".*\}\n/m)
  save(project, 'export default {{{')
  await mayfly.says(/mayfly: src\/server\.ts:1:17: .*\nmayfly: the server from before this change goes on\n/)
})

test('preview: nothing about a reload, and the command that deploys what was tried', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using project = new Project()
  shop(project)
  const args = ['preview', '--target', 'lambda', '--port', `${await testPort()}`]
  await using preview = new Screen(args, project.folder)
  await preview.says('Next: npx mayfly deploy --target lambda')
  await preview.interrupt()
  // A line about what takes long is written over.
  await expectScreen(preview.text.slice(preview.text.indexOf('\n  mayfly ')), 'preview')
})
