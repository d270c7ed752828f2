/** `mayfly dev --inspector` with the real Inspector, whose page is opened in Chromium. */
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { launchChromium } from '../browser/_chromium.ts'
import { areAlive, MayflyProcess, Project, stopAll, until } from '../cli/_dev-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const INSPECTOR = join(import.meta.dirname, 'tasks/inspector/node_modules/@modelcontextprotocol/inspector')

afterAll(stopAll)

test('its page is connected, and both end together', { timeout: 180_000 }, async () => {
  await using project = new Project()
  mkdirSync(join(project.folder, 'node_modules/@modelcontextprotocol'), { recursive: true })
  symlinkSync(INSPECTOR, join(project.folder, 'node_modules/@modelcontextprotocol/inspector'))
  symlinkSync(ROOT, join(project.folder, 'node_modules/mayfly-mcp'))
  symlinkSync(join(ROOT, 'node_modules/@hono'), join(project.folder, 'node_modules/@hono'))
  project.write(
    'server.ts',
    `import { createTool, MCPServer } from 'mayfly-mcp'
const hello = createTool({ id: 'hello', execute: () => 'hello' })
export default new MCPServer({ id: 'a', name: 'A', version: '1.0.0', tools: { hello } })`,
  )
  const args = ['dev', '--inspector', '--target', 'node', '--port', String(await testPort())]
  const cli = join(ROOT, 'dist/deploy/cli.js')
  await using mayfly = new MayflyProcess(args, project.folder, cli, { HOME: project.folder })
  const line = /Inspector {3,}(\S+)\n/
  const address = line.exec(await mayfly.says(line))![1]!
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.goto(address)
    await mayfly.says(/"method":"tools\/list".*"client":"mcp-inspector/)
  } finally {
    await browser.close()
  }
  const started = mayfly.descendants()
  expect((await mayfly.signal('SIGINT')).code).toBe(0)
  await until(() => !areAlive(started))
})
