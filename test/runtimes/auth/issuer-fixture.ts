/** Two servers whose callers an issuer knows: one asks it for keys, the other about each token. Where it is, the environment says. */
import { createTool, MCPServer } from 'mayfly-mcp'
import { introspection, jwt } from 'mayfly-mcp/auth'

const AUDIENCE = 'https://mcp.example/mcp'

const who = createTool({ id: 'who', execute: (_input, ctx) => `${ctx.auth?.extra?.sub}` })

interface Servers {
  readonly byKeys: MCPServer
  readonly byAsking: MCPServer
}

function createServers(issuer: string): Servers {
  const common = { id: 'shop', name: 'Shop', version: '1.0.0', tools: { who } }
  const credentials = { clientId: 'shop', clientSecret: 's/cret' }
  const endpoint = `${issuer}/introspect`
  return {
    byKeys: new MCPServer({ ...common, auth: jwt({ issuer, audience: AUDIENCE }) }),
    byAsking: new MCPServer({
      ...common,
      auth: introspection({ issuer, audience: AUDIENCE, endpoint, ...credentials }),
    }),
  }
}

let servers: Servers | undefined

export default {
  fetch(request: Request, env: unknown, context: unknown): Promise<Response> {
    const { process } = globalThis as { process?: { env: object } }
    const { ISSUER } = { ...process?.env, ...(env as object) } as { ISSUER?: string }
    servers ??= createServers(String(ISSUER))
    const { byKeys, byAsking } = servers
    const server = new URL(request.url).pathname === '/asked' ? byAsking : byKeys
    return server.fetch(request, env, context)
  },
}
