/** A server that people sign in to, for the suite's scenarios of authorization servers: its identity provider lets everybody in. */
import { createTool, MCPServer } from 'mayfly-mcp'
import { type GrantStore, signIn, type Upstream } from 'mayfly-mcp/sign-in'
import { DOCUMENT } from './document.ts'

const provider: Upstream = {
  name: 'Provider',
  id: 'provider',
  authorizeUrl: async ({ redirectUri, state }) =>
    `${redirectUri}?${new URLSearchParams({ state, code: 'ada' })}`,
  exchange: async ({ code }) => ({
    issuer: 'https://provider.example',
    subject: code,
    name: 'Ada Lovelace',
    claims: {},
    tokens: { accessToken: 'of-the-provider' },
  }),
}

const who = createTool({ id: 'who', execute: (_input, ctx) => ({ name: ctx.auth?.extra?.name }) })

export function createNotes(store: GrantStore | ((env: { readonly [name: string]: unknown }) => GrantStore)) {
  return new MCPServer({
    id: 'notes',
    name: 'Notes',
    version: '1.0.0',
    tools: { who },
    // As an operator names the hosts that the server is reached by.
    http: { allowedHosts: ['localhost', '127.0.0.1'] },
    auth: signIn({
      upstream: provider,
      store,
      scopes: { 'notes:read': 'Read your notes' },
      secrets: ['of-no-value-outside-the-conformance-suite'],
      fetch: async (input) => documentFor(String(input instanceof Request ? input.url : input)),
    }),
  })
}

/** Of a client at any port of loopback (RFC 8252 §7.3). */
function documentFor(url: string): Response {
  if (url !== DOCUMENT) return new Response(null, { status: 404 })
  return Response.json({
    client_id: DOCUMENT,
    client_name: 'Conformance',
    redirect_uris: ['http://127.0.0.1/callback'],
    token_endpoint_auth_method: 'none',
  })
}
