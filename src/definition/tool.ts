/** Tools as users write them: the configuration for `createTool` and `registerTool`. */
import type { Icon, Meta } from './content.ts'
import type { McpContext } from './context.ts'
import { present } from './present.ts'
import type { InferOutput, JsonSchema, PlainJsonSchema, Schema } from './schema.ts'
import type { TaskOption, ToolContext } from './task-option.ts'
import type { ToolHooks } from './tool-hooks.ts'
import type { ToolOutput } from './tool-result.ts'
import { type Names, refuseMisspelt, refuseUnknown } from './unknown-option.ts'

/** Hints about a tool's behavior; clients must not rely on them for security. */
export interface ToolAnnotations {
  title?: string
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

/** A tool as `tools/list` shows it. */
export interface Tool {
  name: string
  title?: string
  description?: string
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  annotations?: ToolAnnotations
  icons?: Icon[]
  _meta?: Meta
}

/** The configuration of a tool. MCP's own fields are under `mcp`. */
export interface ToolConfig<
  Input extends Schema | PlainJsonSchema | undefined,
  Output extends Schema | undefined,
  Result = ToolOutput<Output>,
  Task extends TaskOption | undefined = undefined,
> extends ToolFields<Input, Output, Result, Task, ToolContext<Task>>,
    ToolHooks<Input, Output> {}

/** The same without hooks, with the context that `execute` receives. */
export interface ToolFields<
  Input extends Schema | PlainJsonSchema | undefined,
  Output extends Schema | undefined,
  Result,
  Task extends TaskOption | undefined,
  Context,
> {
  /** Identifies the tool in your code; clients see its key in `tools`. */
  id: string
  title?: string | undefined
  description?: string | undefined
  inputSchema?: Input
  outputSchema?: Output
  mcp?: { annotations?: ToolAnnotations; _meta?: Meta; icons?: Icon[] } | undefined
  /** `false` hides the tool until `setup` enables it for a request. Default true. */
  enabled?: boolean | undefined
  /** The scopes that the caller's token must have, if the server has `auth`. Default: none. */
  scopes?: readonly string[] | undefined
  /** Whether calls become tasks, on a server with `tasks`. Default: never. */
  task?: Task
  execute(
    input: ToolInput<Input>,
    context: Context,
  ): ToolOutput<Output> | Promise<ToolOutput<Output>> | Result | Promise<Result>
}

/** The validated arguments that `execute` receives. */
export type ToolInput<Input> = Input extends Schema ? InferOutput<Input> : Record<string, unknown>

export type { ToolOutput }

/** A tool with any schema, as `tools` accepts it. Tools of other frameworks with this shape work unchanged. */
export interface AnyTool {
  id?: string | undefined
  title?: string | undefined
  description?: string | undefined
  inputSchema?: unknown
  outputSchema?: unknown
  mcp?: { annotations?: ToolAnnotations; _meta?: Meta; icons?: Icon[] } | undefined
  enabled?: boolean | undefined
  scopes?: readonly string[] | undefined
  task?: TaskOption | undefined
  onInputStart?: ((event: never) => unknown) | undefined
  onInputDelta?: ((event: never) => unknown) | undefined
  onInputAvailable?: ((event: never) => unknown) | undefined
  onOutput?: ((event: never) => unknown) | undefined
  // biome-ignore lint/suspicious/noExplicitAny: parameters are contravariant, so only `any` accepts every tool.
  execute?: ((input: any, context: any) => unknown) | undefined
}

/** The original `execute` by its public replacement. A server validates the input itself, so it calls the original. */
const written = new WeakMap<object, NonNullable<AnyTool['execute']>>()

/** Returns `call` as the public way to call a tool, while a server runs `execute`. */
export function offerCall<Call extends object>(execute: NonNullable<AnyTool['execute']>, call: Call): Call {
  written.set(call, execute)
  return call
}

/** What the user wrote, by the function that runs it. */
const authored = new WeakMap<object, NonNullable<AnyTool['execute']>>()

/** `run` in place of the `execute` that it calls, whose text can still be read. */
export function inPlaceOf(
  execute: NonNullable<AnyTool['execute']>,
  run: NonNullable<AnyTool['execute']>,
): NonNullable<AnyTool['execute']> {
  authored.set(run, execute)
  return run
}

/** The function that the user wrote. */
export function authoredOf(execute: AnyTool['execute']): AnyTool['execute'] {
  return authored.get(execute!) ?? execute
}

/** The `execute` that a server runs for a tool's public one. */
export function executeOf({ execute }: AnyTool): AnyTool['execute'] {
  return written.get(execute!) ?? execute
}

/** The configuration for `registerTool`. */
export interface RegisterToolConfig<Input extends Schema | undefined, Output extends Schema | undefined> {
  title?: string | undefined
  description?: string | undefined
  inputSchema?: Input
  outputSchema?: Output
  annotations?: ToolAnnotations | undefined
  _meta?: Meta | undefined
  icons?: Icon[] | undefined
  /** `false` hides the tool until `setup` enables it for a request. Default true. */
  enabled?: boolean | undefined
  /** The scopes that the caller's token must have, if the server has `auth`. Default: none. */
  scopes?: readonly string[] | undefined
}

/** With an `inputSchema` the callback receives the arguments and the context, otherwise only the context. */
export type ToolCallback<
  Input extends Schema | undefined,
  Output extends Schema | undefined,
  Context = McpContext,
> = Input extends Schema
  ? (input: InferOutput<Input>, context: Context) => ToolOutput<Output> | Promise<ToolOutput<Output>>
  : (context: Context) => ToolOutput<Output> | Promise<ToolOutput<Output>>

const ANNOTATIONS: Names<ToolAnnotations> = {
  title: 'string',
  readOnlyHint: 'boolean',
  destructiveHint: 'boolean',
  idempotentHint: 'boolean',
  openWorldHint: 'boolean',
}
const MCP_OPTIONS: Names<NonNullable<AnyTool['mcp']>> = {
  annotations: 'object',
  _meta: 'object',
  icons: 'object',
}
const COMMON = {
  title: 'string',
  description: 'string',
  inputSchema: 1,
  outputSchema: 1,
  enabled: 'boolean',
  scopes: 'strings',
} as const
const REGISTER_OPTIONS: Names<RegisterToolConfig<Schema, Schema>> = { ...COMMON, ...MCP_OPTIONS }
const UPDATE_OPTIONS: Names<ToolUpdate> = { ...REGISTER_OPTIONS, execute: 'function' }

/** All options of `createTool`. */
export const TOOL_OPTIONS: Names<ToolConfig<undefined, undefined>> = {
  id: 'string',
  ...COMMON,
  task: 1,
  mcp: 'object',
  execute: 'function',
  onInputAvailable: 'function',
  onOutput: 'function',
}
const FOREIGN_OPTIONS: Names<AnyTool> = {
  ...TOOL_OPTIONS,
  onInputStart: 'function',
  onInputDelta: 'function',
}

/** @throws TypeError for an option that does not exist under `mcp`, and for a misspelt hint: clients may have hints of their own. */
export function checkMcp(name: string, mcp: AnyTool['mcp']): void {
  if (mcp === undefined) return
  refuseUnknown(`"mcp" of tool "${name}"`, mcp, MCP_OPTIONS)
  refuseMisspelt(`"annotations" of tool "${name}"`, mcp.annotations ?? {}, ANNOTATIONS)
}

/**
 * A tool of another framework may have members that we do not know, but none that a reader takes for ours.
 *
 * @throws TypeError naming the member.
 */
export function checkToolMembers(name: string, tool: AnyTool): void {
  for (const member in MCP_OPTIONS) {
    const lost: unknown = Object.hasOwn(tool, member) ? Reflect.get(tool, member) : undefined
    if (
      typeof lost === 'object' &&
      lost !== null &&
      tool.mcp?.[member as keyof typeof MCP_OPTIONS] === undefined
    )
      throw new TypeError(`Tool "${name}" has "${member}" at the top level: write mcp: { ${member}: … }.`)
  }
  const { name: own } = tool as { readonly name?: unknown }
  if (tool.id === undefined && typeof own === 'string' && own !== name)
    throw new TypeError(
      `Tool "${name}" has name: ${JSON.stringify(own)}, but clients see its key in "tools": rename the key, or remove "name".`,
    )
  refuseMisspelt(`Tool "${name}"`, tool, FOREIGN_OPTIONS)
  checkMcp(name, tool.mcp)
}

/** Converts the arguments of `registerTool` to a tool. */
export function toTool(
  name: string,
  config: RegisterToolConfig<Schema | undefined, Schema | undefined>,
  callback: (...args: never[]) => unknown,
): AnyTool {
  if (typeof name !== 'string' || typeof callback !== 'function')
    throw new TypeError('registerTool takes a name, a configuration and a function.')
  refuseUnknown(`registerTool of "${name}"`, config, REGISTER_OPTIONS)
  const { annotations, _meta, icons, ...rest } = config
  const mcp = present({ annotations, _meta, icons })
  checkMcp(name, mcp)
  const call = callback as (...args: unknown[]) => unknown
  return {
    id: name,
    ...rest,
    mcp,
    execute:
      config.inputSchema === undefined
        ? (_input, context) => call(context)
        : (input, context) => call(input, context),
  }
}

/** What `update` may change in a tool. */
export type ToolUpdate = Partial<RegisterToolConfig<Schema, Schema>> & {
  // biome-ignore lint/suspicious/noExplicitAny: any input and context, as in `AnyTool`.
  execute?: (input: any, context: any) => unknown
}

/** @throws TypeError for a member of another name or kind, such as those that only the SDK has. */
export function checkUpdate(update: ToolUpdate): void {
  if ('callback' in update || 'paramsSchema' in update)
    throw new TypeError('update() has no callback and no paramsSchema: write execute and inputSchema.')
  refuseUnknown('update()', update, UPDATE_OPTIONS)
}

/** A tool with the members replaced that are given: one that is undefined changes nothing. @throws TypeError for members that only the SDK has. */
export function withUpdate(source: AnyTool, update: ToolUpdate): AnyTool {
  checkUpdate(update)
  const { annotations, _meta, icons, ...rest } = update
  const mcp = { ...source.mcp, ...present({ annotations, _meta, icons }) }
  checkMcp(source.id ?? '', mcp)
  return { ...source, ...present(rest), mcp }
}
