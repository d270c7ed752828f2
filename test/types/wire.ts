/**
 * Checked by the compiler alone: our wire types against the official SDK's. What we send must be what its clients expect;
 * what its users have must fit where ours is asked for.
 */
import type * as sdk from '@modelcontextprotocol/server'
import type * as ours from '../../src/index.ts'
import type { ServerCapabilities } from '../../src/interaction/advertise.ts'

/** Compiles only where every `From` is a `To`. */
type Assignable<From extends To, To> = From

/** An interface as a plain object type: the SDK's results are open to any further member, which an interface never is. */
type Plain<T> = { [Key in keyof T]: T[Key] }

/** The SDK writes `title?: string | undefined` where we, with `exactOptionalPropertyTypes`, write `title?: string`. */
type Exact<T> = T extends URL
  ? T
  : T extends object
    ? { [Key in keyof T]: Exact<Exclude<T[Key], undefined>> }
    : T

/** JSON Schema is a record of `unknown` to us and of JSON values to the SDK; the rest of a tool is compared. */
type WithoutSchemas<Tool> = Omit<Tool, 'inputSchema' | 'outputSchema'>

type Client<Capabilities extends { elicitation?: unknown }> = NonNullable<Capabilities['elicitation']>

export type Sent = [
  Assignable<ours.TextContent, sdk.TextContent>,
  Assignable<ours.ImageContent, sdk.ImageContent>,
  Assignable<ours.AudioContent, sdk.AudioContent>,
  Assignable<ours.EmbeddedResource, sdk.EmbeddedResource>,
  Assignable<ours.ResourceLink, sdk.ResourceLink>,
  Assignable<ours.ContentBlock, sdk.ContentBlock>,
  Assignable<ours.TextResourceContents, sdk.TextResourceContents>,
  Assignable<ours.BlobResourceContents, sdk.BlobResourceContents>,
  Assignable<Plain<ours.CallToolResult>, sdk.CallToolResult>,
  Assignable<ours.ToolAnnotations, sdk.ToolAnnotations>,
  Assignable<WithoutSchemas<ours.Tool>, WithoutSchemas<sdk.Tool>>,
  Assignable<ours.Resource, sdk.Resource>,
  Assignable<ours.ResourceTemplate, sdk.ResourceTemplateType>,
  Assignable<ours.PromptArgument, sdk.PromptArgument>,
  Assignable<ours.Prompt, sdk.Prompt>,
  Assignable<ours.PromptMessage, sdk.PromptMessage>,
  Assignable<Plain<ours.GetPromptResult>, sdk.GetPromptResult>,
  Assignable<ours.Implementation, sdk.Implementation>,
  Assignable<ours.Icon, sdk.Icon>,
  Assignable<ours.LogLevel, sdk.LoggingLevel>,
  Assignable<keyof ServerCapabilities, keyof sdk.ServerCapabilities>,
  Assignable<ServerCapabilities['tools'], sdk.ServerCapabilities['tools']>,
  Assignable<ServerCapabilities['prompts'], sdk.ServerCapabilities['prompts']>,
  Assignable<ServerCapabilities['resources'], sdk.ServerCapabilities['resources']>,
]

export type Taken = [
  Assignable<Exact<sdk.ContentBlock>, ours.ContentBlock>,
  Assignable<Exact<sdk.CallToolResult>, ours.CallToolResult>,
  Assignable<Exact<sdk.ToolAnnotations>, ours.ToolAnnotations>,
  Assignable<Exact<WithoutSchemas<sdk.Tool>>, WithoutSchemas<ours.Tool>>,
  Assignable<Exact<sdk.Prompt>, ours.Prompt>,
  Assignable<Exact<sdk.PromptMessage>, ours.PromptMessage>,
  Assignable<Exact<sdk.GetPromptResult>, ours.GetPromptResult>,
  Assignable<Exact<sdk.Resource>, ours.Resource>,
  Assignable<Exact<sdk.ResourceTemplateType>, ours.ResourceTemplate>,
  Assignable<Exact<sdk.Implementation>, ours.Implementation>,
  // Their members are JSON of any depth to the SDK, too deep for the compiler: compared by name.
  Assignable<keyof ours.ClientCapabilities, keyof sdk.ClientCapabilities>,
  Assignable<keyof Client<ours.ClientCapabilities>, keyof Client<sdk.ClientCapabilities>>,
  Assignable<Exact<sdk.AuthInfo>, ours.AuthInfo>,
  Assignable<sdk.LoggingLevel, ours.LogLevel>,
]

/** The helpers themselves must be able to fail. */
export type Refused = [
  // @ts-expect-error a text block needs its text
  Assignable<{ type: 'text' }, sdk.TextContent>,
  // @ts-expect-error a member of another type is no prompt
  Assignable<Exact<{ name: 5 }>, ours.Prompt>,
  // @ts-expect-error a result has content
  Assignable<Plain<{ isError: true }>, sdk.CallToolResult>,
]
