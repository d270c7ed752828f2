/**
 * `createTool`: defines a tool, which a server can serve and other code can call.
 */

import { type CompiledTool, compileTool } from '../definition/compiled-tool.ts'
import type { CallToolResult } from '../definition/content.ts'
import { part } from '../definition/part.ts'
import { printError } from '../definition/print-error.ts'
import type { InferInput, PlainJsonSchema, Schema } from '../definition/schema.ts'
import type { TaskOption } from '../definition/task-option.ts'
import {
  type AnyTool,
  authoredOf,
  checkMcp,
  inPlaceOf,
  offerCall,
  TOOL_OPTIONS,
  type ToolConfig,
} from '../definition/tool.ts'
import { checkToolShape } from '../definition/tool-mistakes.ts'
import type { ToolOutput } from '../definition/tool-result.ts'
import { requireOptions } from '../definition/unknown-option.ts'
import type { Context } from './context.ts'
import type { ToolCallContext } from './direct-call.ts'
import { loadDirectCall } from './load-direct-call.ts'

/** A tool that can also be called without a server. */
export type CreatedTool<
  Input extends Schema | PlainJsonSchema | undefined,
  Output extends Schema | undefined,
  Result = ToolOutput<Output>,
> = Omit<ToolConfig<Input, Output, Result, TaskOption | undefined>, 'execute'> & {
  /**
   * Runs the tool outside of a request, with a new context. Inside another tool, pass that tool's context, so that this tool can ask the
   * user.
   *
   * @throws Error for invalid input, for a result that does not match `outputSchema`, and any error of the tool.
   */
  execute: ExecuteTool<Input, Result>
}

export type ExecuteTool<Input, Result, Given = ToolCallContext> = Input extends Schema
  ? (input: InferInput<Input>, context?: Given) => Promise<Awaited<Result>>
  : (input?: Record<string, unknown>, context?: Given) => Promise<Awaited<Result>>

/** Turns mistakes that the types would allow or report unclearly into readable type errors. */
export type Checked<Input, Result> = (Input extends PlainJsonSchema
  ? Input extends Schema
    ? unknown
    : { inputSchema: 'Plain JSON Schema: write jsonSchema({ … }), imported from mayfly-mcp.' }
  : unknown) &
  (IsMalformed<Result> extends true
    ? { execute: (...args: never) => CallToolResult | Promise<CallToolResult> }
    : unknown)

/** A result with content blocks of an unknown type. If the type is only known as `string`, it may be valid. */
type IsMalformed<Result> =
  Awaited<Result> extends { content: readonly { type: infer Type extends string }[] }
    ? string extends Type
      ? false
      : [Type] extends [CallToolResult['content'][number]['type']]
        ? false
        : true
    : false

/**
 * Defines a tool. `execute` may return text, any JSON value, or a full `CallToolResult`; an error that it throws becomes an
 * `isError` result with the message, never the stack.
 *
 * ```ts
 * const add = createTool({
 *   id: 'add',
 *   description: 'Adds two numbers',
 *   inputSchema: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * })
 *
 * await add.execute({ a: 1, b: 2 }) // 3
 * ```
 *
 * @throws TypeError for an unknown option.
 */
export function createTool<
  Input extends Schema | PlainJsonSchema | undefined = undefined,
  Output extends Schema | undefined = undefined,
  Result extends ToolOutput<Output> = ToolOutput<Output>,
  const Task extends TaskOption | undefined = undefined,
>(
  config: ToolConfig<Input, Output, Result, Task> & Checked<Input, Result>,
): CreatedTool<Input, Output, Result> {
  return makeTool(config, TOOL_OPTIONS) as CreatedTool<Input, Output, Result>
}

/**
 * A tool whose `execute` can be called without a server. `extend` adds what it reads to each context.
 *
 * @throws TypeError for an option that is not one of `known`.
 */
export function makeTool(
  config: AnyTool & { readonly id: string },
  known: object,
  extend?: (context: Context) => void,
): object {
  if (typeof config?.execute !== 'function') requireOptions('createTool', config, known)
  checkToolShape(config.id, config)
  requireOptions('createTool', config, known)
  checkMcp(config.id, config.mcp)
  const execute = config.execute!
  const extended =
    extend &&
    ((input: unknown, context: Context): unknown => {
      extend(context)
      return execute(input, context)
    })
  const source = {
    ...config,
    execute: extended === undefined ? execute : inPlaceOf(authoredOf(execute)!, extended),
  }
  let compiled: CompiledTool | undefined
  const call = async (input?: unknown, context?: ToolCallContext): Promise<unknown> => {
    compiled ??= compileTool(config.id, source)
    const { executeCompiled } = await part(loadDirectCall)
    return executeCompiled(compiled, input, context, printError)
  }
  return { ...config, execute: offerCall(source.execute, call) }
}
