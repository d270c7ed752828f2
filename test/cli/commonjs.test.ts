/** A server, and an app of Express, written in CommonJS: in `dev`, `stdio` and `build`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, Project, until } from './_dev-process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const SERVER = `'use strict'
const { MCPServer, createTool } = require('mayfly-mcp')
const { words } = require('./lib/words')
const say = createTool({ id: 'say', execute: () => words() })
const server = new MCPServer({ id: 'a', name: 'A', version: '1.0.0', tools: { say }, log: false })
`

/** Express has no ES module: its files are required, and the app reads a file beside it. */
const APP = `const express = require('express')
const { join } = require('path')
const { fromNode } = require('mayfly-mcp/from-node')
const { words } = require('./lib/words')
const app = express()
app.set('views', join(__dirname, 'views'))
app.use(express.json())
app.post('/mcp', (req, res) => {
  res.json({ jsonrpc: '2.0', id: req.body.id, result: { content: [{ type: 'text', text: words() }] } })
})
`

const ENTRIES: readonly (readonly [name: string, type: string | undefined, source: string])[] = [
  ['server.cjs', 'module', `${SERVER}module.exports = server`],
  ['server.js', 'commonjs', `${SERVER}module.exports = server`],
  [
    'server.js',
    undefined,
    `${SERVER}exports.default = server\nObject.defineProperty(exports, '__esModule', { value: true })`,
  ],
  ['server.cts', 'module', `${SERVER}module.exports = server`],
  ['app.js', undefined, `${APP}module.exports = fromNode(app, { log: false })`],
  ['app.cjs', 'module', `${APP}module.exports = fromNode(app, { log: false })`],
]

function written(name: string, type: string | undefined, source: string): Project {
  const project = new Project()
  project.linkPackage()
  for (const name of ['express', '@hono', '@modelcontextprotocol'])
    symlinkSync(join(ROOT, 'node_modules', name), join(project.folder, 'node_modules', name))
  project.write('package.json', JSON.stringify({ name: 'shop', ...(type !== undefined && { type }) }))
  mkdirSync(join(project.folder, 'lib'))
  project.write('lib/package.json', '{"type":"commonjs"}')
  project.write(
    'lib/words.js',
    `exports.words = () => 'hello of ' + require('path').basename(__dirname) + ' ' + typeof __filename`,
  )
  project.write(name, source)
  return project
}

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'say', arguments: {} } }

async function answerAt(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(CALL),
  })
  return response.text()
}

async function answers(port: number): Promise<string> {
  let text = ''
  await until(async () => {
    text = await answerAt(port).catch(() => '')
    return text !== ''
  })
  return text
}

describe.each(ENTRIES)('%s in a package of type %s', (name, type, source) => {
  test('runs in dev', { timeout: 60_000 }, async () => {
    await using project = written(name, type, source)
    const port = await testPort()
    await using running = new MayflyProcess(['dev', name, '--port', String(port)], project.folder)
    await running.ready()
    expect(await answers(port)).toContain('hello of lib string')
  })

  test.each([
    ['node', 'server.mjs', process.execPath],
    ['bun', 'server.js', join(ROOT, 'node_modules/.bin/bun')],
  ])('is built for %s, and the build runs elsewhere', { timeout: 60_000 }, async (target, main, program) => {
    await using project = written(name, type, source)
    const { code, stderr } = await new MayflyProcess(['build', name, '--target', target], project.folder)
      .exited
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const port = await testPort()
    const child = spawn(program, [join(project.folder, 'dist', target, main)], {
      cwd: '/',
      env: { ...process.env, HOST: undefined, PORT: String(port) },
      stdio: 'ignore',
    })
    try {
      // The folder is that of the bundle.
      expect(await answers(port)).toContain(`hello of ${target} string`)
    } finally {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })
})

describe.each(ENTRIES.filter(([name]) => name.startsWith('server')))(
  '%s in a package of type %s',
  (name, type, source) => {
    test('runs in stdio', { timeout: 60_000 }, async () => {
      await using project = written(name, type, source)
      const child = spawn(process.execPath, [join(ROOT, 'dist/deploy/cli.js'), 'stdio', name], {
        cwd: project.folder,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      let said = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
      child.stdin.write(`${JSON.stringify(CALL)}\n`)
      await until(() => said.includes('\n'))
      expect(said).toContain('hello of lib string')
      child.stdin.end()
      expect((await once(child, 'exit'))[0]).toBe(0)
    })
  },
)

test('names that a file declares itself stay its own', { timeout: 60_000 }, async () => {
  await using project = written(
    'server.ts',
    'module',
    `import { createRequire } from 'node:module'
import { MCPServer, createTool } from 'mayfly-mcp'
const require = createRequire(import.meta.url)
const __dirname = 'mine'
const { words } = require(${JSON.stringify('node:path')}) && { words: () => 'hello of ' + __dirname }
export default new MCPServer({ id: 'a', name: 'A', version: '1.0.0', log: false, tools: { say: createTool({ id: 'say', execute: () => words() }) } })`,
  )
  const port = await testPort()
  await using running = new MayflyProcess(['dev', 'server.ts', '--port', String(port)], project.folder)
  await running.ready()
  expect(await answers(port)).toContain('hello of mine')
})
