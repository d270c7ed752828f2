/** Checked by the compiler alone: what middleware gets and may return, on each kind of server. */
import { fromNode } from '../../src/from-node.ts'
import { type CallContext, MCPServer, type McpContext, type ToolMiddleware } from '../../src/index.ts'
import { MCPServer as McpUseServer } from '../../src/mcp-use.ts'
import { fromSdk, type SdkServerFactory } from '../../src/sdk.ts'
import { MCPServer as SdkServer } from '../../src/sdk-context.ts'

declare const factory: SdkServerFactory
const base = { name: 'Shop', version: '1.0.0' }

// One that needs only what every server has is for all of them.
const everywhere: ToolMiddleware<CallContext> = ({ context, auth, signal, toolName }, next) => {
  signal.throwIfAborted()
  return auth?.scopes.includes(toolName) || context.era === 'legacy' ? next() : 'refused'
}
const asking: ToolMiddleware = async ({ context }, next) => {
  await context.step('count', () => 1)
  return next()
}

new MCPServer({ ...base, use: [everywhere, asking] })
new SdkServer({ ...base, use: [everywhere, asking, ({ context }, next) => next({ id: context.mcpReq.id })] })
new McpUseServer({ ...base, use: [everywhere, ({ context }, next) => next({ kept: context.stateless })] })
fromSdk(factory, { use: [everywhere] })
fromNode(() => {}, { use: [everywhere] })
// @ts-expect-error step
fromSdk(factory, { use: [asking] })
// @ts-expect-error a list
new MCPServer({ ...base, use: everywhere })
// @ts-expect-error a result
new MCPServer({ ...base, use: [() => {}] })
// @ts-expect-error an object of arguments
new MCPServer({ ...base, use: [(_call, next) => next('text')] })
new MCPServer({
  ...base,
  use: [
    (call, next) => {
      // @ts-expect-error read only
      call.input = {}
      return next()
    },
  ],
})

export const given: ToolMiddleware<McpContext> = everywhere
