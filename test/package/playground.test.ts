/** The playground as it is published: small, complete, and in nothing that is deployed. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { MayflyProcess, Project } from '../cli/_dev-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MAX_BYTES = 42_000
const MAX_TASKS_BYTES = 13_000

type PageModule = typeof import('../../deploy/playground/page.ts')

const loadBuilt = (): Promise<PageModule> =>
  import(join(ROOT, 'dist/deploy/playground/page.js')) as Promise<PageModule>

/** The page, its style and its script. */
function bytesOf({ readAsset }: PageModule, page: string): number {
  const [, script] = /<script type=module src="\/__mayfly\/([^"]+)">/.exec(page)!
  const texts = [page, readAsset('style.css').body, readAsset(script!).body]
  return texts.reduce((sum, text) => sum + gzipSync(text).length, 0)
}

test('the playground with its style and script is at most 42 KB gzipped, the page of tasks 13 KB', async () => {
  const built = await loadBuilt()
  const page = { path: '/mcp', token: 'x'.repeat(43), tasksPath: '/tasks', reloads: 7 }

  expect(bytesOf(built, built.renderPlayground(page))).toBeLessThanOrEqual(MAX_BYTES)
  expect(bytesOf(built, built.renderTasks(page))).toBeLessThanOrEqual(MAX_TASKS_BYTES)
})

test('as published, each page is one module, which loads nothing', async () => {
  const { ASSETS, readAsset } = await loadBuilt()
  const built = readdirSync(join(ROOT, 'dist/deploy/playground/browser'))
  const scripts = ASSETS.filter((name) => name !== 'style.css')

  expect([...scripts].sort()).toEqual(built.sort())
  expect(built).toEqual(['main.js', 'tasks.js'])
  // Not within a text: the page copies programs that import.
  const imports = /(?:^|[;}\n])import ?[{*"']|\bimport ?\(|\bfrom ?["']\./
  for (const script of scripts) expect(imports.test(readAsset(script).body), script).toBe(false)
})

test('a page has no script, style or handler of its own, and loads nothing from elsewhere', async () => {
  const { playgroundHeaders, renderPlayground, renderTasks } = await loadBuilt()
  const origin = 'http://127.0.0.1:3000'
  const hostile = '/"><script>1</script>'
  for (const [render, script] of [
    [renderPlayground, 'main'],
    [renderTasks, 'tasks'],
  ] as const) {
    const page = render({ path: hostile, token: 'x', tasksPath: hostile })
    expect(page.match(/<script[^>]*>/g)).toEqual([`<script type=module src="/__mayfly/${script}.js">`])
    expect(page).not.toMatch(/<style|\son\w+=|style=|src="?https?:|href="?https?:/)
  }
  expect(playgroundHeaders(origin)['content-security-policy']).not.toMatch(/unsafe|\*/)
})

test.for(['node', 'cloudflare', 'bun', 'deno'])(
  'what mayfly build makes for %s has nothing of it',
  { timeout: 120_000 },
  async (target) => {
    await using project = new Project()
    mkdirSync(join(project.folder, 'node_modules'))
    symlinkSync(ROOT, join(project.folder, 'node_modules/mayfly-mcp'))
    for (const name of ['@hono', 'wrangler', '@modelcontextprotocol'])
      symlinkSync(join(ROOT, 'node_modules', name), join(project.folder, 'node_modules', name))
    project.write(
      'server.ts',
      `import { createTool, MCPServer } from 'mayfly-mcp'
const hello = createTool({ id: 'hello', execute: () => 'hello' })
export default new MCPServer({ id: 'a', name: 'A', version: '1.0.0', tools: { hello } })`,
    )
    const { code, stderr } = await new MayflyProcess(['build', '--target', target], project.folder).exited
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) })
    const folder = join(project.folder, 'dist', target)
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )
    const all = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n')

    expect(all).toContain('hello')
    expect(all).not.toMatch(/__mayfly\/|[Pp]layground/)
  },
)
