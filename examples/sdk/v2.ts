/** A server of the official SDK 2.x, as it is: `npx mayfly dev examples/sdk/v2.ts --target cloudflare`. */
import { McpServer } from '@modelcontextprotocol/server'
import { fromSdk, type SdkContext } from 'mayfly-mcp/sdk'
import * as z from 'zod'

function createTimeServer({ env }: SdkContext): McpServer {
  const server = new McpServer({ name: 'time', version: '2.0.0' }, { capabilities: { logging: {} } })
  server.registerTool(
    'add_days',
    {
      description: 'Adds days to a date',
      inputSchema: z.object({ date: z.iso.date(), days: z.number().int() }),
      outputSchema: z.object({ date: z.string() }),
    },
    ({ date, days }) => {
      const later = new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)
      return { content: [{ type: 'text', text: later }], structuredContent: { date: later } }
    },
  )
  server.registerTool('region', { description: 'Tells where it runs' }, () => ({
    content: [{ type: 'text', text: (env as { REGION?: string } | undefined)?.REGION ?? 'somewhere' }],
  }))
  return server
}

export default fromSdk(createTimeServer)
