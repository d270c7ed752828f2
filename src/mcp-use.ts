/** The exports of `mayfly-mcp/mcp-use`: `MCPServer` for tools that were written for mcp-use. */
import { extendForMcpUse, type McpUseContext } from './mcp-use/context.ts'
import type { Context } from './request/context.ts'
import { MCPServer as NativeServer } from './server.ts'

export type { McpUseAnswer, McpUseContext, McpUseElicit } from './mcp-use/context.ts'

/** The `MCPServer` of `mayfly-mcp`, whose callbacks get the context that mcp-use gives them. */
export class MCPServer extends NativeServer<McpUseContext> {
  protected override get extendContext(): (context: Context) => void {
    return extendForMcpUse
  }
}
