/** A long-lived process carries changes without a configured bus; what only looks like one does not. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { bun } from '../../../adapters/bun.ts'
import { deno } from '../../../adapters/deno.ts'
import { mcp } from '../../../adapters/hono.ts'
import { closeSessions, nodeListener, type StartHTTPOptions, startHTTP } from '../../../adapters/node.ts'
import { createTool, MCPServer } from '../../../src/index.ts'
import { modernRequest } from '../_client.ts'
import { createClient, startFetchServer } from './_servers.ts'

const NEWS = 'news://today'

const createNews = (config?: { bus: false }): MCPServer =>
  new MCPServer({
    ...config,
    id: 'news',
    name: 'News',
    version: '1.0.0',
    log: false,
    resources: [{ uri: NEWS, read: () => 'Nothing happened' }],
    tools: {
      heard: createTool({
        id: 'heard',
        execute: (_input, ctx) => ({ listChanged: ctx.can('tools.listChanged').available }),
      }),
    },
  })

async function startNode(server: MCPServer, options?: StartHTTPOptions): Promise<string> {
  const http = createServer((req, res) => {
    const url = new URL(req.url ?? '', 'http://localhost')
    void startHTTP({ server, url, httpPath: '/mcp', req, res, ...(options && { options }) })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await closeSessions(server)
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
}

/** What the client hears of a change, and whether the server told its tools that changes arrive. */
async function hears(server: MCPServer, url: string): Promise<{ heard: string[]; isTold: unknown }> {
  const client = createClient({ servers: { news: { url } } })
  const { structuredContent } = await client.callTool('news', 'heard')
  const heard: string[] = []
  client.resources.onUpdated('news', ({ uri }) => heard.push(uri))
  try {
    await client.resources.subscribe('news', NEWS)
    await client.tools.onListChanged('news', () => heard.push('tools'))
  } catch {
    return { heard, isTold: Reflect.get(structuredContent!, 'listChanged') }
  }
  await server.resources.notifyUpdated({ uri: NEWS })
  await server.tools.notifyListChanged()
  await expect.poll(() => heard).toEqual([NEWS, 'tools'])
  return { heard, isTold: Reflect.get(structuredContent!, 'listChanged') }
}

const ALL = { heard: [NEWS, 'tools'], isTold: true }
const NONE = { heard: [], isTold: false }

afterEach(() => vi.unstubAllEnvs())

it('startHTTP: a modern client hears changes [listen.process]', async () => {
  const server = createNews()
  expect(await hears(server, await startNode(server))).toEqual(ALL)
})

it('serve: a modern client hears changes [listen.process]', async () => {
  const server = createNews()
  expect(await hears(server, await startFetchServer(server))).toEqual(ALL)
})

it('startHTTP with serverless: nothing is advertised [listen.process]', async () => {
  const server = createNews()
  expect(await hears(server, await startNode(server, { serverless: true }))).toEqual(NONE)
})

it.each(['VERCEL', 'AWS_LAMBDA_FUNCTION_NAME', 'NETLIFY', 'FUNCTIONS_WORKER_RUNTIME', 'FUNCTION_TARGET'])(
  '%s in the environment of Node: nothing is advertised [listen.process]',
  async (name) => {
    vi.stubEnv(name, '1')
    const server = createNews()
    expect(await hears(server, await startFetchServer(server))).toEqual(NONE)
  },
)

const discover = (): Request => modernRequest('server/discover', {}, { url: 'http://127.0.0.1/mcp' })

const advertised = async (response: Response | Promise<Response>): Promise<unknown> =>
  (JSON.parse(await (await response).text()) as { result: { capabilities: object } }).result.capabilities

const BUN = { hostname: '127.0.0.1', requestIP: () => null, timeout: () => {}, stop: async () => {} }

it.each([
  ['Bun', {}, (server: MCPServer, env: object) => bun(server, { env }).fetch(discover(), BUN)],
  ['Deno', {}, (server: MCPServer, env: object) => deno(server, { env })(discover())],
])('%s: the process is a bus [listen.process]', async (_, env, serve) => {
  expect(await advertised(serve(createNews(), env))).toMatchObject({
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
  })
})

it.each([
  ['Deno Deploy', { DENO_DEPLOYMENT_ID: 'd' }],
  ['a Supabase function', { SB_EXECUTION_ID: 's' }],
])('%s: an isolate is none [listen.process]', async (_, env) => {
  expect(await advertised(deno(createNews(), { env })(discover()))).toMatchObject({
    tools: {},
    resources: {},
  })
})

it('fetch alone, as on Workers: an isolate is none [listen.process]', async () => {
  const capabilities = await advertised(createNews().fetch(discover()))
  expect(capabilities).toEqual({ tools: {}, resources: {}, logging: {} })
})

it('nodeListener in an app of one process: the process is a bus [listen.process]', async () => {
  const server = createNews()
  const http = createServer(nodeListener(server))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  expect(await hears(server, url)).toEqual(ALL)
})

it('startStdio: a modern client hears changes [listen.process]', async () => {
  const args = [`${import.meta.dirname}/_stdio-mayfly.ts`]
  const client = createClient({ servers: { news: { command: process.execPath, args } } })
  const heard: string[] = []
  client.resources.onUpdated('news', ({ uri }) => heard.push(uri))
  await client.resources.subscribe('news', NEWS)
  await client.tools.onListChanged('news', () => heard.push('tools'))
  await client.callTool('news', 'publish')
  await expect.poll(() => heard).toEqual([NEWS, 'tools'])
})

it.each([
  ['served by Node', { incoming: {} }, { listChanged: true }],
  ['on Workers', { DB: {} }, {}],
])('a Hono app %s [listen.process]', async (_, env, tools) => {
  const app = new Hono().all('/mcp', mcp(createNews()))
  expect(await advertised(app.fetch(discover(), env))).toMatchObject({ tools })
})

it('one of several processes, with `bus: false` → nothing is promised', async () => {
  const server = createNews({ bus: false })
  const url = await startNode(server, { serverless: false, sessionIdGenerator: undefined })
  const { heard, isTold } = await hears(server, url)
  expect([heard, isTold]).toEqual([[], false])
})
