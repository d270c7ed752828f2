/** Checked by the compiler alone: which members of an SDK's context may be absent, and that the SDK's own types still fit. */
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js'
import type { ServerContext } from '@modelcontextprotocol/server'
import { createTool, MCPServer } from '../../src/sdk-context.ts'

declare const v1: (extra: RequestHandlerExtra<ServerRequest, ServerNotification>) => CallToolResult
declare const v2: (ctx: ServerContext) => CallToolResult

const server = new MCPServer({
  name: 'Shop',
  version: '1.0.0',
  setup(request) {
    request.registerTool('v1', {}, v1)
    // @ts-expect-error may be absent
    request.registerTool('asks', {}, (ctx) => ctx.listRoots())
    request.context.reportProgress({ progress: 1 })
  },
})
server.registerTool('v1', {}, v1)
server.registerTool('v2', {}, v2)
// @ts-expect-error may be absent
server.registerTool('asks', {}, (ctx) => ctx.createMessage({ messages: [], maxTokens: 1 }))
server.registerTool('reports', {}, (ctx) => {
  ctx.reportProgress?.({ progress: 1 })
  return String(ctx.requestId)
})

createTool({ id: 'v1', execute: (_input, ctx) => v1(ctx) })
createTool({
  id: 'task',
  task: 'auto',
  async execute(_input, ctx) {
    await ctx.sleep('a while', 1000)
    // @ts-expect-error may be absent
    await ctx.elicitInput({ mode: 'url', message: '?', url: 'https://a.example' })
    return (await ctx.taskStore.getTaskResult('1')) as { id: string }
  },
})
