/** The exports of `mayfly-mcp/client`: a client for MCP servers that runs on the same platforms. */
export type { ResourceUpdate } from './client/changes.ts'
export type { ClientEvents } from './client/client-events.ts'
export type { ClientTasks } from './client/client-tasks.ts'
export type {
  HttpServerConfig,
  MCPClientConfig,
  ServerConfig,
  StdioServerConfig,
  TransportServerConfig,
} from './client/config.ts'
export type { ProgressUpdate, RequestSettings } from './client/connection.ts'
export type { ToolCatalog, ToolDefinition } from './client/definitions.ts'
export { MCPClientError, type MCPClientErrorCode } from './client/errors.ts'
export type { EventStream } from './client/event-iterator.ts'
export type { EventSubscribeSettings } from './client/event-refresh.ts'
export type { EventStreamSettings } from './client/event-stream.ts'
export type {
  EventPoll,
  EventSelection,
  EventStreamSelection,
  EventSubscription,
  OfferedEvent,
  PolledEvents,
  ReceivedEvent,
  SubscribedEvents,
} from './client/event-types.ts'
export type { DiscoveryErrors, DiscoveryOptions } from './client/lists-with-errors.ts'
export {
  type ClientProgress,
  type ClientQuestions,
  type ClientToolChanges,
  MCPClient,
} from './client/mcp-client.ts'
export {
  createMemoryOAuthStorage,
  createOAuthProvider,
  type OAuthProviderOptions,
  type OAuthStorage,
  type ServerOAuthProvider,
} from './client/oauth.ts'
export type { ElicitationContext, ElicitationHandler } from './client/questions.ts'
export type { ClientPrompts, ClientResources, PromptSettings } from './client/resources.ts'
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
