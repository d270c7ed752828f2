/** `createOAuthMiddleware` in front of `startHTTP`, as its documentation puts the two together. */

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { closeSessions, nodeListener, startHTTP } from '../../../adapters/node.ts'
import { createOAuthMiddleware, startSSE, type ValidateToken } from '../../../adapters/node-mastra.ts'
import { createTool, MCPServer } from '../../../src/index.ts'
import { eventually } from '../../_eventually.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

const TOKEN = 'a-token-that-is-good'

const calls: string[] = []

/** Responses whose connection was closed. */
let closed = 0

const createVault = (): MCPServer =>
  new MCPServer({
    id: 'vault',
    name: 'Vault',
    version: '1.0.0',
    log: false,
    tools: {
      secret: createTool({
        id: 'secret',
        execute: (_input, { auth }) => {
          calls.push(JSON.stringify(auth))
          return 'TOP SECRET'
        },
      }),
    },
  })

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret","arguments":{}}}'

interface Paths {
  resourcePath?: string
  mcpPath?: string | undefined
  httpPath?: string
  onEnd?: () => void
}

async function start(
  validateToken: ValidateToken,
  serverless = true,
  { resourcePath = '/mcp', mcpPath, httpPath = '/mcp', onEnd }: Paths = {},
): Promise<string> {
  calls.length = 0
  closed = 0
  const server = createVault()
  const http = createServer(async (req, res) => {
    const url = new URL(req.url ?? '/', 'http://127.0.0.1')
    res.once('close', () => closed++)
    const { proceed } = await middleware(req, res, url)
    if (proceed) await startHTTP({ server, url, httpPath, req, res, options: { serverless } })
    onEnd?.()
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const oauth = {
    resource: origin + resourcePath,
    authorizationServers: ['https://issuer.example'],
    validateToken,
  }
  const middleware = createOAuthMiddleware({ oauth, ...(mcpPath !== undefined && { mcpPath }) })
  cleanups.push(async () => {
    await closeSessions(server)
    http.closeAllConnections()
    http.close()
  })
  return origin
}

function post(url: string, token?: string, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    signal: signal ?? null,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: CALL,
  })
}

const good: ValidateToken = async (token) =>
  token === TOKEN ? { valid: true, subject: 'ann', scopes: ['mcp:read'] } : { valid: false }

test('a tool sees who the middleware has let in', async () => {
  const origin = await start(good)
  const response = await post(`${origin}/mcp`, TOKEN)
  expect(await response.text()).toContain('TOP SECRET')
  expect(JSON.parse(calls[0]!)).toMatchObject({ scopes: ['mcp:read'] })
})

test.each<[string, string, string | undefined, string]>([
  ['the path of the resource', '/api/mcp', undefined, '/api/mcp'],
  ['/mcp behind a proxy that adds a path', '/api/mcp', undefined, '/mcp'],
  ['a path with a slash at its end', '/mcp', '/mcp/', '/mcp'],
])('%s is guarded', async (_what, resourcePath, mcpPath, path) => {
  const origin = await start(good, true, { resourcePath, mcpPath, httpPath: path })
  expect((await post(origin + path)).status).toBe(401)
  expect(calls).toEqual([])
  expect(await (await post(origin + path, TOKEN)).text()).toContain('TOP SECRET')
})

test.each(['mcp', 'https://shop.example/mcp', ''])('mcpPath %j is refused', (mcpPath) => {
  const oauth = { resource: 'https://a.example/mcp', authorizationServers: [], validateToken: good }
  expect(() => createOAuthMiddleware({ oauth, mcpPath })).toThrow('"mcpPath" must be a path')
})

test('a browser may ask, and is told why it was refused', async () => {
  const origin = await start(good)
  const preflight = await fetch(`${origin}/mcp`, {
    method: 'OPTIONS',
    headers: { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' },
  })
  expect(preflight.status).toBe(204)
  const refused = await post(`${origin}/mcp`)
  expect(refused.headers.get('access-control-allow-origin')).toBe('*')
  expect(refused.headers.get('access-control-expose-headers')).toContain('www-authenticate')
})

test('a client that left before is not served, and startHTTP resolves', async () => {
  let isEntered = false
  let leave = (): void => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  const slow: ValidateToken = async (token) => {
    isEntered = true
    await left
    return good(token, '')
  }
  const ended = vi.fn()
  const origin = await start(slow, true, { onEnd: ended })
  const leaving = new AbortController()
  const response = post(`${origin}/mcp`, TOKEN, leaving.signal).catch(() => {})
  await eventually(() => expect(isEntered).toBe(true))
  leaving.abort()
  await response
  await eventually(() => expect(closed).toBe(1))
  leave()
  await eventually(() => expect(ended).toHaveBeenCalled())
  expect(calls).toEqual([])
})

test.each([true, false])('no path leads around it (serverless: %s)', async (serverless) => {
  const origin = await start(good, serverless)
  const metadata = '/.well-known/oauth-protected-resource'
  for (const path of [
    '/mcp',
    '/mcp/',
    '/mcp/x',
    '/MCP',
    '/%6dcp',
    `${metadata}`,
    `${metadata}/`,
    `${metadata}/x`,
    `${metadata}foo`,
  ]) {
    const response = await post(origin + path)
    expect(await response.text(), path).not.toContain('TOP SECRET')
    expect(calls, path).toEqual([])
  }
  const read = await fetch(`${origin}${metadata}/mcp`)
  expect(await read.json()).toMatchObject({ resource: `${origin}/mcp` })
})

const METADATA = '/.well-known/oauth-protected-resource'

/** A server that answers on every path, as `nodeListener` does. */
async function startOpen(openPaths: readonly string[]): Promise<string> {
  calls.length = 0
  const server = createVault()
  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const url = new URL(req.url ?? '/', 'http://127.0.0.1')
    const { proceed } = await middleware(req, res, url)
    if (!proceed) return
    const paths = { ssePath: '/sse', messagePath: '/message' }
    if (Object.values(paths).includes(url.pathname)) await startSSE({ server, url, ...paths, req, res })
    else nodeListener(server)(req, res)
  }
  const http = createServer((req, res) => void serve(req, res))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const oauth = {
    resource: `${origin}/mcp`,
    authorizationServers: ['https://issuer.example'],
    validateToken: good,
  }
  const middleware = createOAuthMiddleware({ oauth, openPaths })
  cleanups.push(async () => {
    await closeSessions(server)
    http.closeAllConnections()
    http.close()
  })
  return origin
}

/** `fetch` would change the path. */
function postRaw(origin: string, path: string, token?: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(origin)
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method: 'POST', headers }, (response) => {
      let body = ''
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('close', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    sent.on('error', reject)
    sent.end(CALL)
  })
}

test.each([
  '/',
  '/MCP',
  '/%6dcp',
  '//mcp',
  '/mcp',
  '/x/../mcp',
  '/healthz',
  `${METADATA}x`,
  '/message?sessionId=1',
])('POST %s of a server that answers on every path → 401 without a token', async (path) => {
  const origin = await startOpen(['/healthz'])
  const { status, body } = await postRaw(origin, path)
  expect(status).toBe(401)
  expect(body).not.toContain('TOP SECRET')
  expect(calls).toEqual([])
  expect((await postRaw(origin, path === '/message?sessionId=1' ? '/' : path, TOKEN)).body).toContain(
    'TOP SECRET',
  )
})

test('a stream of startSSE needs a token; a path that is named as open does not, to be read', async () => {
  const origin = await startOpen(['/healthz'])
  expect((await fetch(`${origin}/sse`)).status).toBe(401)
  expect((await fetch(`${origin}/`, { headers: { accept: 'text/html' } })).status).toBe(401)
  expect((await fetch(`${origin}/healthz`)).status).toBe(200)
  expect((await fetch(`${origin}${METADATA}`)).status).toBe(200)
})

test.each<[string, unknown]>([
  ['a string', '/healthz'],
  ['a pattern', [/health/]],
  ['a relative path', ['healthz']],
])('openPaths: %s → TypeError that names it', (_what, openPaths) => {
  const oauth = { resource: 'https://a.example/mcp', authorizationServers: [], validateToken: good }
  expect(() => createOAuthMiddleware({ oauth, openPaths: openPaths as string[] })).toThrow(
    /^"openPaths"(?: of createOAuthMiddleware)? must be/,
  )
})

test.each<[string, ValidateToken, number]>([
  [
    'throws',
    () => {
      throw new Error('out of order')
    },
    503,
  ],
  ['rejects', () => Promise.reject(new Error('out of order')), 503],
  ['forgets to answer', (() => Promise.resolve()) as unknown as ValidateToken, 401],
])('a validateToken that %s lets nobody in, and ends nothing', async (_how, validateToken, status) => {
  const reported = vi.spyOn(console, 'error').mockImplementation(() => {})
  cleanups.push(() => reported.mockRestore())
  const origin = await start(validateToken)
  for (let n = 0; n < 2; n++) {
    const response = await post(`${origin}/mcp`, TOKEN)
    expect(response.status).toBe(status)
    expect(await response.text()).not.toContain('out of order')
  }
  expect(calls).toEqual([])
})
