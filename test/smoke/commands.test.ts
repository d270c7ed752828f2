/** Each command once, as a user starts it, so that none is broken altogether. What they do in full: `npm run test:cli`. */

import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MayflyProcess, type Output, Project, stopAll } from '../cli/_dev-process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CLI = join(ROOT, 'deploy/cli.ts')

const project = new Project()
beforeAll(() => {
  mkdirSync(join(project.folder, 'node_modules'))
  symlinkSync(ROOT, join(project.folder, 'node_modules/mayfly-mcp'))
  symlinkSync(join(ROOT, 'node_modules/zod'), join(project.folder, 'node_modules/zod'))
  project.write(
    'server.ts',
    `import { createTool, MCPServer } from 'mayfly-mcp'
const hello = createTool({ id: 'hello', description: 'Says hello', execute: () => 'hello' })
export default new MCPServer({ id: 'shop', name: 'Shop', version: '1.2.3', description: 'Sells', tools: { hello } })`,
  )
  project.write('embed.mjs', 'export default (texts) => texts.map((text) => [text.length, 1])')
  project.write('guide.md', '# Guide\n\nHow to buy.')
})
afterAll(async () => {
  await stopAll()
  await project[Symbol.asyncDispose]()
})

function mayfly(...args: string[]): Promise<Output> {
  const home = { HOME: project.folder, USERPROFILE: project.folder }
  return new MayflyProcess(args, project.folder, CLI, home).exited
}

it('init writes a project', async () => {
  expect(await mayfly('init', 'weather', '--target', 'node')).toMatchObject({ code: 0 })
  expect(existsSync(join(project.folder, 'weather/src/server.ts'))).toBe(true)
})

it('doctor says what will degrade', async () => {
  const { code, stdout } = await mayfly('doctor', '--target', 'node')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^\d+ features degrade here, unused by your server: --verbose$/m)
  expect((await mayfly('doctor', '--target', 'node', '--verbose')).stdout).toContain('elicitation')
})

it('build and preview serve the same server', async () => {
  expect(await mayfly('build', '--target', 'node')).toMatchObject({ code: 0 })
  const args = ['preview', '--target', 'node', '--port', '0']
  await using preview = new MayflyProcess(args, project.folder)
  await preview.ready()
  expect(preview.stdout).toMatch(/^ready http:/)
})

it('dev serves what check finds no fault with, and inspect shows', async () => {
  await using dev = new MayflyProcess(['dev', '--target', 'node', '--port', '0'], project.folder)
  await dev.ready()
  const url = /^ready (\S+)$/m.exec(dev.stdout)![1]!

  expect(await mayfly('check', url)).toMatchObject({ code: 0 })
  await using inspect = new MayflyProcess(['inspect', url], project.folder)
  await inspect.ready()
  expect(inspect.stdout).toMatch(/^ready http:/)
})

it('stdio serves an official client', async () => {
  const client = new Client({ name: 'smoke', version: '1.0.0' })
  const args = [CLI, 'stdio', join(project.folder, 'server.ts')]
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, cwd: project.folder, stderr: 'ignore' }),
  )
  const { content } = await client.callTool({ name: 'hello', arguments: {} })
  await client.close()
  expect(content).toEqual([{ type: 'text', text: 'hello' }])
})

it('add writes a client’s configuration', async () => {
  const { code, stderr } = await mayfly('add', 'https://shop.example.com/mcp', '--client', 'cursor')
  expect(code, stderr).toBe(0)
  expect(readFileSync(join(project.folder, '.cursor/mcp.json'), 'utf8')).toContain('shop.example.com')
})

it('registry writes server.json', async () => {
  const { code, stderr } = await mayfly(
    'registry',
    '--name',
    'io.github.user/shop',
    '--url',
    'https://shop.example.com/mcp',
  )
  expect(code, stderr).toBe(0)
  expect(existsSync(join(project.folder, 'server.json'))).toBe(true)
})

it('ingest fills an index', async () => {
  const into = ['--store', 'index.json', '--index', 'docs', '--model', './embed.mjs']
  const { code, stderr } = await mayfly('ingest', 'guide.md', ...into)
  expect(code, stderr).toBe(0)
  expect(readFileSync(join(project.folder, 'index.json'), 'utf8')).toContain('How to buy')
})

it('deploy and logs say in one line that this platform has none', async () => {
  for (const command of ['deploy', 'logs']) {
    const { code, stderr } = await mayfly(command, '--target', 'node')
    expect(code).toBe(1)
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^mayfly: /)
  }
})
