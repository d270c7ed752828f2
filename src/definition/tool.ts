/**
 * Tools: the configuration for `createTool` and `registerTool`, and the compiled form.
 */
import type { CallToolResult, Icon, Meta } from './content.ts'
import type { RequestContext } from './context.ts'
import { fromMastraTool, isMastraTool } from './mastra-tool.ts'
import { compileParamHeaders, type ParamHeader } from './param-header.ts'
import { present } from './present.ts'
import {
  type CompiledSchema,
  compileSchema,
  type InferOutput,
  isStandardSchema,
  type JsonSchema,
  type PlainJsonSchema,
  type Schema,
} from './schema.ts'
import type { TaskOption, ToolContext } from './task-option.ts'
import type { ToolHooks } from './tool-hooks.ts'
import { checkExecute, checkToolShape } from './tool-mistakes.ts'
import { type ToolOutput, toResultConverter } from './tool-result.ts'
import { unknownOption } from './unknown-option.ts'

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

/** The configuration of a tool. MCP's own fields are under `mcp`, as in other frameworks. */
export interface ToolConfig<
  Input extends Schema | PlainJsonSchema | undefined,
  Output extends Schema | undefined,
  Result = ToolOutput<Output>,
  Task extends TaskOption | undefined = undefined,
> extends ToolHooks<Input, Output> {
  /** Identifies the tool in your code; clients see its key in `tools`. */
  id: string
  title?: string
  description?: string
  inputSchema?: Input
  outputSchema?: Output
  mcp?: { annotations?: ToolAnnotations; _meta?: Meta; icons?: Icon[] }
  /** `false` hides the tool until `setup` enables it for a request. Default true. */
  enabled?: boolean
  /** The scopes that the caller's token must have, if the server has `auth`. Default: none. */
  scopes?: readonly string[]
  /** Whether calls become tasks, on a server with `tasks`. Default: never. */
  task?: Task
  execute(
    input: ToolInput<Input>,
    context: ToolContext<Task>,
  ): ToolOutput<Output> | Promise<ToolOutput<Output>> | Result | Promise<Result>
}

/** The validated arguments that `execute` receives. */
export type ToolInput<Input> = Input extends Schema ? InferOutput<Input> : Record<string, unknown>

export type { ToolOutput }

/** A tool with any schema, as `tools` accepts it. Tools of other frameworks with this shape work unchanged. */
export interface AnyTool {
  id?: string
  title?: string
  description?: string
  inputSchema?: unknown
  outputSchema?: unknown
  mcp?: { annotations?: ToolAnnotations; _meta?: Meta; icons?: Icon[] }
  enabled?: boolean
  scopes?: readonly string[]
  task?: TaskOption | undefined
  onInputStart?: ((event: never) => unknown) | undefined
  onInputDelta?: ((event: never) => unknown) | undefined
  onInputAvailable?: ((event: never) => unknown) | undefined
  onOutput?: ((event: never) => unknown) | undefined
  // biome-ignore lint/suspicious/noExplicitAny: parameters are contravariant, so only `any` accepts every tool.
  execute?: ((input: any, context: any) => unknown) | undefined
}

/** The original `execute` by its public replacement: a server validates the input itself, so it calls the original. */
const written = new WeakMap<object, NonNullable<AnyTool['execute']>>()

/** Returns `call` as the public way to call a tool, while a server runs `execute`. */
export function offerCall<Call extends object>(execute: NonNullable<AnyTool['execute']>, call: Call): Call {
  written.set(call, execute)
  return call
}

/** The configuration for `registerTool`. */
export interface RegisterToolConfig<Input extends Schema | undefined, Output extends Schema | undefined> {
  title?: string
  description?: string
  inputSchema?: Input
  outputSchema?: Output
  annotations?: ToolAnnotations
  _meta?: Meta
  icons?: Icon[]
  /** `false` hides the tool until `setup` enables it for a request. Default true. */
  enabled?: boolean
  /** The scopes that the caller's token must have, if the server has `auth`. Default: none. */
  scopes?: readonly string[]
}

/** With an `inputSchema` the callback receives the arguments and the context; without one, only the context. */
export type ToolCallback<
  Input extends Schema | undefined,
  Output extends Schema | undefined,
> = Input extends Schema
  ? (input: InferOutput<Input>, context: RequestContext) => ToolOutput<Output> | Promise<ToolOutput<Output>>
  : (context: RequestContext) => ToolOutput<Output> | Promise<ToolOutput<Output>>

const REGISTER_OPTIONS: { readonly [option in keyof RegisterToolConfig<Schema, Schema>]-?: 1 } = {
  title: 1,
  description: 1,
  inputSchema: 1,
  outputSchema: 1,
  annotations: 1,
  _meta: 1,
  icons: 1,
  enabled: 1,
  scopes: 1,
}

/** Converts the arguments of `registerTool` to a tool. */
export function toTool(
  name: string,
  config: RegisterToolConfig<Schema | undefined, Schema | undefined>,
  callback: (...args: never[]) => unknown,
): AnyTool {
  if (typeof name !== 'string' || typeof callback !== 'function')
    throw new TypeError('registerTool takes a name, a configuration and a function.')
  const unknown = unknownOption(config, REGISTER_OPTIONS)
  if (unknown !== undefined)
    throw new TypeError(
      `registerTool of "${name}" has no option "${unknown}"${unknown === 'schema' ? ': write inputSchema' : ''}.`,
    )
  const { annotations, _meta, icons, ...rest } = config
  const call = callback as (...args: unknown[]) => unknown
  return {
    id: name,
    ...rest,
    mcp: present({ annotations, _meta, icons }),
    execute:
      config.inputSchema === undefined
        ? (_input, context) => call(context)
        : (input, context) => call(input, context),
  }
}

/** A tool ready to serve. Members that depend on its schemas throw a TypeError if one of them is invalid. */
export interface CompiledTool {
  readonly name: string
  readonly tool: Tool
  /** `tool` as JSON, for modern and legacy clients (an `outputSchema` other than an object is modern only). */
  readonly json: { readonly modern: string; readonly legacy: string }
  readonly input: CompiledSchema
  readonly paramHeaders: readonly ParamHeader[]
  readonly source: AnyTool
  /** Converts the output of `execute` to a result. */
  toResult(output: unknown, era: 'modern' | 'legacy'): CallToolResult | Promise<CallToolResult>
}

/** Lenient: models send extra arguments to tools without any, which does no harm. */
const NO_INPUT: JsonSchema = { type: 'object', properties: {} }

/**
 * Checks what is cheap to check. The schemas of a tool are compiled once, at its first use, so that a call compiles only the tool
 * that it calls.
 *
 * @throws TypeError naming a tool without `execute`; members that are compiled later throw one for an invalid schema.
 */
export function compileTool(name: string, given: AnyTool): CompiledTool {
  checkToolShape(name, given)
  if (name === '') throw new TypeError('A tool name must not be empty.')
  const source = isMastraTool(given)
    ? fromMastraTool(name, given)
    : { ...given, execute: written.get(given.execute!) ?? given.execute }
  return new LazyTool(name, source)
}

/** What a call needs, compiled together. */
interface Compiled extends Pick<CompiledTool, 'input' | 'paramHeaders' | 'toResult'> {
  readonly output: CompiledSchema | undefined
}

class LazyTool implements CompiledTool {
  readonly name: string
  readonly source: AnyTool
  #compiled: Compiled | undefined
  #tool: Tool | undefined
  #json: CompiledTool['json'] | undefined

  constructor(name: string, source: AnyTool) {
    this.name = name
    this.source = source
  }

  get input(): CompiledSchema {
    return this.#compile().input
  }

  get paramHeaders(): readonly ParamHeader[] {
    return this.#compile().paramHeaders
  }

  get toResult(): CompiledTool['toResult'] {
    return this.#compile().toResult
  }

  get tool(): Tool {
    if (this.#tool !== undefined) return this.#tool
    const compiled = this.#compile()
    const tool = describeTool(this.name, this.source, compiled)
    // What a list shows holds for calls: zod's metadata may have changed since the first one.
    if (compiled.input.isPlainObject === true)
      this.#compiled = { ...compiled, paramHeaders: compileParamHeaders(tool.inputSchema, this.name) }
    this.#tool = tool
    return tool
  }

  get json(): CompiledTool['json'] {
    this.#json ??= toJson(this.tool)
    return this.#json
  }

  #compile(): Compiled {
    this.#compiled ??= compileSchemas(this.name, this.source)
    return this.#compiled
  }
}

function compileSchemas(name: string, source: AnyTool): Compiled {
  const input = compileInput(name, source.inputSchema)
  checkExecute(name, source.execute, input)
  const output =
    source.outputSchema === undefined
      ? undefined
      : compileSchema(source.outputSchema, `outputSchema of tool "${name}"`, 'output')
  const hasObject = output === undefined || output.isPlainObject === true || isObjectOutput(output.jsonSchema)
  return {
    input,
    output,
    paramHeaders: input.isPlainObject === true ? [] : compileParamHeaders(input.jsonSchema, name),
    toResult: toResultConverter(name, output, hasObject),
  }
}

function describeTool(name: string, source: AnyTool, { input, output }: Compiled): Tool {
  const { annotations, icons, _meta } = source.mcp ?? {}
  const { title, description } = source
  const inputSchema = describeObject(name, input.jsonSchema)
  const outputSchema = output?.jsonSchema
  return present<Tool>({ name, title, description, inputSchema, outputSchema, annotations, icons, _meta })
}

function toJson(tool: Tool): CompiledTool['json'] {
  const modern = JSON.stringify(tool)
  if (tool.outputSchema === undefined || isObjectOutput(tool.outputSchema)) return { modern, legacy: modern }
  const { outputSchema: _, ...legacy } = tool
  return { modern, legacy: JSON.stringify(legacy) }
}

function isObjectOutput({ type }: JsonSchema): boolean {
  return type === 'object'
}

function compileInput(name: string, schema: unknown): CompiledSchema {
  if (schema === undefined || schema === null || isEmptyShape(schema)) {
    return { jsonSchema: NO_INPUT, validate: (value) => ({ ok: true, value }) }
  }
  const compiled = compileSchema(schema, `inputSchema of tool "${name}"`)
  return compiled.isPlainObject === true
    ? compiled
    : { jsonSchema: describeObject(name, compiled.jsonSchema), validate: compiled.validate }
}

function describeObject(name: string, schema: JsonSchema): JsonSchema {
  const { type } = schema
  if (type === 'object') return schema
  if (type === undefined) return { type: 'object', ...schema }
  throw new TypeError(`inputSchema of tool "${name}" must describe an object, not ${JSON.stringify(type)}.`)
}

function isEmptyShape(schema: unknown): boolean {
  return typeof schema === 'object' && !isStandardSchema(schema) && Object.keys(schema as object).length === 0
}

/** What `update` may change in a tool. */
export type ToolUpdate = Partial<RegisterToolConfig<Schema, Schema>> & {
  // biome-ignore lint/suspicious/noExplicitAny: any input and context, as in `AnyTool`.
  execute?: (input: any, context: any) => unknown
}

/** A tool with some members replaced. @throws TypeError for members that only the SDK has. */
export function withUpdate(source: AnyTool, update: ToolUpdate): AnyTool {
  if ('callback' in update || 'paramsSchema' in update)
    throw new TypeError('update() has no callback and no paramsSchema: write execute and inputSchema.')
  const { annotations, _meta, icons, ...rest } = update
  const mcp = { ...source.mcp, ...present({ annotations, _meta, icons }) }
  return { ...source, ...rest, mcp }
}

/** A compiled tool with some members replaced. */
export function updateTool({ name, source }: CompiledTool, update: ToolUpdate): CompiledTool {
  return compileTool(name, withUpdate(source, update))
}
