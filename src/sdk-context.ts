/**
 * For tools and callbacks written for an official SDK: this `MCPServer` and `createTool` give them its context. A whole server of an SDK
 * is for `fromSdk` of `mayfly-mcp/sdk`, an entry point of its own: it loads the SDK with `import()`, and a bundler (esbuild 0.28) that
 * meets the same schema library there and here initialises it too late.
 */

import type { MCPServerConfig } from './config.ts'
import type { Schema } from './definition/schema.ts'
import type { RegisterToolConfig, ToolCallback } from './definition/tool.ts'
import type { Context } from './request/context.ts'
import type { RequestServer } from './request/request-server.ts'
import type { ToolHandle } from './request/tool-handle.ts'
import { withCallbackContext } from './sdk/callback-context.ts'
import { extendForSdk, type SdkServerContext, type SdkToolContext } from './sdk/tool-context.ts'
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
export type { SdkServerContext, SdkToolContext } from './sdk/tool-context.ts'

/** What `setup` receives, with the context of the SDK for the callbacks of its tools. */
export interface SdkRequestServer extends Omit<RequestServer<SdkServerContext>, 'registerTool'> {
  registerTool<Input extends Schema | undefined = undefined, Output extends Schema | undefined = undefined>(
    name: string,
    config: RegisterToolConfig<Input, Output>,
    callback: ToolCallback<Input, Output, SdkToolContext>,
  ): ToolHandle
}

/** The configuration of a server. */
export interface SdkServerConfig extends Omit<MCPServerConfig<SdkServerContext>, 'setup'> {
  /** Runs for each request before it is dispatched, and changes only that request's server. Use it for multi-tenancy. */
  setup?: ((server: SdkRequestServer, request: Request) => unknown) | undefined
}

/** The `MCPServer` of `mayfly-mcp`, whose callbacks get the context of the official SDK, v1 and v2. */
export class MCPServer extends NativeServer<SdkServerContext> {
  constructor(given: SdkServerConfig) {
    const { setup } = given ?? {}
    super(
      typeof setup !== 'function'
        ? given
        : { ...given, setup: (server, ...rest) => setup(asSdk(server), ...rest) },
    )
  }

  override registerTool<
    Input extends Schema | undefined = undefined,
    Output extends Schema | undefined = undefined,
  >(
    name: string,
    config: RegisterToolConfig<Input, Output>,
    callback: ToolCallback<Input, Output, SdkToolContext>,
  ): ToolHandle {
    return super.registerTool(name, config, withCallbackContext(callback))
  }

  protected override get extendContext(): (context: Context) => void {
    return extendForSdk
  }
}

/** The server of one request, which belongs to that request alone. */
function asSdk(server: RequestServer<SdkServerContext>): SdkRequestServer {
  const registerTool: SdkRequestServer['registerTool'] = server.registerTool.bind(server)
  return Object.assign(server, {
    registerTool: ((name, config, callback) =>
      registerTool(name, config, withCallbackContext(callback))) as typeof registerTool,
  })
}
