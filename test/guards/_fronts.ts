/** How a server is mounted on Node: each front listens on a port of its own. */

import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve as serveHono } from '@hono/node-server'
import { Hono } from 'hono'
import {
  closeSessions,
  createSessions,
  type FetchServer,
  nodeListener,
  serve,
  startHTTP,
} from '../../adapters/node.ts'
import { startHonoSSE, startSSE } from '../../adapters/node-mastra.ts'
import type { MCPServer, RequestPlatform } from '../../src/index.ts'

export interface Front {
  readonly port: number
  /** Where messages are posted, or a stream is opened. */
  readonly path: string
  close(): Promise<unknown>
}

/** What a front tells the server of its platform besides what it always does. */
export type Told = Partial<RequestPlatform>

function telling(server: FetchServer, told: Told): FetchServer {
  return {
    fetch: server.fetch,
    handle: (request, platform) => server.handle!(request, { ...platform, ...told }),
    close: async () => server.close?.(),
  }
}

async function viaServe(server: FetchServer, told: Told): Promise<Front> {
  const { port, close } = await serve(telling(server, told), { port: 0 })
  return { port, path: '/mcp', close }
}

async function listen(http: Server, path: string, end: () => Promise<unknown>): Promise<Front> {
  if (!http.listening) {
    http.listen(0, '127.0.0.1')
    await new Promise((resolve) => http.once('listening', resolve))
  }
  const close = async (): Promise<void> => {
    await end()
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  }
  return { port: (http.address() as AddressInfo).port, path, close }
}

const viaListener = (listener: RequestListener, path: string, end: () => Promise<unknown>): Promise<Front> =>
  listen(createServer(listener), path, end)

const SSE_PATHS = { ssePath: '/sse', messagePath: '/message' }

const urlOf = (path: string | undefined): URL => new URL(path ?? '', 'http://127.0.0.1')

export const FRONTS = {
  serve: viaServe,
  sessions: (server: MCPServer, told: Told) => viaServe(createSessions(server), told),
  nodeListener: (server: MCPServer, told: Told) =>
    viaListener(nodeListener(telling(server, told)), '/mcp', () => server.close()),
  startHttp: (server: MCPServer) =>
    viaListener(
      (req, res) => {
        const options = { serverless: true }
        void startHTTP({ server, url: urlOf(req.url), httpPath: '/mcp', req, res, options })
      },
      '/mcp',
      () => server.close(),
    ),
  sse: (server: MCPServer) =>
    viaListener(
      (req, res) => void startSSE({ server, url: urlOf(req.url), ...SSE_PATHS, req, res }),
      '/sse',
      () => closeSessions(server),
    ),
  honoSse: (server: MCPServer) => {
    const app = new Hono()
    app.all('*', (context) => startHonoSSE({ server, url: new URL(context.req.url), ...SSE_PATHS, context }))
    return viaHono(app, '/sse', () => closeSessions(server))
  },
  hono: (server: MCPServer) => {
    const app = new Hono()
    app.all('/api/mcp', (context) => server.fetch(context.req.raw, context.env))
    return viaHono(app, '/api/mcp', () => server.close())
  },
} as const

async function viaHono(app: Hono, path: string, end: () => Promise<unknown>): Promise<Front> {
  const http = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
  if (!http.listening) await new Promise((resolve) => http.once('listening', resolve))
  return listen(http, path, end)
}
