/** The same for a server of the official SDK: what is around it is ours. */
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { jwt } from 'mayfly-mcp/auth'
import { fromSdk } from 'mayfly-mcp/sdk'
import * as z from 'zod'
import { AUDIENCE, ISSUER, PUBLIC_KEY } from './_keys.ts'

function createServer(): McpServer {
  const server = new McpServer({ name: 'Hostile', version: '1.0.0' }, { capabilities: { logging: {} } })
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, async ({ text }, ctx) => {
    await ctx.mcpReq.log('info', text, text)
    return { content: [{ type: 'text', text }] }
  })
  server.registerTool('fail', {}, () => {
    throw new Error('The query failed.', { cause: 'postgres://user:hunter2@10.0.0.7/db' })
  })
  server.registerTool('rule', {}, () => ({ content: [{ type: 'text', text: 'ruled' }] }))
  server.registerResource(
    'files',
    new ResourceTemplate('files://{+path}', { list: undefined }),
    {},
    (uri) => ({
      contents: [{ uri: uri.href, text: `file ${uri.href}` }],
    }),
  )
  return server
}

export default fromSdk(createServer, {
  auth: jwt({
    issuer: ISSUER,
    jwksUri: `${ISSUER}/jwks`,
    audience: AUDIENCE,
    fetch: async () => Response.json({ keys: [PUBLIC_KEY] }),
  }),
  scopes: { tools: { rule: ['admin'] } },
  http: {
    bodyTimeoutMs: 1500,
    maxBodyBytes: 65_536,
    maxJsonMembers: 2000,
    maxStringCharacters: 50_000,
    streamAfterMs: 500,
  },
  log: false,
})
