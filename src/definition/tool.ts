/**
 * Tools: what a user writes with `createTool` or `registerTool`, and what one compiles to.
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
import type { ToolHooks } from './tool-hooks.ts'
import { checkExecute, checkToolShape } from './tool-mistakes.ts'
import { type ToolOutput, toResultConverter } from './tool-result.ts'

/** Hints about a tool's behaviour; clients must not trust them for security. */
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

/** What a tool is: MCP's own fields live under `mcp`, as other frameworks have them. */
export interface ToolConfig<
  Input extends Schema | PlainJsonSchema | undefined,
  Output extends Schema | undefined,
  Result = ToolOutput<Output>,
> extends ToolHooks<Input, Output> {
  /** Identifies the tool in your code; clients see the key it has in `tools`. */
  id: string
  title?: string
  description?: string
  inputSchema?: Input
  outputSchema?: Output
  mcp?: { annotations?: ToolAnnotations; _meta?: Meta; icons?: Icon[] }
  /** `false` hides the tool until `setup` enables it for a request. Default true. */
  enabled?: boolean
  /** What the caller's token must have, where the server has `auth`. Default nothing. */
  scopes?: readonly string[]
  execute(
    input: ToolInput<Input>,
    context: RequestContext,
  ): ToolOutput<Output> | Promise<ToolOutput<Output>> | Result | Promise<Result>
}

/** The validated arguments `execute` receives. */
export type ToolInput<Input> = Input extends Schema ? InferOutput<Input> : Record<string, unknown>

export type { ToolOutput }

/** A tool of any schema, as `tools` takes it. Tools of other frameworks with this shape fit as they are. */
export interface AnyTool {
  id?: string
  title?: string
  description?: string
  inputSchema?: unknown
  outputSchema?: unknown
  mcp?: { annotations?: ToolAnnotations; _meta?: Meta; icons?: Icon[] }
  enabled?: boolean
  scopes?: readonly string[]
  onInputStart?: ((event: never) => unknown) | undefined
  onInputDelta?: ((event: never) => unknown) | undefined
  onInputAvailable?: ((event: never) => unknown) | undefined
  onOutput?: ((event: never) => unknown) | undefined
  // biome-ignore lint/suspicious/noExplicitAny: parameters are contravariant, so only `any` accepts every tool.
  execute?: ((input: any, context: any) => unknown) | undefined
}

/** What `execute` was written as, by what the tool offers to call: a server validates the input itself. */
const written = new WeakMap<object, NonNullable<AnyTool['execute']>>()

/** Lets a tool be called as `call`, while a server runs `execute`. */
export function offerCall<Call extends object>(execute: NonNullable<AnyTool['execute']>, call: Call): Call {
  written.set(call, execute)
  return call
}

/** What `registerTool` takes beside the name and the callback. */
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
  /** What the caller's token must have, where the server has `auth`. Default nothing. */
  scopes?: readonly string[]
}

/** With an `inputSchema` the callback receives the arguments and the context; without one, the context alone. */
export type ToolCallback<
  Input extends Schema | undefined,
  Output extends Schema | undefined,
> = Input extends Schema
  ? (input: InferOutput<Input>, context: RequestContext) => ToolOutput<Output> | Promise<ToolOutput<Output>>
  : (context: RequestContext) => ToolOutput<Output> | Promise<ToolOutput<Output>>

/** Turns the arguments of `registerTool` into a tool. */
export function toTool(
  name: string,
  config: RegisterToolConfig<Schema | undefined, Schema | undefined>,
  callback: (...args: never[]) => unknown,
): AnyTool {
  if (typeof name !== 'string' || typeof callback !== 'function')
    throw new TypeError('registerTool takes a name, a configuration and a function.')
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

/** A tool ready to serve. What comes of its schemas throws a TypeError where one of them is unusable. */
export interface CompiledTool {
  readonly name: string
  readonly tool: Tool
  /** `tool` as JSON, for modern and for legacy clients (an `outputSchema` that is no object is modern only). */
  readonly json: { readonly modern: string; readonly legacy: string }
  readonly input: CompiledSchema
  readonly paramHeaders: readonly ParamHeader[]
  readonly source: AnyTool
  /** Turns what `execute` returned into a result. */
  toResult(output: unknown, era: 'modern' | 'legacy'): CallToolResult | Promise<CallToolResult>
}

/** Lenient: models send stray arguments to tools that take none, and it does no harm. */
const NO_INPUT: JsonSchema = { type: 'object', properties: {} }

/**
 * Checks what is cheap to check, and compiles the schemas of a tool at its first use, once: a call pays for the tool that is
 * called, and for no other.
 *
 * @throws TypeError when there is nothing to execute, naming the tool; what is compiled later throws one for an unusable schema.
 */
export function compileTool(name: string, given: AnyTool): CompiledTool {
  checkToolShape(name, given)
  if (name === '') throw new TypeError('A tool name must not be empty.')
  const source = isMastraTool(given)
    ? fromMastraTool(name, given)
    : { ...given, execute: written.get(given.execute!) ?? given.execute }
  return new LazyTool(name, source)
}

/** What is compiled together: what a call needs, and what a list does. */
type Compiled = Pick<CompiledTool, 'tool' | 'input' | 'paramHeaders' | 'toResult'>

class LazyTool implements CompiledTool {
  readonly name: string
  readonly source: AnyTool
  #compiled: Compiled | undefined
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
    return this.#compile().tool
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
  checkExecute(name, source.execute, input.jsonSchema)
  const output =
    source.outputSchema === undefined
      ? undefined
      : compileSchema(source.outputSchema, `outputSchema of tool "${name}"`, 'output')
  const { annotations, icons, _meta } = source.mcp ?? {}
  const { title, description } = source
  const inputSchema = input.jsonSchema
  const outputSchema = output?.jsonSchema
  return {
    tool: present<Tool>({ name, title, description, inputSchema, outputSchema, annotations, icons, _meta }),
    input,
    paramHeaders: compileParamHeaders(inputSchema, name),
    toResult: toResultConverter(name, output, hasObjectOutput(outputSchema)),
  }
}

function toJson(tool: Tool): CompiledTool['json'] {
  const modern = JSON.stringify(tool)
  if (hasObjectOutput(tool.outputSchema)) return { modern, legacy: modern }
  const { outputSchema: _, ...legacy } = tool
  return { modern, legacy: JSON.stringify(legacy) }
}

function hasObjectOutput(outputSchema: JsonSchema | undefined): boolean {
  return outputSchema === undefined || outputSchema.type === 'object'
}

function compileInput(name: string, schema: unknown): CompiledSchema {
  if (schema === undefined || schema === null || isEmptyShape(schema)) {
    return { jsonSchema: NO_INPUT, validate: (value) => ({ ok: true, value }) }
  }
  const compiled = compileSchema(schema, `inputSchema of tool "${name}"`)
  const { type } = compiled.jsonSchema
  if (type === 'object') return compiled
  if (type === undefined) return { ...compiled, jsonSchema: { type: 'object', ...compiled.jsonSchema } }
  throw new TypeError(`inputSchema of tool "${name}" must describe an object, not ${JSON.stringify(type)}.`)
}

function isEmptyShape(schema: unknown): boolean {
  return typeof schema === 'object' && !isStandardSchema(schema) && Object.keys(schema as object).length === 0
}

/** What `update` may change of a tool. */
export type ToolUpdate = Partial<RegisterToolConfig<Schema, Schema>> & {
  // biome-ignore lint/suspicious/noExplicitAny: the same liberty as `AnyTool`.
  execute?: (input: any, context: any) => unknown
}

/** A tool with some of its definition changed. @throws TypeError for what the SDK calls by another name. */
export function withUpdate(source: AnyTool, update: ToolUpdate): AnyTool {
  if ('callback' in update || 'paramsSchema' in update)
    throw new TypeError('update() has no callback and no paramsSchema: write execute and inputSchema.')
  const { annotations, _meta, icons, ...rest } = update
  const mcp = { ...source.mcp, ...present({ annotations, _meta, icons }) }
  return { ...source, ...rest, mcp }
}

/** A compiled tool with some of its definition changed. */
export function updateTool({ name, source }: CompiledTool, update: ToolUpdate): CompiledTool {
  return compileTool(name, withUpdate(source, update))
}
