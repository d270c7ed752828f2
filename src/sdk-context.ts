/**
 * For tools and callbacks written for an official SDK: this `MCPServer` and `createTool` give them its context. A whole server of an SDK
 * is for `fromSdk` of `mayfly-mcp/sdk`, an entry point of its own: it loads the SDK with `import()`, and a bundler (esbuild 0.28) that
 * meets the same schema library there and here initialises it too late.
 */
import type { Context } from './request/context.ts'
import { extendForSdk, type SdkToolContext } from './sdk/tool-context.ts'
import { MCPServer as NativeServer } from './server.ts'

export type { InputRequired } from './definition/input-required.ts'
export { createTool, type SdkToolConfig } from './sdk/create-tool.ts'
export type {
  SdkHttp,
  SdkMcpRequest,
  SdkRequestInfo,
  SdkRequestMeta,
  SdkV1Extra,
  SdkV2Context,
} from './sdk/sdk-context.ts'
export type { SdkToolContext } from './sdk/tool-context.ts'

/** The `MCPServer` of `mayfly-mcp`, whose callbacks get the context of the official SDK, v1 and v2. */
export class MCPServer extends NativeServer<SdkToolContext> {
  protected override get extendContext(): (context: Context) => void {
    return extendForSdk
  }
}
