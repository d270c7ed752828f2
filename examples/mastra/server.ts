/**
 * Mastra's own MCP server, which speaks Node's `(req, res)`, on any platform: `npx mayfly dev examples/mastra/server.ts --target lambda`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createTool } from '@mastra/core/tools'
import { MCPServer } from '@mastra/mcp'
import { fromNode } from 'mayfly-mcp/from-node'
import { z } from 'zod'

const weather = createTool({
  id: 'weather',
  description: 'Tells the weather of a city',
  inputSchema: z.object({ city: z.string() }),
  outputSchema: z.object({ report: z.string() }),
  execute: async ({ city }) => ({ report: `It is sunny in ${city}.` }),
})

const server = new MCPServer({ id: 'weather', name: 'Weather', version: '1.0.0', tools: { weather } })

export default fromNode((req: IncomingMessage, res: ServerResponse) => {
  // Not `new URL(req.url, base)`, which throws for the path `//`.
  const url = new URL(`http://localhost${req.url}`)
  // Whatever path the platform has it under.
  return server.startHTTP({ url, httpPath: url.pathname, req, res, options: { serverless: true } })
})
