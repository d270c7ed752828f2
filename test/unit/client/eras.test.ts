/** Every dialect that a server may speak, through one and the same client. */
import { fileURLToPath } from 'node:url'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { createTool, type FetchServer, type MCPServer } from '../../../src/index.ts'
import {
  createClient,
  deadUrl,
  startFetchServer,
  startHangingServer,
  startMayfly,
  startSessionServer,
  startSseServer,
} from './_servers.ts'

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const process = globalThis.process

const add = createTool({
  id: 'add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  mcp: { annotations: { readOnlyHint: true } },
  execute: ({ a, b }) => ({ sum: a + b }),
})

function createV2Server(): McpServer {
  const server = new McpServer({ name: 'v2', version: '1.0.0' })
  server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
    content: [{ type: 'text', text: `${a + b}` }],
  }))
  return server
}

it('Mayfly, SDK v2, SDK v1 with sessions, SSE and stdio of both, at once', async () => {
  const sessions = await startSessionServer()
  const client = createClient({
    servers: {
      mayfly: { url: await startMayfly({ tools: { add } }) },
      v2: { url: await startFetchServer(createMcpHandler(createV2Server)) },
      v1: { url: sessions.url },
      sse: { url: (await startSseServer()).url },
      stdio1: { command: process.execPath, args: [file('_stdio-v1.ts')] },
      stdio2: { command: process.execPath, args: [file('_stdio-v2.ts')], env: { GREETING: 'hello' } },
    },
  })

  const tools = await client.listTools()

  expect(client.errors).toEqual({})
  expect(Object.keys(tools).filter((name) => /_(add|env)$/.test(name))).toEqual([
    'mayfly_add',
    'v2_add',
    'v1_add',
    'sse_add',
    'stdio1_add',
    'stdio2_env',
  ])
  const input = { a: 1, b: 2 }
  expect(await tools.mayfly_add!.execute(input)).toEqual({ sum: 3 })
  expect(await tools.v2_add!.execute(input)).toMatchObject({ content: [{ type: 'text', text: '3' }] })
  expect(await tools.v1_add!.execute(input)).toEqual({ sum: 3 })
  expect(await tools.sse_add!.execute(input)).toEqual({ sum: 3 })
  expect(await tools.stdio1_add!.execute(input)).toEqual({ sum: 3 })
  process.env.SECRET_OF_THE_PARENT = 'secret'
  expect(await tools.stdio2_env!.execute()).toMatchObject({ content: [{ text: 'hello undefined' }] })
})

it.each([400, 404, 405])('a server that answers POST with %d is asked over HTTP+SSE', async (refusal) => {
  const client = createClient({ servers: { old: { url: (await startSseServer(refusal)).url } } })

  const result = await client.callTool('old', 'add', { a: 2, b: 2 })

  expect(result.structuredContent).toEqual({ sum: 4 })
})

it('a server that is neither is explained by what it said to both', async () => {
  const url = await startFetchServer({ fetch: () => new Response('no such page', { status: 404 }) })
  const client = createClient({ servers: { web: { url } } })

  await expect(client.callTool('web', 'add')).rejects.toMatchObject({
    code: 'CONNECTION_FAILED',
    server: 'web',
    message: expect.stringMatching(/no such page.*HTTP\+SSE: .*404/),
  })
})

it('a dead server and a hanging one are reported, and keep no other from answering', async () => {
  const reported: string[] = []
  const client = createClient({
    servers: {
      dead: { url: await deadUrl() },
      hanging: { url: await startHangingServer(), timeoutMs: 300 },
      gone: { command: '/no/such/command' },
      live: { url: await startMayfly({ tools: { add } }) },
    },
    onError: ({ server, code, operation }) => reported.push(`${server} ${operation}: ${code}`),
  })

  const tools = await client.listTools()

  expect(Object.keys(tools)).toEqual(['live_add'])
  expect(reported.sort()).toEqual([
    'dead connect: CONNECTION_FAILED',
    'gone connect: CONNECTION_FAILED',
    expect.stringMatching(/^hanging (connect|tools\/list): TIMEOUT$/),
  ])
  expect(Object.keys(client.errors)).toEqual(['dead', 'hanging', 'gone'])
  expect(Object.keys(await client.listToolsets())).toEqual(['live'])
  expect(Object.keys(await client.resources.list())).toEqual(['live'])
  expect(Object.keys(await client.resources.templates())).toEqual(['live'])
  expect(Object.keys(await client.prompts.list())).toEqual(['live'])
})

it('a server that comes back is used again, and no longer an error', async () => {
  let isDown = true
  const up = createMcpHandler(createV2Server)
  const server: FetchServer = {
    fetch: (request) => (isDown ? new Response(null, { status: 503 }) : up.fetch(request)),
  }
  const client = createClient({
    servers: { flaky: { url: await startFetchServer(server) } },
    onError: () => {},
  })
  expect(await client.listTools()).toEqual({})
  expect(client.errors.flaky?.code).toBe('CONNECTION_FAILED')
  isDown = false

  expect(Object.keys(await client.listTools())).toEqual(['flaky_add'])

  expect(client.errors).toEqual({})
})

it('a process that is silent when asked for its dialect is a legacy one', async () => {
  const servers = { silent: { command: process.execPath, args: [file('_stdio-silent.ts')], timeoutMs: 4000 } }
  const client = createClient({ servers })

  expect(Object.keys(await client.listTools())).toEqual(['silent_quiet'])
})

it('a process that has ended is started again', async () => {
  const client = createClient({
    servers: { local: { command: process.execPath, args: [file('_stdio-v2.ts')] } },
  })
  await client.callTool('local', 'exit')

  await expect
    .poll(() => client.callTool('local', 'env').catch(() => undefined))
    .toMatchObject({ content: [{ text: 'undefined undefined' }] })
})

it('a lost session (404) is replaced, and the call made again', async () => {
  const { url, sessions } = await startSessionServer(404)
  const client = createClient({ servers: { v1: { url } } })
  await client.listTools()
  const [first] = sessions.keys()
  sessions.clear()

  const result = await client.callTool('v1', 'add', { a: 1, b: 1 })

  expect(result.structuredContent).toEqual({ sum: 2 })
  expect([...sessions.keys()]).toHaveLength(1)
  expect([...sessions.keys()]).not.toEqual([first])
})

it('a 400 that may be of a lost session: what may be done twice is, a call is left to its caller', async () => {
  const { url, sessions, requests } = await startSessionServer(400)
  const client = createClient({ servers: { v1: { url } } })
  await client.listTools()
  sessions.clear()
  expect((await client.resources.list()).v1).toHaveLength(1)
  sessions.clear()
  requests.length = 0

  await expect(client.callTool('v1', 'add', { a: 1, b: 1 })).rejects.toMatchObject({ code: 'REQUEST_FAILED' })

  expect(requests.filter((request) => request === 'tools/call')).toHaveLength(1)
  const again = await client.callTool('v1', 'add', { a: 1, b: 1 })
  expect(again.structuredContent).toEqual({ sum: 2 })
})

it('a lost HTTP+SSE stream ends what waits on it; the next call opens another, and subscriptions last', async () => {
  const { url, drop } = await startSseServer()
  const client = createClient({ servers: { sse: { url } }, onError: () => {} })
  await client.resources.subscribe('sse', 'news://today')
  client.elicitation.onRequest('sse', () => {
    drop()
    return { action: 'decline' }
  })

  await expect(client.callTool('sse', 'ask')).rejects.toMatchObject({ code: 'REQUEST_FAILED' })

  const touch = () => client.callTool('sse', 'touch').catch(() => undefined)
  await expect.poll(touch).toMatchObject({ content: [{ text: 'news://today' }] })
})

it('disconnect() ends the session, and what is under way', async () => {
  const { url, sessions } = await startSessionServer()
  const client = createClient({ servers: { v1: { url }, hanging: { url: await startHangingServer() } } })
  await client.callTool('v1', 'add', { a: 1, b: 1 })
  const waiting = client.callTool('hanging', 'any').catch((error: unknown) => error)

  await client.disconnect()

  expect(sessions.size).toBe(0)
  expect(await waiting).toMatchObject({ code: 'DISCONNECTED' })
  await expect(client.listTools()).rejects.toMatchObject({ code: 'DISCONNECTED' })
  await expect(client.callTool('v1', 'add')).rejects.toMatchObject({ code: 'DISCONNECTED' })
})

it('a fetch of one’s own reaches a server in the same process', async () => {
  const { MCPServer } = await import('../../../src/index.ts')
  const server: MCPServer = new MCPServer({ id: 'm', name: 'M', version: '1', log: false, tools: { add } })
  const client = createClient({
    servers: {
      here: {
        url: 'https://in-process.example/mcp',
        fetch: async (url, init) => server.fetch(new Request(url, init)),
      },
    },
  })

  expect(await client.callTool('here', 'add', { a: 20, b: 22 })).toMatchObject({
    structuredContent: { sum: 42 },
  })
})
