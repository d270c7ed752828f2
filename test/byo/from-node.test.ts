/** Mastra's own MCP server 2.x, through its Node handler. 1.x: test/runtimes/byo. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createTool } from '@mastra/core/tools'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { MCPServer } from 'mastra-mcp-2'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { serve } from '../../adapters/node.ts'
import { fromNode } from '../../src/from-node.ts'

const add = createTool({
  id: 'add',
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  execute: async ({ a, b }) => ({ sum: a + b }),
})
const mastra = new MCPServer({ id: 'sums', name: 'Sums', version: '1.0.0', tools: { add } })
const server = fromNode(
  (req: IncomingMessage, res: ServerResponse) =>
    mastra.startHTTP({ url: new URL('http://localhost/mcp'), httpPath: '/mcp', req, res }),
  { log: false },
)

describe('@mastra/mcp 2.x', () => {
  it.each(['auto', { pin: '2026-07-28' }] as const)('is served to a client in mode %j', async (mode) => {
    const { url, close } = await serve(server, { port: 0 })
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['add'])
    const { structuredContent } = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })
    expect(structuredContent).toEqual({ sum: 5 })
    await client.close()
    await close()
  })

  it('speaks the modern era alone, and legacy clients are told so', async () => {
    const response = await server.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      }),
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: -32022, data: { supported: ['2026-07-28'] } },
    })
  })

  it('has a page', async () => {
    const page = await server.fetch(new Request('http://localhost/', { headers: { accept: 'text/html' } }))
    expect(await page.text()).toContain('Adds two numbers')
  })
})
