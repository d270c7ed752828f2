/** `req.auth`, set by middleware of Express, is `ctx.auth` where the server has no `auth` of its own. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import express, { type Express, type RequestHandler } from 'express'
import { expect, it, onTestFinished, vi } from 'vitest'
import { hostCaller } from '../../../adapters/_node/host-auth.ts'
import { nodeListener, startHTTP } from '../../../adapters/node.ts'
import { startSSE } from '../../../adapters/node-mastra.ts'
import { staticTokens } from '../../../src/auth.ts'
import { createMemoryRateLimiter, createTool, MCPServer, type MCPServerConfig } from '../../../src/index.ts'
import { fromSdk } from '../../../src/sdk.ts'

const whoami = createTool({
  id: 'whoami',
  execute: (_input, { auth }) =>
    auth === undefined ? 'nobody' : JSON.stringify([auth.clientId, auth.scopes, auth.token, auth.extra]),
})
const refund = createTool({ id: 'refund', scopes: ['orders:write'], execute: () => 'Refunded' })

const create = (config: Partial<MCPServerConfig> = {}): MCPServer =>
  new MCPServer({
    id: 'a',
    name: 'A',
    version: '1.0.0',
    log: false,
    auth: 'host',
    tools: { whoami, refund },
    ...config,
  })

async function listen(prepare: (app: Express) => unknown): Promise<string> {
  const app = express()
  prepare(app)
  const http = createServer(app)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

const setting =
  (auth: unknown): RequestHandler =>
  (req, _res, next) => {
    Object.assign(req, { auth })
    next()
  }

function post(url: string, message: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
}

async function call(url: string, name: string, headers?: Record<string, string>): Promise<Response> {
  return post(url, { id: 1, method: 'tools/call', params: { name } }, headers)
}

/** What `whoami` says. */
async function ask(url: string, headers?: Record<string, string>): Promise<unknown> {
  const { result } = await (await call(url, 'whoami', headers)).json()
  return result.content[0].text
}

const ADA = { token: 't-1', clientId: 'ada', scopes: ['orders:read'], extra: { sub: 'u1' } }

const mount = {
  nodeListener: (app: Express, server: MCPServer) => app.use('/mcp', nodeListener(server)),
  startHTTP: (app: Express, server: MCPServer) =>
    app.use((req, res) => {
      const url = new URL(req.url, 'http://localhost')
      void startHTTP({ server, url, httpPath: '/mcp', req, res, options: { serverless: true } })
    }),
}

it.each<[what: string, http: NonNullable<MCPServerConfig['http']>]>([
  ['without a rate limit', {}],
  ['with one', { rateLimiter: createMemoryRateLimiter({ calls: 9, windowMs: 60_000 }) }],
])('an expired one, %s → 401', async (_what, http) => {
  const setExpired = setting({ ...ADA, expiresAt: 1 })
  const url = await listen((app) => app.use('/mcp', setExpired, nodeListener(create({ http }))))

  const response = await call(`${url}/mcp`, 'whoami')

  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
})

it.each(['nodeListener', 'startHTTP'] as const)('%s: what requireBearerAuth has found out', async (how) => {
  const verifier = {
    verifyAccessToken: async (token: string) => ({ ...ADA, token, expiresAt: Date.now() / 1000 + 60 }),
  }
  const url = await listen((app) => {
    app.use(requireBearerAuth({ verifier }))
    mount[how](app, create())
  })

  expect(await ask(`${url}/mcp`, { authorization: 'Bearer t-1' })).toBe(
    '["ada",["orders:read"],"t-1",{"sub":"u1"}]',
  )
  expect((await call(`${url}/mcp`, 'whoami')).status).toBe(401)
})

it.each<[string, unknown, string]>([
  ['the claims of a JWT', { sub: 'u2', scope: 'a b' }, '["u2",["a","b"],"",{"sub":"u2"}]'],
  ['a payload beside its token', { payload: { sub: 'u3' }, token: 'x' }, '["u3",[],"x",{"sub":"u3"}]'],
  ['nothing', undefined, 'nobody'],
])('%s is understood', async (_what, auth, said) => {
  const url = await listen((app) => mount.nodeListener(app.use(setting(auth)), create()))

  expect(await ask(`${url}/mcp`)).toBe(said)
})

it.each(['nodeListener', 'startHTTP'] as const)(
  '%s: what is no identity has no name and no scopes, and is reported once',
  async (how) => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => said.mockRestore())
    const url = await listen((app) => mount[how](app.use(setting(() => ADA)), create()))

    expect([await ask(`${url}/mcp`), await ask(`${url}/mcp`)]).toEqual(['nobody', 'nobody'])
    expect((await call(`${url}/mcp`, 'refund')).status).toBe(401)
    expect(said).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('set { token, clientId, scopes }'))
  },
)

it.each(['nodeListener', 'startHTTP'] as const)(
  '%s: a caller that the middleware does not name → 401 for what needs a scope, and not listed',
  async (how) => {
    const url = await listen((app) => mount[how](app, create()))

    const refused = await call(`${url}/mcp`, 'refund')
    const list = await (await post(`${url}/mcp`, { id: 1, method: 'tools/list' })).json()

    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    expect(list.result.tools.map(({ name }: { name: string }) => name)).toEqual(['whoami'])
    expect(await ask(`${url}/mcp`)).toBe('nobody')
  },
)

it('what names nobody and has no token is another caller each time', async () => {
  const url = await listen((app) => mount.nodeListener(app.use(setting({ valid: true })), create()))

  const said = [await ask(`${url}/mcp`), await ask(`${url}/mcp`)]

  expect(said[0]).toMatch(/^\["token-/)
  expect(said[1]).toMatch(/^\["token-/)
  expect(said[0]).not.toBe(said[1])
})

it('a client cannot set it', async () => {
  const url = await listen((app) => mount.nodeListener(app.use(express.json()), create()))
  const headers = { auth: JSON.stringify(ADA), 'x-auth': JSON.stringify(ADA), authorization: 'Bearer t-1' }

  expect(await ask(`${url}/mcp?auth=${encodeURIComponent(JSON.stringify(ADA))}`, headers)).toBe('nobody')
})

it('a prototype cannot set it', async () => {
  expect(await hostCaller(Object.create({ auth: ADA }), () => {})).toBeUndefined()
  expect(await hostCaller({ auth: ADA }, () => {})).toMatchObject({ auth: { clientId: 'ada' } })
})

it('a tool whose scopes it lacks is absent from lists, and 403 when it is called', async () => {
  const url = await listen((app) => mount.nodeListener(app.use(setting(ADA)), create()))

  const list = await (await post(`${url}/mcp`, { id: 1, method: 'tools/list' })).json()
  const refused = await call(`${url}/mcp`, 'refund')

  expect(list.result.tools.map(({ name }: { name: string }) => name)).toEqual(['whoami'])
  expect(refused.status).toBe(403)
  expect(refused.headers.get('www-authenticate')).toBe(
    'Bearer error="insufficient_scope", scope="orders:write"',
  )
})

it('a server with auth of its own decides by that', async () => {
  const auth = staticTokens([{ token: 'a-token-of-the-server', clientId: 'own' }])
  const url = await listen((app) => mount.nodeListener(app.use(setting(ADA)), create({ auth })))

  expect((await call(`${url}/mcp`, 'whoami')).status).toBe(401)
  expect(await ask(`${url}/mcp`, { authorization: 'Bearer a-token-of-the-server' })).toMatch(/^\["own"/)
})

it('a server of the official SDK behind fromSdk finds it as extra.authInfo', async () => {
  const server = fromSdk(() => {
    const inner = new McpServer({ name: 'v1', version: '1.0.0' })
    inner.registerTool('whoami', {}, (extra) => ({
      content: [{ type: 'text', text: String(extra.authInfo?.clientId) }],
    }))
    return inner
  })
  const url = await listen((app) => app.use('/mcp', setting(ADA), nodeListener(server)))

  expect(await ask(`${url}/mcp`)).toBe('ada')
})

/** Several users, each by a header. */
const settingByHeader: RequestHandler = (req, _res, next) => {
  Object.assign(req, { auth: { ...ADA, clientId: req.headers['x-test-user'] } })
  next()
}

const INITIALIZE = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
}

it('startHTTP with sessions: a session belongs to the caller who opened it', async () => {
  const server = create()
  const url = await listen((app) => {
    app.use(settingByHeader)
    app.use((req, res) => {
      void startHTTP({ server, url: new URL(req.url, 'http://localhost'), httpPath: '/mcp', req, res })
    })
  })
  const opened = await post(`${url}/mcp`, INITIALIZE, { 'x-test-user': 'ada' })
  const session = opened.headers.get('mcp-session-id')!
  await opened.text()
  const inSession = (user: string): Promise<Response> =>
    call(`${url}/mcp`, 'whoami', { 'mcp-session-id': session, 'x-test-user': user })

  expect(await (await inSession('ada')).text()).toContain('[\\"ada\\"')
  expect((await inSession('bob')).status).toBe(404)
})

it('startSSE: messages of another caller find no stream; those of its own know who asks', async () => {
  const server = create()
  const url = await listen((app) => {
    app.use(settingByHeader)
    app.use((req, res) => {
      const at = new URL(req.url, 'http://localhost')
      void startSSE({ server, url: at, ssePath: '/sse', messagePath: '/message', req, res })
    })
  })
  const stream = await fetch(`${url}/sse`, { headers: { 'x-test-user': 'ada' } })
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  onTestFinished(() => void reader.cancel().catch(() => {}))
  let seen = ''
  const until = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(seen)) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`The stream ended: ${seen}`)
      seen += value
    }
    return pattern.exec(seen)![0]
  }
  const endpoint = (await until(/\/message\?\S+/)).trim()
  const send = (message: object, user: string): Promise<Response> =>
    post(`${url}${endpoint}`, message, { 'x-test-user': user })

  expect((await send(INITIALIZE, 'bob')).status).toBe(404)
  expect((await send(INITIALIZE, 'ada')).status).toBe(202)
  await until(/protocolVersion/)
  await send({ id: 1, method: 'tools/call', params: { name: 'whoami' } }, 'ada')
  expect(await until(/ada\\"/)).toBe('ada\\"')
})
