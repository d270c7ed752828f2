/** What users import from `mayfly-mcp/client`: MCP servers as a client, on the same platforms. */
export type { ResourceUpdate } from './client/changes.ts'
export type {
  HttpServerConfig,
  MCPClientConfig,
  ServerConfig,
  ServerLogEntry,
  StdioServerConfig,
  TransportServerConfig,
} from './client/config.ts'
export type { ProgressUpdate, RequestSettings } from './client/connection.ts'
export { MCPClientError, type MCPClientErrorCode } from './client/errors.ts'
export { MCPClient } from './client/mcp-client.ts'
export {
  createMemoryOAuthStorage,
  createOAuthProvider,
  type OAuthProviderOptions,
  type OAuthStorage,
  type ServerOAuthProvider,
} from './client/oauth.ts'
export type { ElicitationContext, ElicitationHandler } from './client/questions.ts'
export type { ClientPrompts, ClientResources } from './client/resources.ts'
export type { CallSettings, ClientTool, ToolCallContext } from './client/tools.ts'
