/** The examples of Mastra's documentation of a running `MCPServer`: its methods, its tools, and who calls them. */
import { spawnSync } from 'node:child_process'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import express from 'express'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import {
  createTool,
  MCPServer,
  type MCPServerConfig,
  type PackageInfo,
  type RemoteInfo,
  type Repository,
  type ToolListInfo,
  type ToolsInput,
} from '../../adapters/node-mastra.ts'
import { createMemoryBus } from '../../src/index.ts'
import { MCPServer as EdgeServer } from '../../src/mastra.ts'
import { legacyRequest, modernRequest, StreamReader } from '../unit/_client.ts'
import { call, list } from './_call.ts'

const IDENTITY = { id: 'my-server', name: 'My Server', version: '1.0.0', log: false } as const

const create = (config: Partial<MCPServerConfig> = {}): MCPServer => {
  const server = new MCPServer({ ...IDENTITY, ...config })
  onTestFinished(() => server.close())
  return server
}

async function listen(listener: http.RequestListener): Promise<string> {
  const httpServer = http.createServer(listener)
  await new Promise<void>((resolve) => httpServer.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    httpServer.closeAllConnections()
    httpServer.close()
  })
  return `http://127.0.0.1:${(httpServer.address() as AddressInfo).port}`
}

const searchTool = createTool({
  id: 'search',
  description: 'Searches the knowledge base.',
  inputSchema: z.object({ query: z.string() }),
  execute: async ({ query }) => ({ results: [query] }),
})

describe('req.auth', () => {
  type Said = Record<string, unknown>

  const getUserData = createTool({
    id: 'get-user-data',
    description: 'Fetches data for the authenticated user',
    inputSchema: z.object({}),
    execute: async (_inputData, context) => {
      const authInfo = context?.mcp?.extra?.authInfo
      if (!authInfo?.extra?.userId) {
        return { error: 'Authentication required' }
      }
      return {
        userId: authInfo.extra.userId,
        email: authInfo.extra.email,
        token: authInfo.token,
        own: (authInfo as unknown as Said).userId,
        again: context.requestContext.get('authInfo') === authInfo,
      }
    },
  })

  /** "Setting Up Authentication Middleware". */
  async function ask(auth: Said | undefined, config: Partial<MCPServerConfig>): Promise<unknown> {
    const server = create({ tools: { getUserData }, ...config })
    const app = express()
    app.use('/mcp', (req, _res, next) => {
      if (auth !== undefined) Object.assign(req, { auth })
      next()
    })
    app.all('/mcp', async (req, res) => {
      const url = new URL(req.url, `http://${req.headers.host}`)
      await server.startHTTP({ url, httpPath: '/mcp', req, res })
    })
    const body = { name: 'getUserData', arguments: {} }
    const response = await fetch(modernRequest('tools/call', body, { url: `${await listen(app)}/mcp` }))
    const answer = (await response.json()) as { result?: { structuredContent: unknown }; error?: unknown }
    return answer.result?.structuredContent ?? answer
  }

  const USER = { userId: '7', email: 'a@b.c' }
  const NOBODY = { error: 'Authentication required' }

  it.each<[string, Said]>([
    ['{ token, userId, email }', { token: 't', ...USER }],
    ['{ token, clientId, scopes, extra }', { token: 't', clientId: 'c', scopes: [], extra: USER }],
  ])('%s reaches the tool whole, with auth: "host"', async (_shape, auth) => {
    expect(await ask(auth, { auth: 'host' })).toEqual({
      ...USER,
      token: 't',
      again: true,
      ...(auth.userId !== undefined && { own: '7' }),
    })
  })

  it('what does not name a caller says nothing where the server does not rely on its host', async () => {
    expect(await ask({ token: 't', ...USER }, {})).toEqual(NOBODY)
    expect(await ask(undefined, { auth: 'host' })).toEqual(NOBODY)
  })

  it('what does not name a caller opens no tool with scopes', async () => {
    const closed = createTool({ id: 'get-user-data', scopes: ['admin'], execute: () => 'open' })
    const config = { auth: 'host' as const, tools: { getUserData: closed } }
    expect(await ask({ token: 't', scopes: ['admin'], ...USER }, config)).toMatchObject({
      error: { message: expect.stringContaining('access token') },
    })
  })

  it('a call cannot change what another one reads', async () => {
    const auth = { token: 't', extra: { roles: ['reader'] } }
    const roles = createTool({
      id: 'roles',
      execute: (_input, context) => {
        const extra = context.mcp.extra.authInfo!.extra as { roles: string[] }
        return { roles: extra.roles.push('admin') }
      },
    })
    expect(await ask(auth, { auth: 'host', tools: { getUserData: roles } })).toEqual({ roles: 2 })
    expect(auth.extra.roles).toEqual(['reader'])
  })
})

describe('tools of Mastra 0.x', () => {
  it('execute({ context }, options), with options.elicitation and options.extra', async () => {
    const collectContactInfo = createTool({
      id: 'collectContactInfo',
      description: 'Collects user contact information through elicitation',
      inputSchema: z.object({ reason: z.string().optional() }),
      execute: async ({ context }, options) => {
        const { reason } = context
        const result = await options.elicitation.sendRequest({
          message: reason ? `Please provide your contact information. ${reason}` : 'Please provide it',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        })
        return `${result.action} ${options.extra.requestId} ${JSON.stringify(context)}`
      },
    })
    const server = create({ tools: { collectContactInfo } })
    const answer = { action: 'accept', content: { name: 'Ada' } }
    expect((await call(server, 'collectContactInfo', { reason: 'Why' }, [answer])).text).toBe(
      'accept 1 {"reason":"Why"}',
    )
    const plain = { description: 'x', execute: async ({ context }: { context: object }) => context }
    expect((await call(create({ tools: { plain } }), 'plain')).structuredContent).toEqual({})
  })

  it('an input with its own member `context` keeps it', async () => {
    const own = createTool({
      id: 'own',
      inputSchema: z.object({ context: z.string() }),
      execute: ({ context }) => context.toUpperCase(),
    })
    expect((await call(create({ tools: { own } }), 'own', { context: 'here' })).text).toBe('HERE')
  })
})

const CHANGED = 'notifications/tools/list_changed'

describe('the list of tools', () => {
  it('registerTool after getToolListInfo', async () => {
    const server = create({ tools: { searchTool } })
    const before: ToolListInfo = server.getToolListInfo()
    server.registerTool('greet', { description: 'Greets' }, () => 'hello')
    expect(before.tools.map(({ name }) => name)).toEqual(['searchTool'])
    expect((await list(server, 'tools')).map(({ name }) => name)).toEqual(['searchTool', 'greet'])
    expect(() => server.registerTool('late', {}, () => '')).toThrow('before the first request')
  })

  it('toolActions.add and remove: the next request has them, and clients are told', async () => {
    const greet = createTool({ id: 'greet', execute: () => 'hello' })
    const server = create({ bus: createMemoryBus(), tools: { greet } })
    expect(await list(server, 'tools')).toHaveLength(1)
    const asked = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const stream = new StreamReader(await server.handle(asked, {}))
    const told = () => expect(stream.next()).resolves.toMatchObject({ method: CHANGED })
    await stream.next()
    const tools: ToolsInput = { searchTool }
    await server.toolActions.add(tools)
    await told()
    expect((await call(server, 'searchTool', { query: 'a' })).structuredContent).toEqual({ results: ['a'] })
    await server.toolActions.remove(['searchTool', 'unknown'])
    await told()
    expect((await list(server, 'tools')).map(({ name }) => name)).toEqual(['greet'])
    await server.toolActions.notifyListChanged()
    await told()
  })

  it.each(['scopes', 'task'])(
    'toolActions.add with %s → TypeError: it belongs in the constructor',
    async (option) => {
      const tool = { ...searchTool, [option]: ['admin'] }
      await expect(create().toolActions.add({ tool })).rejects.toThrow(`"${option}": pass it in "tools"`)
    },
  )

  it('toolActions.add in place of a tool with scopes keeps them', async () => {
    const closed = createTool({ id: 'closed', scopes: ['admin'], execute: () => 'open' })
    const server = create({ auth: 'host', tools: { closed } })
    await server.toolActions.add({ closed: searchTool })
    expect(await list(server, 'tools')).toEqual([])
  })
})

it('repository, packages and remotes have Mastra’s types; releaseDate and isLatest have defaults', () => {
  const repository: Repository = { url: 'https://git.example/shop', source: 'github', id: '1' }
  const packages: PackageInfo[] = [{ registry_name: 'npm', name: 'shop', version: '1.0.0' }]
  const remotes: RemoteInfo[] = [{ transport_type: 'streamable', url: 'https://shop.example/mcp' }]
  const before = Date.now()
  const server = create({ repository, packages, remotes })
  const { version_detail, ...detail } = server.getServerDetail()
  expect(detail).toMatchObject({ repository, packages, remotes })
  expect(Date.parse(version_detail.release_date)).toBeGreaterThanOrEqual(before)
  expect(server.getServerInfo().version_detail).toEqual({ ...version_detail, is_latest: true })
})

describe('transports', () => {
  it('none before a method has started one, and none on an edge platform', () => {
    for (const server of [create(), new EdgeServer(IDENTITY)]) {
      expect(server.getStdioTransport()).toBeUndefined()
      expect(server.getSseTransport()).toBeUndefined()
      expect(server.getSseHonoTransport('id')).toBeUndefined()
      expect(server.getStreamableHTTPTransport()).toBeUndefined()
    }
  })

  it('getStdioTransport: what startStdio has started, in a process of its own', () => {
    const code = `
      import { MCPServer } from './adapters/node-mastra.ts'
      const server = new MCPServer({ id: 'a', name: 'A', version: '1.0.0' })
      const started = await server.startStdio()
      console.error(server.getStdioTransport() === started)
      await server.close()
      await started.closed`
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: join(import.meta.dirname, '../..'),
      encoding: 'utf8',
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    expect(stderr.trim()).toBe('true')
  })

  it('getStreamableHTTPTransport: the sessions of startHTTP', async () => {
    const server = create({ tools: { searchTool } })
    const url = await listen((req, res) => void server.startHTTP({ httpPath: '/mcp', req, res }))
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    }
    await (await fetch(legacyRequest('initialize', params, { url: `${url}/mcp` }))).text()
    expect(server.getStreamableHTTPTransport()?.size).toBe(1)
  })

  it('getSseTransport: the open stream of startSSE', async () => {
    const server = create()
    const route = { ssePath: '/sse', messagePath: '/message' }
    const url = await listen((req, res) => void server.startSSE({ ...route, req, res }))
    const response = await fetch(`${url}/sse`)
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    const transport = server.getSseTransport()
    expect(new TextDecoder().decode(value)).toContain(`sessionId=${transport?.sessionId}`)
    await transport!.close()
    expect((await reader.read()).done).toBe(true)
    expect(server.getSseTransport()).toBeUndefined()
  })

  it('getSseHonoTransport: the open stream of startHonoSSE, by its session id', async () => {
    const server = create()
    const route = { ssePath: '/hono-sse', messagePath: '/message' }
    const app = new Hono()
    app.all('*', (context) => server.startHonoSSE({ ...route, context }))
    const response = await app.request('http://localhost/hono-sse')
    const { value } = await response.body!.getReader().read()
    const [, id] = /sessionId=([\w-]+)/.exec(new TextDecoder().decode(value))!
    expect(server.getSseHonoTransport(id)?.sessionId).toBe(id)
    expect(server.getSseHonoTransport('another')).toBeUndefined()
  })

  it('startHonoSSE with req and res → TypeError that names the context of Hono', async () => {
    const given = { ssePath: '/sse', messagePath: '/message', req: {}, res: {} }
    await expect(create().startHonoSSE(given as never)).rejects.toThrow(
      'startHonoSSE takes the context of Hono: write app.all(path, (c) => startHonoSSE({ …, context: c })), or call startSSE with req and res.',
    )
  })

  it('sendLoggingMessage → TypeError that names context.mcp.log', () => {
    expect(() => create().sendLoggingMessage({ level: 'info', data: 'done' })).toThrow('context.mcp.log')
  })
})
