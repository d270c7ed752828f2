/**
 * For code written for an official SDK: `fromSdk` serves a whole server of one, and this `MCPServer` runs callbacks that expect its
 * context. A separate entry point; the SDKs are optional peer dependencies.
 */
import type { Context } from './request/context.ts'
import { extendForSdk, type SdkToolContext } from './sdk/tool-context.ts'
import { MCPServer as NativeServer } from './server.ts'

export type { InputRequired } from './definition/input-required.ts'
export { createTool, type SdkToolConfig } from './sdk/create-tool.ts'
export {
  type FromSdkOptions,
  fromSdk,
  type SdkContext,
  type SdkServer,
  type SdkServerFactory,
} from './sdk/from-sdk.ts'
export type { GuardedNames } from './sdk/guarded.ts'
export type { HostedConfig, HostedServer } from './sdk/host.ts'
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
