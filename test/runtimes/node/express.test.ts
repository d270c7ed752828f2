/** An Express app around `nodeListener`, with the official client. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import express, { type Express } from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { nodeListener } from '../../../adapters/node.ts'
import { createTool, MCPServer } from '../../../src/index.ts'

const greet = createTool({
  id: 'greet',
  execute: (_input, { request }) => `at ${new URL(request!.url).pathname}`,
})

const server = new MCPServer({
  id: 'mounted',
  name: 'Mounted',
  version: '1.0.0',
  log: false,
  tools: { greet },
})

async function listen(app: Express): Promise<string> {
  const http = createServer(app)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void http.close())
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

async function greeting(url: string): Promise<unknown> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const { content } = await client.callTool({ name: 'greet' })
  await client.close()
  return content
}

describe.each<[string, (app: Express) => unknown]>([
  ['no body parser', () => {}],
  ['express.json()', (app) => app.use(express.json())],
  ['express.text()', (app) => app.use(express.text({ type: () => true }))],
  ['express.raw()', (app) => app.use(express.raw({ type: () => true }))],
])('after %s', (_what, prepare) => {
  it('a client is served, at the address that it asked [http.any-path]', async () => {
    const app = express()
    prepare(app)
    app.use('/sub', nodeListener(server))
    const origin = await listen(app)

    expect(await greeting(`${origin}/sub/mcp`)).toEqual([{ type: 'text', text: 'at /sub/mcp' }])
    const page = await fetch(`${origin}/sub/mcp`, { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain(`${origin}/sub/mcp`)
  })

  it('a body where none is expected is not looked at', async () => {
    const app = express()
    prepare(app)
    app.use(nodeListener(server))
    const { port } = new URL(await listen(app))
    for (const method of ['GET', 'HEAD']) {
      const headers = { 'content-type': 'application/json', 'content-length': 7 }
      const sent = request({ port, host: '127.0.0.1', path: '/mcp', method, headers })
      sent.end('{"a":1}')
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      response.resume()
      expect(response.statusCode).toBe(405)
    }
  })

  it('a packed body is read once', async () => {
    const app = express()
    prepare(app)
    app.all('/mcp', nodeListener(server))
    const response = await fetch(`${await listen(app)}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync('{"jsonrpc":"2.0","id":1,"method":"ping"}'),
    })
    // Without a parser nobody unpacks it.
    expect(response.status).toBe(_what === 'no body parser' ? 415 : 200)
  })
})

it('a path that names another host changes no host', async () => {
  const app = express()
  app.use(nodeListener(server))
  const origin = await listen(app)
  const { result } = (await (
    await fetch(`${origin}//evil.example/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}',
    })
  ).json()) as { result: unknown }
  expect(result).toMatchObject({ content: [{ text: 'at //evil.example/mcp' }] })
})
