/** Who the caller is that middleware has authenticated, also if it says so in two places. */
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { mcp } from '../../../adapters/hono.ts'
import { createTool } from '../../../src/index.ts'
import { createServer } from '../_client.ts'

const server = createServer({
  auth: 'host',
  tools: {
    who: createTool({
      id: 'who',
      execute: (_input, { auth }) => ({ ...auth, extra: { ...auth?.extra } }),
    }),
  },
})

/** What `ctx.auth` is for what the middleware says; the status if the server does not answer. */
async function callerOf(said: unknown) {
  const app = new Hono().all('/mcp', mcp(server, { auth: () => said }))
  app.onError((_error, c) => c.text('', 500))
  const response = await app.request('/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","arguments":{}}}',
  })
  if (response.status !== 200) return response.status
  const { result } = (await response.json()) as { result: { content: [{ text: string }] } }
  return JSON.parse(result.content[0].text) as object
}

const PAYLOAD = { sub: 'ann', azp: 'desk', scope: 'read admin', exp: 4_000_000_000 }

it.each<[string, object, object]>([
  [
    'a payload alone',
    {},
    { clientId: 'desk', scopes: ['read', 'admin'], subject: 'ann', claims: PAYLOAD, extra: { sub: 'ann' } },
  ],
  ['the header of a JWT', { header: { kid: 'a' } }, { clientId: 'desk', extra: { sub: 'ann' } }],
  ['a client', { clientId: 'desk' }, { clientId: 'desk', scopes: ['read', 'admin'], extra: { sub: 'ann' } }],
  ['fewer scopes', { clientId: 'desk', scopes: ['read'] }, { clientId: 'desk', scopes: ['read'] }],
  ['no scopes', { scopes: [] }, { clientId: 'desk', scopes: [], extra: { sub: 'ann' } }],
  ['a scope', { scope: 'read' }, { clientId: 'desk', scopes: ['read'] }],
  ['an expiry', { clientId: 'desk', expiresAt: 3_900_000_000 }, { expiresAt: 3_900_000_000_000 }],
  ['the same subject', { sub: 'ann' }, { clientId: 'desk', extra: { sub: 'ann' } }],
])('%s beside the payload → one caller', async (_what, said, caller) => {
  const found = await callerOf({ token: 't', payload: PAYLOAD, ...said })
  const { expiresAt } = found as { expiresAt: number }
  const inMs = expiresAt < 1e12 ? expiresAt * 1000 : expiresAt
  expect({ ...(found as object), expiresAt: inMs }).toMatchObject(caller)
})

it.each<[string, object]>([
  ['another client', { clientId: 'shop' }],
  ['another client, by its claim', { client_id: 'shop' }],
  ['another subject', { sub: 'bob' }],
  ['another subject in extra', { clientId: 'desk', extra: { sub: 'bob' } }],
  ['a verdict against it', { valid: false }],
  ['a verdict in another spelling', { revoked_at: '2020-01-01' }],
])('%s beside the payload → no identity', async (_what, said) => {
  expect(await callerOf({ token: 't', payload: PAYLOAD, ...said })).toBe(500)
})

it('a payload that says that its token is not good → no identity, whatever stands beside it', async () => {
  for (const verdict of [{ active: false }, { revoked: true }])
    expect(await callerOf({ token: 't', active: true, payload: { ...PAYLOAD, ...verdict } })).toBe(500)
})

it('an expiry in another spelling counts', async () => {
  expect(await callerOf({ token: 't', clientId: 'desk', expires_at: 1 })).toBe(401)
  expect(await callerOf({ token: 't', payload: { sub: 'ann', expires_at: 1 } })).toBe(401)
})
