/** A server as its operator runs it, for which every other server is the one at `HOSTILE`. */
import { MCPServer } from 'mayfly-mcp'
import { anyOf, jwt } from 'mayfly-mcp/auth'
import { serve } from 'mayfly-mcp/node'
import { createMemoryGrants, oidc, signIn } from 'mayfly-mcp/sign-in'

const { HOSTILE = '', PORT } = process.env

/** Only the name is mapped to loopback. */
const toHostile: typeof fetch = (url, init) => fetch(String(url).replace(/^https:\/\/[^/]+/, HOSTILE), init)

const people = signIn({
  upstream: oidc({
    issuer: 'https://accounts.example.com/ended',
    clientId: 'c',
    clientSecret: 's',
    fetch: toHostile,
  }),
  store: createMemoryGrants(),
  scopes: { notes: 'Read your notes' },
  secrets: ['a secret of thirty-two characters or more'],
  fetch: toHostile,
})
const machines = jwt({
  issuer: 'https://issuer.example.com/ended',
  audience: 'https://mcp.example.com/mcp',
  fetch: toHostile,
})
const server = new MCPServer({
  name: 'Notes',
  version: '1.0.0',
  tools: {},
  auth: anyOf([people, machines]),
  http: { publicUrl: 'https://mcp.example.com/mcp', allowedHosts: ['127.0.0.1'], trustProxy: true },
})
await serve(server, { port: Number(PORT), hostname: '127.0.0.1' })
