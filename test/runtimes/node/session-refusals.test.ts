/** What a session refuses, and how its client is told. */
import { afterEach, describe, expect, it } from 'vitest'
import { bearer, staticTokens } from '../../../src/auth.ts'
import { createTool, type MCPServerConfig } from '../../../src/index.ts'
import { eventually } from '../../_eventually.ts'
import { secretOf } from '../../_secrets.ts'
import { CLIENT, endSessions, read, start } from './_raw-sessions.ts'

afterEach(endSessions)

const TOKEN = secretOf('t')
const audited: string[] = []
const GUARDED: Partial<MCPServerConfig> = {
  auth: staticTokens([{ token: TOKEN, clientId: 'ann', scopes: [] }], { anonymous: { tools: ['open'] } }),
  audit: { record: ({ method, outcome, status }) => void audited.push(`${method} ${outcome} ${status}`) },
  tools: {
    open: createTool({ id: 'open', execute: () => 'open' }),
    rule: createTool({ id: 'rule', scopes: ['admin'], execute: () => 'ruled' }),
  },
}
const RULE = { name: 'rule', arguments: {} }

describe.each([{ enableJsonResponse: false }, { enableJsonResponse: true }])(
  'sessions with %j',
  (options) => {
    it.each([
      ['a scope', TOKEN, 403, /error="insufficient_scope", scope="admin"/],
      ['a token', undefined, 401, /^Bearer resource_metadata="/],
    ])('a call that lacks %s is refused as without a session', async (_what, token, status, challenge) => {
      const { post, open, sessions } = start({ ...options, idleMs: 1000 }, GUARDED, token)
      const id = await open()
      await eventually(() => expect(audited).toContain('initialize done 200'))
      audited.length = 0
      const refused = await post(id, 'tools/call', RULE, 7)
      expect(refused.status).toBe(status)
      expect(refused.headers.get('www-authenticate')).toMatch(challenge)
      expect(refused.headers.get('cache-control')).toBe('no-store')
      expect(await refused.json()).toMatchObject({ id: 7, error: { code: expect.any(Number) } })
      expect(audited).toEqual([`tools/call refused ${status}`])
      // Its id is free again, and nothing of it keeps the session.
      const opened = await post(id, 'tools/call', { name: 'open', arguments: {} }, 7)
      expect(opened.status).toBe(200)
      expect((await read(opened)).result).toBeDefined()
      await eventually(() => expect(sessions.size).toBe(0))
    })
  },
)

it.each([
  ['a member that no revision has', { more: 1 }],
  ['a progress token that is none', { params: { _meta: { progressToken: {} } } }],
  ['a related task that is none', { params: { _meta: { 'io.modelcontextprotocol/related-task': 5 } } }],
])('a request with %s is answered as without a session, in a batch, too', async (_what, more) => {
  const { send, open } = start()
  const id = await open({ protocolVersion: '2025-03-26' })
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping', ...more }
  const told = { jsonrpc: '2.0', method: 'notifications/initialized', ...more }
  const stateless = await read(await send({ method: 'POST', body: JSON.stringify(ping) }))
  expect(stateless).toMatchObject({ id: 1 })
  for (const body of [ping, [told, ping]]) {
    const response = await send({ method: 'POST', body: JSON.stringify(body) }, id)
    expect(response.status).toBe(200)
    expect(await read(response)).toEqual(stateless)
  }
})

it.each([
  ['without a version', { protocolVersion: undefined }],
  ['without a client', { clientInfo: undefined }],
  ['with capabilities that are none', { capabilities: 5 }],
])('initialize %s → -32602, and no session', async (_what, params) => {
  const { sessions, post } = start()
  const refused = await read(await post(undefined, 'initialize', { ...CLIENT, ...params }))
  expect(refused).toMatchObject({ id: 1, error: { code: -32602 } })
  await eventually(() => expect(sessions.size).toBe(0))
})

it.each([
  ['another Accept', { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }, 'text/plain', 406],
  ['a stream that is no stream', { method: 'GET' }, 'application/json', 406],
])('%s is refused without an id that is null', async (_what, init, accept, status) => {
  const { send, open } = start()
  const id = await open()
  const headers = { accept, 'content-type': 'application/json', 'mcp-session-id': id }
  const refused = await send({ ...init, headers }, id)
  expect(refused.status).toBe(status)
  const message = (await refused.json()) as object
  expect(message).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } })
  expect(message).not.toHaveProperty('id')
})

it('in a batch, a call that is refused is answered among the others', async () => {
  const { send, open } = start({}, GUARDED, TOKEN)
  const id = await open({ protocolVersion: '2025-03-26' })
  const call = (rpcId: number, name: string) => ({
    jsonrpc: '2.0',
    id: rpcId,
    method: 'tools/call',
    params: { name, arguments: {} },
  })
  const body = JSON.stringify([call(1, 'rule'), call(2, 'open')])
  const response = await send({ method: 'POST', body }, id)
  expect(response.status).toBe(200)
  const text = await response.text()
  expect(text).toContain('"id":1,"error"')
  expect(text).toContain('"id":2,"result"')
})

it('a session that is being opened while they close is refused, and none is left', async () => {
  let admit = (): void => {}
  const asked = new Promise<void>((resolve) => {
    admit = resolve
  })
  const auth = bearer(async (token) => {
    await asked
    return { clientId: token }
  })
  const { sessions, post } = start({}, { auth, http: { publicUrl: 'http://localhost/mcp' } }, TOKEN)
  const opening = post(undefined, 'initialize', CLIENT)
  const closing = sessions.close()
  admit()
  expect((await opening).status).toBe(503)
  await closing
  expect(sessions.size).toBe(0)
})
