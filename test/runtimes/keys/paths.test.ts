/** A key is checked on every path of a Node process: statelessly, in sessions, over HTTP+SSE, and in front of routes of a Hono app. */
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { createSessions, fileKeyStore, nodeListener } from '../../../adapters/node.ts'
import { startSSE } from '../../../adapters/node-mastra.ts'
import { honoAuth } from '../../../src/auth.ts'
import { apiKeys, createKeyAdmin, createMemoryKeyStore } from '../../../src/keys.ts'
import { createServer, modernRequest } from '../../unit/_client.ts'

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
})
const ACCEPTED = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

async function ready(server?: string) {
  const store = createMemoryKeyStore()
  const admin = createKeyAdmin(store, { server: 'test' })
  const auth = apiKeys({ store, header: 'x-api-key', cacheMs: 0, ...(server !== undefined && { server }) })
  const { key, id } = await admin.create({ name: 'ci' })
  const headersOf = (text: string) => [{ 'x-api-key': text }, { authorization: `Bearer ${text}` }]
  return { auth, key, headersOf, revoke: () => admin.revoke(id) }
}

it('sessions: to open one, and for each message in it; a revoked key ends none but is refused', async () => {
  const { auth, key, headersOf, revoke } = await ready()
  const sessions = createSessions(createServer({ auth }))
  try {
    const send = (headers: Record<string, string>, body = INITIALIZE) =>
      sessions.fetch(
        new Request('http://localhost/mcp', { method: 'POST', headers: { ...ACCEPTED, ...headers }, body }),
      )
    expect((await send({})).status).toBe(401)
    for (const headers of headersOf(`${key}x`)) expect((await send(headers)).status).toBe(401)
    const ids: string[] = []
    for (const headers of headersOf(key)) {
      const opened = await send(headers)
      expect(opened.status).toBe(200)
      await opened.text()
      ids.push(opened.headers.get('mcp-session-id')!)
    }
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' })
    const pinged = async () => (await send({ 'mcp-session-id': ids[0]!, 'x-api-key': key }, ping)).status
    expect(await pinged()).toBe(200)
    await revoke()
    expect(await pinged()).toBe(401)
  } finally {
    await sessions.close()
  }
})

it.each(['nodeListener', 'startSSE'])(
  '%s: 401 with a challenge, unless a good key is sent',
  async (entry) => {
    const { auth, key, headersOf } = await ready()
    const server = createServer({ auth })
    const listener = nodeListener(server)
    const http = createHttpServer((req, res) =>
      entry === 'startSSE'
        ? void startSSE({
            server,
            url: new URL(req.url!, 'http://127.0.0.1'),
            ssePath: '/sse',
            messagePath: '/message',
            req,
            res,
          } as never)
        : listener(req, res),
    ).listen(0, '127.0.0.1')
    await once(http, 'listening')
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    try {
      const ask = (headers: Record<string, string>) =>
        entry === 'startSSE'
          ? fetch(`${url}/sse`, { headers: { accept: 'text/event-stream', ...headers } })
          : fetch(`${url}/mcp`, { method: 'POST', headers: { ...ACCEPTED, ...headers }, body: INITIALIZE })
      for (const headers of [{}, ...headersOf('mk_no_key')]) {
        const refused = await ask(headers as Record<string, string>)
        expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
          401,
          expect.stringMatching(/^Bearer .*resource_metadata="/),
        ])
      }
      for (const headers of headersOf(key)) {
        const answered = await ask(headers)
        expect(answered.status).toBe(200)
        await answered.body?.cancel()
      }
    } finally {
      http.closeAllConnections()
      http.close()
    }
  },
)

it('honoAuth: the route knows the caller', async () => {
  const { auth, headersOf, key } = await ready('test')
  const app = new Hono<{ Variables: { auth: { clientId: string } } }>()
  app.use('/orders', honoAuth(auth) as never)
  app.get('/orders', (c) => c.text(c.get('auth').clientId))
  expect((await app.request('/orders')).status).toBe(401)
  for (const headers of headersOf(key))
    expect(await (await app.request('/orders', { headers })).text()).toBe('ci')
})

it('a file that cannot be read → 503, and the path is in the log alone', async () => {
  const logged: unknown[] = []
  const { key } = await ready()
  const auth = apiKeys({ store: fileKeyStore(import.meta.dirname) })
  const server = createServer({ auth, onError: (error) => void logged.push(error) })
  const response = await server.fetch(
    modernRequest('server/discover', {}, { headers: { authorization: `Bearer ${key}` } }),
  )
  expect(response.status).toBe(503)
  expect(await response.text()).not.toContain(import.meta.dirname)
  expect(String(logged[0])).toContain('The store of API keys failed')
})
