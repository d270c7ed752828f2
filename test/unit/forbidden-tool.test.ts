/** A tool that its caller may not use is not compiled for it. */
import { expect, test } from 'vitest'
import { staticTokens } from '../../src/auth.ts'
import { jsonSchema, MCPServer } from '../../src/index.ts'

test('a call without the scope of a tool whose schema is unusable → 403, not -32603', async () => {
  const token = 'a-token-of-twenty-characters-or-more'
  const bad = {
    id: 'bad',
    scopes: ['admin'],
    inputSchema: jsonSchema({ type: 'string' }),
    execute: () => 'x',
  }
  const auth = staticTokens([{ token, clientId: 'client', scopes: [] }])
  const server = new MCPServer({ id: 'a', name: 'a', version: '1', log: false, auth, tools: { bad } })
  const response = await server.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-06-18',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'bad' } }),
    }),
    {},
  )
  expect(response.status).toBe(403)
})
