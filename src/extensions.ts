/**
 * The entry point `mayfly-mcp/extensions`: what a server serves beyond MCP.
 */
export { type ExtensionConfig, extension, type OwnExtension } from './extension/extension.ts'
export {
  type CallOptions,
  createMethod,
  type Method,
  type MethodContext,
  type StreamedNotification,
  type StreamOptions,
} from './extension/method.ts'
export type {
  AnswerRoute,
  DeclaredFor,
  Extension,
  ExtensionApis,
  ExtensionHost,
  ExtensionOptions,
  RouteContext,
} from './request/extension.ts'
