/** The exports of `mayfly-mcp`. */
export type {
  DeploymentInfo,
  MCPServerConfig,
  ToolInfo,
} from './config.ts'
export type { AgentLike, WorkflowLike } from './definition/agent.ts'
export type {
  CreateMessageParams,
  CreateMessageResult,
  Elicit,
  ElicitAnswer,
  ElicitOptions,
  ElicitParams,
  LegacyPolicy,
  Root,
} from './definition/ask.ts'
export type { Complete, Completers } from './definition/completion.ts'
export type {
  Annotations,
  AudioContent,
  BlobResourceContents,
  CallToolResult,
  ContentBlock,
  EmbeddedResource,
  GetPromptResult,
  Icon,
  ImageContent,
  PromptMessage,
  ResourceLink,
  TextContent,
  TextResourceContents,
} from './definition/content.ts'
export type {
  AuthInfo,
  Availability,
  ClientCapabilities,
  Env,
  Era,
  Feature,
  Implementation,
  LogLevel,
  McpContext,
  Progress,
  RequestContextEntries,
  RequestContextValues,
  StepInfo,
  StepOptions,
} from './definition/context.ts'
export type { InputRequired } from './definition/input-required.ts'
export { type JsonSchemaAsStandard, jsonSchema } from './definition/json-schema.ts'
export type { Jsonified } from './definition/jsonified.ts'
export type { CallContext, NextCall, ToolCall, ToolMiddleware } from './definition/middleware.ts'
export { NonRetryableError } from './definition/non-retryable-error.ts'
export {
  type AnyPrompt,
  createPrompt,
  type Prompt,
  type PromptArgument,
  type PromptCallbacks,
  type PromptConfig,
  type PromptOutput,
  type PromptRequest,
} from './definition/prompt.ts'
export { ErrorCode, ProtocolError } from './definition/protocol-error.ts'
export {
  type CanSubscribe,
  createResource,
  type FixedResourceConfig,
  type ReadAnswer,
  type ReadOutput,
  type Resource,
  type ResourceCallbacks,
  type ResourceConfig,
  type ResourceContent,
  type ResourceRequest,
  type ResourceTemplate,
  type SubscribeContext,
  type TemplateResourceConfig,
} from './definition/resource.ts'
export type { InferInput, InferOutput, JsonSchema, RawShape, Schema } from './definition/schema.ts'
export type { StoreOwner } from './definition/store-owner.ts'
export type {
  AnyTool,
  RegisterToolConfig,
  Tool,
  ToolAnnotations,
  ToolCallback,
  ToolConfig,
  ToolUpdate,
} from './definition/tool.ts'
export type { ToolHookEvent, ToolHooks } from './definition/tool-hooks.ts'
export { UserError } from './definition/user-error.ts'
export { type Bus, type ChangeEvent, createMemoryBus } from './events/bus.ts'
export type { AuditEntry, AuditOptions } from './http/audit.ts'
export type { HostingConfig, HttpConfig } from './http/hosting.ts'
export type { Log, LogEntry } from './http/log.ts'
export {
  createMemoryRateLimiter,
  type MemoryRateLimiterOptions,
  type RateLimiter,
  type RateVerdict,
} from './http/rate-limit.ts'
export { DEGRADED_META, type Degraded } from './interaction/degraded-meta.ts'
export { QuestionError, type QuestionErrorCode } from './interaction/question-error.ts'
export { type Awaited, createMemoryRendezvous, type Rendezvous } from './interaction/rendezvous.ts'
export type { SingleUseStore } from './interaction/state.ts'
export { type CreatedTool, createTool } from './request/create-tool.ts'
export type { ToolCallContext } from './request/direct-call.ts'
export type { ReportError } from './request/options.ts'
export type { FetchServer, RequestPlatform } from './request/platform.ts'
export type { RequestServer } from './request/request-server.ts'
export { TaskNeededError } from './request/taskless.ts'
export type { ToolHandle } from './request/tool-handle.ts'
export { MCPServer } from './server.ts'
