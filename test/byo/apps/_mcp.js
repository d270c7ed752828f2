/** What each app shares: an endpoint of the official SDK, as its documentation mounts it, and a folder of static files. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

export const STATIC = process.env.STATIC_FOLDER ?? '/nowhere'
export const SESSION = { secret: 'a secret of thirty-two characters', resave: false, saveUninitialized: true }

/** Answers with what the middleware of the app has found out. */
export async function handleMcp(req, res, body, facts) {
  const server = new McpServer({ name: 'app', version: '1.0.0' }, { capabilities: { logging: {} } })
  server.registerTool('facts', { description: 'What the app knows' }, async ({ sendNotification }) => {
    await sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'asked' } })
    return { content: [{ type: 'text', text: JSON.stringify(facts) }] }
  })
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
  res.on('close', () => {
    void transport.close()
    void server.close()
  })
  await server.connect(transport)
  await transport.handleRequest(req, res, body)
}
