/** Tools as they are served: each compiled at its first use. The description for lists is compiled separately from what a call needs. */
import type { CallToolResult } from './content.ts'
import { compileParamHeaders, type ParamHeader } from './param-header.ts'
import { present } from './present.ts'
import { type CompiledSchema, compileSchema, isStandardSchema, type JsonSchema } from './schema.ts'
import { type AnyTool, authoredOf, executeOf, type Tool, type ToolUpdate, withUpdate } from './tool.ts'
import { checkExecute, checkToolShape } from './tool-mistakes.ts'
import { toResultConverter } from './tool-result.ts'

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

/** Lenient, since models send extra arguments to tools without arguments, which is harmless. */
const NO_INPUT: JsonSchema = { type: 'object', properties: {} }

/**
 * Does the cheap checks. A tool's schemas are compiled once, at its first use, so that a call compiles only its own tool.
 *
 * @throws TypeError naming a tool without `execute`; members that are compiled later throw one for an invalid schema.
 */
export function compileTool(name: string, given: AnyTool): CompiledTool {
  checkToolShape(name, given)
  if (name === '') throw new TypeError('A tool name must not be empty.')
  return new LazyTool(name, { ...given, execute: executeOf(given) })
}

/** The parts that a call needs, compiled together. */
interface Compiled extends Pick<CompiledTool, 'input' | 'paramHeaders' | 'toResult'> {
  readonly output: CompiledSchema | undefined
}

/** Without private members, each of which costs time for each tool of a server: the first call waits for all of them. */
class LazyTool implements CompiledTool {
  /** Once it is compiled. */
  declare readonly output: CompiledSchema | undefined
  declare readonly name: string
  declare readonly source: AnyTool

  constructor(name: string, source: AnyTool) {
    this.name = name
    this.source = source
  }

  get input(): CompiledSchema {
    return compiledOf(this).input
  }

  get paramHeaders(): readonly ParamHeader[] {
    return compiledOf(this).paramHeaders
  }

  get toResult(): CompiledTool['toResult'] {
    return compiledOf(this).toResult
  }

  get tool(): Tool {
    const { input } = this
    const tool = describeTool(this.name, this.source, input, this.output)
    // Calls use the advertised schema, since zod's metadata may have changed in the meantime.
    if (input.isPlainObject === true)
      own(this, 'paramHeaders', compileParamHeaders(tool.inputSchema, this.name))
    return own(this, 'tool', tool)
  }

  get json(): CompiledTool['json'] {
    return own(this, 'json', toJson(this.tool))
  }
}

/** Replaces the getters, which each call would run several times. */
function compiledOf(tool: LazyTool): Compiled {
  const compiled = compileSchemas(tool.name, tool.source)
  for (const [member, value] of Object.entries(compiled)) own(tool, member, value)
  return compiled
}

function own<Value>(tool: LazyTool, member: string, value: Value): Value {
  Object.defineProperty(tool, member, { value, configurable: true })
  return value
}

function compileSchemas(name: string, source: AnyTool): Compiled {
  const input = compileInput(name, source.inputSchema)
  checkExecute(name, authoredOf(source.execute), input)
  const output =
    source.outputSchema === undefined
      ? undefined
      : compileSchema(source.outputSchema, `outputSchema of tool "${name}"`, 'output')
  const hasObject = output === undefined || output.isPlainObject === true || isObjectSchema(output.jsonSchema)
  return {
    input,
    output,
    paramHeaders: input.isPlainObject === true ? [] : compileParamHeaders(input.jsonSchema, name),
    toResult: toResultConverter(name, output, hasObject),
  }
}

function describeTool(
  name: string,
  source: AnyTool,
  input: CompiledSchema,
  output: CompiledSchema | undefined,
): Tool {
  const { annotations, icons, _meta } = source.mcp ?? {}
  const { title, description } = source
  const inputSchema = describeObject(name, input.jsonSchema)
  const outputSchema = output?.jsonSchema
  return present<Tool>({ name, title, description, inputSchema, outputSchema, annotations, icons, _meta })
}

function toJson(tool: Tool): CompiledTool['json'] {
  const modern = JSON.stringify(tool)
  if (tool.outputSchema === undefined || isObjectSchema(tool.outputSchema)) return { modern, legacy: modern }
  const { outputSchema: _, ...legacy } = tool
  return { modern, legacy: JSON.stringify(legacy) }
}

function isObjectSchema({ type }: JsonSchema): boolean {
  return type === 'object'
}

function compileInput(name: string, schema: unknown): CompiledSchema {
  if (schema === undefined || schema === null || isEmptyShape(schema)) {
    return { jsonSchema: NO_INPUT, validate: (value) => ({ ok: true, value }) }
  }
  const compiled = compileSchema(schema, `inputSchema of tool "${name}"`)
  // A schema that is known to be an object is converted only for lists.
  if (compiled.isPlainObject !== true) describeObject(name, compiled.jsonSchema)
  return compiled
}

/** @throws TypeError for a schema of anything but objects. */
function describeObject(name: string, schema: JsonSchema): JsonSchema {
  const { type } = schema
  if (isObjectSchema(schema)) return schema
  if (type === undefined) return { type: 'object', ...schema }
  throw new TypeError(
    `inputSchema of tool "${name}" must describe an object, not ${JSON.stringify(type)}: write z.object({ … }) around it.`,
  )
}

function isEmptyShape(schema: unknown): boolean {
  return typeof schema === 'object' && !isStandardSchema(schema) && Object.keys(schema as object).length === 0
}

/** A compiled tool with some members replaced. */
export function updateTool({ name, source }: CompiledTool, update: ToolUpdate): CompiledTool {
  return compileTool(name, withUpdate(source, update))
}
