/** A server of the official SDK 1.x, as it is: `npx mayfly dev examples/sdk/v1.ts --target cloudflare`. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { fromSdk } from 'mayfly-mcp/sdk'
import * as z from 'zod'

function createTimeServer(): McpServer {
  const server = new McpServer({ name: 'time', version: '1.0.0' })
  server.registerTool(
    'add_days',
    {
      description: 'Adds days to a date',
      inputSchema: { date: z.iso.date(), days: z.number().int() },
      outputSchema: { date: z.string() },
    },
    async ({ date, days }, extra) => {
      await extra.sendNotification({
        method: 'notifications/message',
        params: { level: 'info', data: `${days} days after ${date}` },
      })
      const later = new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)
      return { content: [{ type: 'text', text: later }], structuredContent: { date: later } }
    },
  )
  server.server.registerCapabilities({ logging: {} })
  return server
}

export default fromSdk(createTimeServer)
