/** The spellings of Mastra's `MCPClient`: `mayfly-mcp/mastra-client` takes each, or refuses it with what to write instead. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { MCPClient as NativeClient } from '../../../src/client.ts'
import { createResource, createTool } from '../../../src/index.ts'
import {
  createSimpleTokenProvider,
  MCPClient,
  type MCPClientConfig,
  MCPOAuthClientProvider,
  type ProgressUpdate,
  type ServerLogMessage,
} from '../../../src/mastra-client.ts'
import { deadUrl, startHangingServer, startMayfly } from './_servers.ts'

function createClient<Name extends string>(config: MCPClientConfig<Name>): MCPClient<Name> {
  const client = new MCPClient(config)
  onTestFinished(() => client.disconnect())
  return client
}

const url = 'https://shop.example/mcp'

const work = createTool({
  id: 'work',
  inputSchema: z.object({ fail: z.boolean().optional() }),
  execute: async ({ fail }, ctx) => {
    await ctx.reportProgress({ progress: 1, total: 1 })
    await ctx.log('warning', { disk: 'full' })
    if (fail === true) throw new Error('broken')
    return 'done'
  },
})
const note = createResource({ uri: 'note://one', name: 'one', read: () => 'first' })
const tools = { work }

const REFUSED: readonly [option: string, value: unknown, remedy: string][] = [
  ['allowedHosts', ['a.example'], 'give a fetch that refuses other hosts'],
  ['capabilities', { elicitation: {} }, 'elicitation.onRequest'],
  ['connectTimeout', 3000, 'timeoutMs'],
  ['eventSourceInit', {}, 'headers, requestInit and token are sent over HTTP+SSE'],
  ['forwardInstructions', true, 'getServerInstructions()'],
  ['inheritDefaultEnv', false, 'transport'],
  ['inputRequests', async () => ({ action: 'cancel' }), 'client.elicitation.onRequest'],
  ['instructionsMaxLength', 10, 'getServerInstructions()'],
  ['jsonSchemaValidator', {}, 'leave it out'],
  ['protocolVersion', 'legacy', 'newest protocol version'],
  ['reconnectionOptions', {}, 'leave it out'],
  ['requireToolApproval', true, 'before you call execute()'],
  ['roots', [], 'no roots'],
  ['sessionId', 'x', 'sessions are opened'],
  ['traceContext', () => undefined, 'traceparent'],
  ['frobnicate', 1, 'its options are url, '],
  ['fetch', (_url: string, _init: object, _context: object) => fetch(url), 'request context'],
]

it.each(REFUSED)('servers.a.%s → TypeError that says what to write instead', (option, value, remedy) => {
  const config = { servers: { a: { url, [option]: value } } }

  expect(() => new MCPClient(config)).toThrow(TypeError)
  expect(() => new MCPClient(config)).toThrow(new RegExp(`^servers\\.a(\\.| has no option ")${option}`))
  expect(() => new MCPClient(config)).toThrow(remedy)
})

it.each<[string, object, string]>([
  [
    'coerceSchemasTo',
    { servers: {}, coerceSchemasTo: 'zod' },
    'coerceSchemasTo is not supported: leave it out',
  ],
  [
    'two names of one option',
    { servers: {}, timeout: 1, timeoutMs: 1 },
    'timeout is another name for timeoutMs',
  ],
  [
    'two names of a server’s option',
    { servers: { a: { url, log: () => {}, logger: () => {} } } },
    'servers.a.logger is another name for log',
  ],
  ['a time that is none', { servers: { a: { url, timeout: -1 } } }, '"timeout" of servers.a must be'],
  [
    'another way to fail',
    { servers: { a: { url, onToolError: 'retry' } } },
    '"onToolError" of servers.a must be',
  ],
  ['error output to read', { servers: { a: { command: 'x', stderr: 'pipe' } } }, 'servers.a.stderr must be'],
])('%s → TypeError', (_case, config, message) => {
  expect(() => new MCPClient(config as MCPClientConfig)).toThrow(TypeError)
  expect(() => new MCPClient(config as MCPClientConfig)).toThrow(message)
})

it('mayfly-mcp/client has one name for each option', () => {
  for (const option of ['timeout', 'logger', 'serverLogLevel', 'enableServerLogs']) {
    const config = { servers: { a: { url, [option]: 1 } } }
    expect(() => new NativeClient(config)).toThrow(`servers.a has no option "${option}": `)
  }
})

it('what Mastra exports for signing in → TypeError that names createOAuthProvider and token', () => {
  expect(() => new MCPOAuthClientProvider({})).toThrow('write createOAuthProvider(')
  expect(() => createSimpleTokenProvider('t', {})).toThrow('{ url, token }')
})

it('methods that only Mastra has → TypeError that says what to do instead', async () => {
  const client = createClient({ servers: { a: { url } } })

  await expect(client.authenticate('a')).rejects.toThrow('finishAuth')
  await expect(client.cancelAuthentication('a')).rejects.toThrow('cancelAuthentication()')
  expect(() => client.getServerAuthState('a')).toThrow('UNAUTHORIZED')
  expect(() => client.getServerStderr('a')).toThrow('transport')
  expect(() => client.toMCPServerProxies()).toThrow('new MCPServer')
})

it('timeout ends a request as timeoutMs does; that of the server wins', async () => {
  const hanging = await startHangingServer()
  const client = createClient({
    servers: { own: { url: hanging, timeout: 50 }, common: { url: hanging } },
    timeout: 70,
  })

  await expect(client.callTool('own', 'x')).rejects.toThrow('within 50 ms')
  await expect(client.callTool('common', 'x')).rejects.toThrow('within 70 ms')
})

it('runId is the progressToken of what progress.onUpdate gets; else each call has one of its own', async () => {
  const client = createClient({ servers: { shop: { url: await startMayfly({ tools }) } } })
  const updates: ProgressUpdate[] = []
  client.progress.onUpdate('shop', (update) => void updates.push(update))
  const { shop_work: tool } = await client.listTools()

  await tool!.execute({}, { runId: 'run-1' })
  await client.callTool('shop', 'work', {}, { progressToken: 'run-2' })
  await tool!.execute({})

  expect(updates.map(({ progressToken }) => progressToken)).toEqual([
    'run-1',
    'run-2',
    expect.stringMatching(/^[0-9a-f-]{36}$/),
  ])
})

it('enableProgressTracking: false → no call asks for progress', async () => {
  const server = { url: await startMayfly({ tools }), enableProgressTracking: false }
  const client = createClient({ servers: { shop: server } })
  const updates: unknown[] = []
  client.progress.onUpdate('shop', (update) => void updates.push(update))

  await client.callTool('shop', 'work', {}, { onProgress: (update) => updates.push(update) })

  expect(updates).toEqual([])
})

it('logger gets text, time, server and details; enableServerLogs: false asks for none', async () => {
  const messages: ServerLogMessage[] = []
  const logger = (message: ServerLogMessage) => void messages.push(message)
  const server = { url: await startMayfly({ tools }), logger, serverLogLevel: 'warning' as const }
  const client = createClient({ servers: { on: server, off: { ...server, enableServerLogs: false } } })

  await client.callTool('on', 'work')
  await client.callTool('off', 'work')

  expect(messages).toEqual([
    {
      level: 'warning',
      message: '{"disk":"full"}',
      timestamp: expect.any(Date),
      serverName: 'on',
      details: { data: { disk: 'full' } },
    },
  ])
})

it('onToolError: return → execute resolves with the answer that is isError', async () => {
  const server = { url: await startMayfly({ tools }), onToolError: 'return' as const }
  const client = createClient({ servers: { shop: server } })
  const { shop_work: tool } = await client.listTools()

  await expect(tool!.execute({ fail: true })).resolves.toMatchObject({ isError: true })
})

it('prompts.get and resources.read take one object; a prompt’s version reaches the server', async () => {
  const asked: (string | undefined)[] = []
  const client = createClient({
    servers: {
      shop: {
        url: await startMayfly({
          resources: [note],
          prompts: {
            listPrompts: async () => [
              { name: 'hi', version: '1' },
              { name: 'hi', version: '2' },
            ],
            getPromptMessages: async ({ version }) => {
              asked.push(version)
              return [{ role: 'user', content: { type: 'text', text: `v${version}` } }]
            },
          },
        }),
      },
    },
  })

  const second = await client.prompts.get({ serverName: 'shop', name: 'hi', version: '2' })
  await client.prompts.get('shop', 'hi')
  const read = await client.resources.read({ serverName: 'shop', uri: 'note://one' })

  expect(second.messages).toEqual([{ role: 'user', content: { type: 'text', text: 'v2' } }])
  expect(asked).toEqual(['2', '1'])
  expect(read.contents).toMatchObject([{ uri: 'note://one', text: 'first' }])
})

it('…WithErrors has what the live servers say, and the failure of each other one, of which onError is not told', async () => {
  const told: unknown[] = []
  const client = createClient({
    servers: {
      up: { url: await startMayfly({ tools, resources: [note] }) },
      dead: { url: await deadUrl() },
      slow: { url: await startHangingServer() },
    },
    onError: (error) => void told.push(error),
  })
  const options = { perServerTimeoutMs: 1000 }
  const failures = {
    errors: { dead: expect.stringContaining('"dead"'), slow: expect.stringContaining('within 1000 ms') },
    errorDetails: { dead: { code: 'CONNECTION_FAILED' }, slow: { code: 'TIMEOUT' } },
    durations: { up: expect.any(Number), dead: expect.any(Number), slow: expect.any(Number) },
  }

  const [listed, sets, definitions, resources, templates, prompts] = await Promise.all([
    client.listToolsWithErrors(options),
    client.listToolsetsWithErrors(options),
    client.listToolDefinitionsWithErrors(options),
    client.resources.listWithErrors(options),
    client.resources.templatesWithErrors(options),
    client.prompts.listWithErrors(options),
  ])

  for (const answer of [listed, sets, definitions, resources, templates])
    expect(answer).toMatchObject(failures)
  expect(Object.keys(listed.tools)).toEqual(['up_work'])
  expect(Object.keys(sets.toolsets.up!)).toEqual(['work'])
  expect(Object.keys(definitions.definitions)).toEqual(['up'])
  expect(resources.resources.up).toMatchObject([{ uri: 'note://one' }])
  expect(templates.templates).toEqual({ up: [] })
  expect(Object.keys(prompts.errors)).toContain('dead')
  expect(told).toEqual([])
})

it('definitions survive JSON, and are called without asking for a list; foreign servers are left out', async () => {
  const server = await startMayfly({ tools })
  const first = createClient({ id: 'first', servers: { shop: { url: server } } })
  const kept = JSON.parse(JSON.stringify(await first.listToolDefinitions()))
  const bodies: string[] = []
  const counted: typeof fetch = (input, init) => {
    bodies.push(String(init?.body))
    return fetch(input, init)
  }
  const second = createClient({ id: 'second', servers: { shop: { url: server, fetch: counted } } })

  const rebuilt = await second.toolsFromDefinitions({ definitions: { ...kept, gone: kept.shop } })
  const one = await second.toolFromDefinition({ serverName: 'shop', definition: kept.shop.work })
  expect(bodies).toEqual([])
  await expect(rebuilt.shop_work!.execute({})).resolves.toMatchObject({ content: [{ text: 'done' }] })

  expect(Object.keys(rebuilt)).toEqual(['shop_work'])
  expect(one.id).toBe('shop_work')
  expect(kept.shop.work.server).toEqual({ name: 'shop', version: '1.0.0' })
  expect(bodies.some((body) => body.includes('tools/list'))).toBe(false)
  const nothing = second.toolFromDefinition({
    serverName: 'shop',
    definition: { ...kept.shop.work, name: '' },
  })
  await expect(nothing).rejects.toThrow('definition is not a tool of MCP server "shop"')
})

it('instructions and protocol version are known once a server was connected', async () => {
  const client = createClient({
    servers: { shop: { url: await startMayfly({ tools, instructions: 'Be kind.' }) } },
  })

  expect(client.getServerInstructions()).toEqual({ shop: undefined })
  await client.listTools()

  expect(client.getServerInstructions()).toEqual({ shop: 'Be kind.' })
  expect(client.getServerProtocolVersions()).toEqual({ shop: '2026-07-28' })
})

it('reconnectServer opens another connection', async () => {
  const probes: string[] = []
  const http = createServer((_request, response) => response.writeHead(500).end())
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void http.close())
  const dead = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const counted: typeof fetch = (input, init) => {
    if (String(init?.body).includes('server/discover')) probes.push('probe')
    return fetch(input, init)
  }
  const client = createClient({
    servers: { shop: { url: await startMayfly({ tools }), fetch: counted }, broken: { url: dead } },
    onError: () => {},
  })
  await client.listTools()

  await client.reconnectServer('shop')

  expect(probes).toHaveLength(2)
  await expect(client.reconnectServer('broken')).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
})
