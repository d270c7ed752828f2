/** A worker of one tool on mcp-lite. */
import { McpServer, StreamableHttpTransport } from 'mcp-lite'
import * as z from 'zod'
import { echoSchema } from './echo-schema.ts'

const server = new McpServer({
  name: 'bench',
  version: '1.0.0',
  schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
})

server.tool('echo', {
  description: 'Echoes a text to a channel',
  inputSchema: echoSchema,
  handler: async ({ text }) => ({ content: [{ type: 'text', text }] }),
})

export default { fetch: new StreamableHttpTransport().bind(server) }
