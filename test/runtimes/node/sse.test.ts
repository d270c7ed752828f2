/** Clients of the deprecated HTTP+SSE transport that leave, or do not read. */

import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { serve as serveHono } from '@hono/node-server'
import { Hono } from 'hono'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mcp } from '../../../adapters/hono.ts'
import { closeSessions, nodeListener, serve } from '../../../adapters/node.ts'
import { startHonoSSE, startSSE } from '../../../adapters/node-mastra.ts'
import { bearer } from '../../../src/auth.ts'
import { createTool, MCPServer, type MCPServerConfig } from '../../../src/index.ts'
import { eventually } from '../../_eventually.ts'

const cleanups: (() => unknown)[] = []
/** What would have ended the process. */
const uncaught: unknown[] = []
const onUncaught = (error: unknown): void => void uncaught.push(error)
beforeEach(() => {
  uncaught.length = 0
  process.on('uncaughtException', onUncaught)
})
afterEach(async () => {
  process.off('uncaughtException', onUncaught)
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

const PATHS = { ssePath: '/sse', messagePath: '/message' }

/** Mounts `server` on a port, in each of the two ways. */
const MOUNTS = {
  startSSE: (server: MCPServer): Server =>
    createServer((req, res) => {
      void startSSE({ server, url: new URL(req.url ?? '', 'http://127.0.0.1'), ...PATHS, req, res })
    }).listen(0, '127.0.0.1'),
  startHonoSSE: (server: MCPServer): Server => {
    const app = new Hono()
    app.all('*', (context) => startHonoSSE({ server, url: new URL(context.req.url), ...PATHS, context }))
    return serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
  },
}

async function mount(how: keyof typeof MOUNTS, config: Partial<MCPServerConfig> = {}) {
  const server = new MCPServer({ id: 'sse', name: 'SSE', version: '1.0.0', log: false, ...config })
  const http = MOUNTS[how](server)
  if (!http.listening) await new Promise((resolve) => http.once('listening', resolve))
  const { port } = http.address() as AddressInfo
  let gone = 0
  http.on('connection', (socket) => socket.once('close', () => gone++))
  cleanups.push(async () => {
    await closeSessions(server)
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })
  return { server, port, base: `http://127.0.0.1:${port}`, gone: () => gone }
}

/** A bearer token's check that takes until `open` is called. */
function gatedAuth() {
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const waiting: string[] = []
  const auth = bearer(async (token) => {
    waiting.push(token)
    await gate
    return { clientId: token }
  })
  return { auth, open: () => open(), waiting }
}

const GET_STREAM = 'GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer someone\r\n\r\n'

async function knock(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write(GET_STREAM)
  return socket
}

/** Opens a stream, and tells what came on it. */
async function listen(base: string) {
  const leave = new AbortController()
  const headers = { authorization: 'Bearer someone' }
  const response = await fetch(`${base}/sse`, { headers, signal: leave.signal })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const { value = '' } = await reader.read()
  const endpoint = base + /data: (\S+)/.exec(value)![1]
  const post = (message: object) =>
    fetch(endpoint, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
  await post({ id: 0, method: 'initialize', params: INITIALIZE })
  return { reader, post, leave: () => leave.abort() }
}

const INITIALIZE = {
  protocolVersion: '2025-03-26',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
}

const MAX_STREAMS = 1000

describe.each(['startSSE', 'startHonoSSE'] as const)('%s', (how) => {
  it('clients that leave while they are let in keep no stream, and end no process', async () => {
    const { auth, open, waiting } = gatedAuth()
    const { port, base, gone } = await mount(how, { auth, http: { publicUrl: 'http://127.0.0.1/mcp' } })
    for (let left = 0; left < MAX_STREAMS; left += 100) {
      const sockets = await Promise.all(Array.from({ length: 100 }, () => knock(port)))
      await eventually(() => expect(waiting).toHaveLength(left + 100))
      for (const socket of sockets) socket.destroy()
      await eventually(() => expect(gone()).toBe(left + 100))
    }
    open()
    const response = await fetch(`${base}/sse`, { headers: { authorization: 'Bearer someone' } })
    expect(response.status).toBe(200)
    await response.body!.cancel()
    expect(uncaught).toEqual([])
  })

  it('a client that leaves while messages stream ends no process, and its calls', async () => {
    const aborted: string[] = []
    const talk = createTool({
      id: 'talk',
      execute: async (_input, ctx) => {
        while (!ctx.signal.aborted) {
          ctx.log('info', 'on and on')
          await new Promise((resolve) => setImmediate(resolve))
        }
        aborted.push(ctx.requestId)
        return 'over'
      },
    })
    const { base } = await mount(how, { tools: { talk } })
    const { reader, post, leave } = await listen(base)
    await post({ id: 1, method: 'tools/call', params: { name: 'talk', arguments: {} } })
    let heard = ''
    while (!heard.includes('on and on')) heard += (await reader.read()).value
    leave()
    await eventually(() => expect(aborted).toHaveLength(1))
    expect(uncaught).toEqual([])
  })

  it('a client that leaves 8 MB unread is cut off, which ends its calls [limits.slow-reader]', async () => {
    let outcome = ''
    const flood = createTool({
      id: 'flood',
      execute: async (_input, ctx) => {
        for (let sent = 0; sent < 100 && !ctx.signal.aborted; sent++) {
          ctx.log('info', 'x'.repeat(1024 * 1024))
          await new Promise((resolve) => setImmediate(resolve))
        }
        outcome = ctx.signal.aborted ? 'aborted' : 'all sent'
        return 'over'
      },
    })
    const { base } = await mount(how, { tools: { flood } })
    const { post } = await listen(base)
    await post({ id: 1, method: 'tools/call', params: { name: 'flood', arguments: {} } })
    await eventually(() => expect(outcome).toBe('aborted'))
    expect(uncaught).toEqual([])
  })
})

it('startHonoSSE in an app that serve() serves → knows the connection: a foreign Host is refused', async () => {
  const server = new MCPServer({ id: 'sse', name: 'SSE', version: '1.0.0', log: false })
  const app = new Hono()
  app.all('*', (context) => startHonoSSE({ server, ...PATHS, context }))
  const running = await serve(app, { port: 0 })
  cleanups.push(async () => {
    await closeSessions(server)
    await running.close()
  })
  const statusFor = (host: string) =>
    new Promise((resolve, reject) => {
      const sent = request({ port: running.port, path: '/sse', headers: { host } }, (response) => {
        response.destroy()
        resolve(response.statusCode)
      })
      sent.on('error', reject).end()
    })
  expect(await statusFor(`localhost:${running.port}`)).toBe(200)
  expect(await statusFor('rebound.example')).toBe(403)
})

const SERVED = {
  nodeListener: (server: MCPServer): Server => createServer(nodeListener(server)).listen(0, '127.0.0.1'),
  'mcp of Hono': (server: MCPServer): Server =>
    serveHono({ fetch: new Hono().all('*', mcp(server)).fetch, port: 0, hostname: '127.0.0.1' }) as Server,
}

it.each(Object.entries(SERVED))(
  '%s: a client that leaves while it is let in is gone for its call',
  async (_how, start) => {
    const { auth, open, waiting } = gatedAuth()
    const seen: boolean[] = []
    const look = createTool({
      id: 'look',
      execute: async (_input, ctx) => {
        await new Promise((resolve) => setImmediate(resolve))
        seen.push(ctx.signal.aborted)
      },
    })
    const http = start(new MCPServer({ name: 'a', version: '1', log: false, auth, tools: { look } }))
    if (!http.listening) await new Promise((resolve) => http.once('listening', resolve))
    let gone = 0
    http.on('connection', (socket) => socket.once('close', () => gone++))
    cleanups.push(() => new Promise((resolve) => http.close(resolve)))
    const { port } = http.address() as AddressInfo
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"}}'
    const headers = {
      authorization: 'Bearer someone',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    }
    const leaving = request({ port, path: '/mcp', method: 'POST', headers })
    leaving.on('error', () => {})
    leaving.end(body)
    await eventually(() => expect(waiting).toHaveLength(1))
    leaving.destroy()
    await eventually(() => expect(gone).toBe(1))
    open()
    const stays = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers, body })

    expect(stays.status).toBe(200)
    await stays.text()
    // The first call is not run (its body is gone), or is told.
    await eventually(() => expect(seen).toContain(false))
    expect(seen.filter((isAborted) => !isAborted)).toHaveLength(1)
  },
)
