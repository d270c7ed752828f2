/** Serves two other MCP servers: one for everyone, and one with the credentials of each caller. */
import { MCPServer } from 'mayfly-mcp'
import { bearer } from 'mayfly-mcp/auth'
import { gateway } from 'mayfly-mcp/gateway'

/** Replace this with an exchange of tokens (RFC 8693), or a look-up in your vault. */
async function ticketsTokenOf(clientId: string): Promise<string> {
  return `tickets-token-of-${clientId}`
}

export function createFront(urls: { docs: string; tickets: string }): MCPServer {
  return new MCPServer({
    name: 'Front',
    version: '1.0.0',
    // Replace this with a verifier, such as jwt().
    auth: bearer((token) => ({ clientId: token, scopes: ['tickets'] })),
    gateway: gateway({
      servers: {
        docs: { url: urls.docs },
        tickets: {
          url: urls.tickets,
          token: ({ auth }) => auth && ticketsTokenOf(auth.clientId),
          scopes: ['tickets'],
        },
      },
    }),
  })
}

export default createFront({ docs: 'http://127.0.0.1:3001/mcp', tickets: 'http://127.0.0.1:3002/mcp' })
