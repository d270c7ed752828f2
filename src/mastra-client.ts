/** The exports of `mayfly-mcp/mastra-client`: `MCPClient` for code that was written for `@mastra/mcp`. */
export type { ResourceUpdate } from './client/changes.ts'
export type { ClientTasks } from './client/client-tasks.ts'
export type {
  HttpServerConfig,
  StdioServerConfig,
  TransportServerConfig,
} from './client/config.ts'
export type { ProgressUpdate, RequestSettings } from './client/connection.ts'
export type { ToolCatalog, ToolDefinition } from './client/definitions.ts'
export { MCPClientError, type MCPClientErrorCode } from './client/errors.ts'
export type { DiscoveryErrors, DiscoveryOptions } from './client/lists-with-errors.ts'
export {
  type MastraPrompts as ClientPrompts,
  type MastraResources as ClientResources,
  MCPClient,
  type PromptQuery,
  type ResourceQuery,
} from './client/mastra/mastra-client.ts'
export { createSimpleTokenProvider, MCPOAuthClientProvider } from './client/mastra/sign-in.ts'
export type {
  MastraClientConfig as MCPClientConfig,
  MastraServerConfig as ServerConfig,
  ServerLogMessage,
} from './client/mastra/spellings.ts'
export type { ClientProgress, ClientQuestions, ClientToolChanges } from './client/mcp-client.ts'
export {
  createMemoryOAuthStorage,
  createOAuthProvider,
  type OAuthProviderOptions,
  type OAuthStorage,
  type ServerOAuthProvider,
} from './client/oauth.ts'
export type { ElicitationContext, ElicitationHandler } from './client/questions.ts'
export type { PromptSettings } from './client/resources.ts'
export type { ServerLogEntry } from './client/server-logs.ts'
export type { DetailedTask, Task, TaskInputRequest, TaskStatus } from './client/task.ts'
export type { TaskInputResponses } from './client/task-requests.ts'
export type { WaitSettings } from './client/task-wait.ts'
export type {
  CallOutcome,
  CallSettings,
  ClientTool,
  HandleSettings,
  ToolCallContext,
} from './client/tools.ts'
