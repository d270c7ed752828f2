/** The same small server, written with each official SDK. */
import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { McpServer as McpServerV2 } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { SdkContext } from '../../../src/sdk.ts'

/** What a test sees of the tools' insides. */
export interface Seen {
  /** Calls of `wait` that have begun. */
  waiting: number
  aborted: boolean
  closed: number
  auth: unknown
}

const INFO = { name: 'shop', version: '2.0.0' }

export function createV1({ env, authInfo }: Partial<SdkContext> = {}, seen: Partial<Seen> = {}): McpServerV1 {
  const server = new McpServerV1(INFO, { capabilities: { logging: {} }, instructions: 'Be brief.' })
  server.server.onclose = () => {
    seen.closed = (seen.closed ?? 0) + 1
  }
  server.registerTool(
    'add',
    { description: 'Adds', inputSchema: { a: z.number(), b: z.number() } },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
  )
  server.registerTool('who', {}, (_args, extra = _args as never) => {
    const { clientId } = (extra as { authInfo?: { clientId?: string } }).authInfo ?? {}
    return { content: [{ type: 'text', text: `${clientId} ${authInfo?.clientId} ${JSON.stringify(env)}` }] }
  })
  server.registerTool('progress', { inputSchema: {} }, async (_args, extra) => {
    for (let progress = 1; progress <= 3; progress++) {
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: extra._meta?.progressToken ?? 0, progress },
      })
    }
    return { content: [{ type: 'text', text: 'done' }] }
  })
  server.registerTool('wait', { inputSchema: {} }, (_args, extra) => waitFor(extra.signal, seen))
  server.registerTool('fail', {}, () => {
    throw new Error('a reason')
  })
  server.registerResource('note', 'note://1', {}, (uri) => ({
    contents: [{ uri: uri.href, text: 'a note' }],
  }))
  server.registerPrompt('greet', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
  }))
  return server
}

export function createV2({ env, authInfo }: Partial<SdkContext> = {}, seen: Partial<Seen> = {}): McpServerV2 {
  const server = new McpServerV2(INFO, { capabilities: { logging: {} }, instructions: 'Be brief.' })
  server.registerTool(
    'add',
    { description: 'Adds', inputSchema: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
  )
  server.registerTool('who', {}, (ctx) => ({
    content: [
      {
        type: 'text',
        text: `${ctx.http?.authInfo?.clientId} ${authInfo?.clientId} ${JSON.stringify(env)}`,
      },
    ],
  }))
  server.registerTool('progress', { inputSchema: z.object({}) }, async (_args, ctx) => {
    for (let progress = 1; progress <= 3; progress++) {
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken: ctx.mcpReq._meta?.progressToken ?? 0, progress },
      })
    }
    return { content: [{ type: 'text', text: 'done' }] }
  })
  server.registerTool('wait', { inputSchema: z.object({}) }, (_args, ctx) => waitFor(ctx.mcpReq.signal, seen))
  server.registerTool('fail', {}, () => {
    throw new Error('a reason')
  })
  server.registerResource('note', 'note://1', {}, (uri) => ({
    contents: [{ uri: uri.href, text: 'a note' }],
  }))
  server.registerPrompt('greet', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
  }))
  return server
}

/** SDK v1's low-level server. */
export function createLowLevelV1(): ServerV1 {
  const server = new ServerV1(INFO, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'low', inputSchema: { type: 'object' as const } }],
  }))
  return server
}

function waitFor(signal: AbortSignal, seen: Partial<Seen>): Promise<never> {
  seen.waiting = (seen.waiting ?? 0) + 1
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      seen.aborted = true
      reject(new Error('aborted'))
    })
  })
}
