/** What an import of `mayfly-mcp/node` loads: a server over stdio needs neither Node's http nor `@hono/node-server`. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')

/** A project in which only this package is installed. */
const project = mkdtempSync(join(tmpdir(), 'mayfly-alone-'))
for (const part of ['package.json', 'dist'])
  cpSync(join(ROOT, part), join(project, 'node_modules/mayfly-mcp', part), { recursive: true })
afterAll(() => rmSync(project, { recursive: true }))

/** The JSON that a module prints, in a process of its own. */
function run(cwd: string, code: string): unknown {
  const args = ['--input-type=module', '--eval', code]
  return JSON.parse(execFileSync(process.execPath, args, { cwd, encoding: 'utf8', stdio: 'pipe' }))
}

it('neither http nor Node’s fetch, until something is served', () => {
  const loaded = run(
    ROOT,
    `const { nodeListener } = await import('mayfly-mcp/node')
    const names = ['http', 'http2', 'internal/deps/undici/undici', 'buffer']
    const loaded = () => names.filter((name) => process.moduleLoadList.includes('NativeModule ' + name))
    const before = loaded()
    nodeListener({ fetch: () => new Response() })
    while (!loaded().includes('http2')) await new Promise((resolve) => setTimeout(resolve))
    console.log(JSON.stringify([before, loaded()]))`,
  )
  expect(loaded).toEqual([['buffer'], ['http', 'http2', 'internal/deps/undici/undici', 'buffer']])
})

it('without @hono/node-server: serve says what to install, and a listener answers 500 and says it, too', () => {
  const [message, status, printed] = run(
    project,
    `const { createServer } = await import('node:http')
    const { nodeListener, serve, startStdio } = await import('mayfly-mcp/node')
    const printed = []
    console.error = (line) => printed.push(String(line))
    const server = { fetch: () => new Response() }
    const message = await serve(server, { port: 0 }).then(() => '', (error) => error.message)
    const http = createServer(nodeListener(server)).listen(0, '127.0.0.1', async () => {
      const { status } = await fetch('http://127.0.0.1:' + http.address().port)
      console.log(JSON.stringify([message, status, printed.join()]))
      process.exit(0)
    })`,
  ) as [string, number, string]
  expect(message).toBe('mayfly-mcp/node needs @hono/node-server: npm install @hono/node-server')
  expect(status).toBe(500)
  expect(printed).toContain(message)
})

/** Sends POSTs, and prints whether Node's fetch was loaded. */
const POSTS = `
  const { createTool, MCPServer } = await import('mayfly-mcp')
  const { serve } = await import('mayfly-mcp/node')
  const { request } = process.getBuiltinModule('node:http')
  const echo = createTool({ id: 'echo', execute: async () => 'hello' })
  const server = new MCPServer({ name: 'Shop', version: '1.0.0', log: false, tools: { echo } })
  const { url, close } = await serve(server, { port: 0 })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const send = (method, body = '') => new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...headers, 'content-length': body.length } }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve([response.statusCode, text.includes('hello')])
    })
    sent.on('error', reject).end(body)
  })
  const hasFetch = () => process.moduleLoadList.includes('NativeModule internal/deps/undici/undici')
  const params = { name: 'echo', arguments: {} }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const seen = [await send('POST', body), hasFetch(), await send('GET'), hasFetch()]
  await close()
  console.log(JSON.stringify(seen))
  process.exit(0)`

it('a call of an MCPServer loads neither Node’s fetch nor @hono/node-server, any other request does', () => {
  expect(run(ROOT, POSTS)).toEqual([[200, true], false, [405, false], true])
})

it('without @hono/node-server an MCPServer is not served either, although its calls do not need it', () => {
  const message = run(
    project,
    `const { serve } = await import('mayfly-mcp/node')
    // As an MCPServer, which needs packages that are not installed here.
    const handle = async () => new Response()
    const server = { fetch: handle, handle, leanHandle: handle }
    const message = await serve(server, { port: 0 }).then(() => '', (error) => error.message)
    console.log(JSON.stringify(message))`,
  )
  expect(message).toBe('mayfly-mcp/node needs @hono/node-server: npm install @hono/node-server')
})
