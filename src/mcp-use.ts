/** The exports of `mayfly-mcp/mcp-use`: `MCPServer` for tools that were written for mcp-use. */
import type { InferOutput, Schema } from './definition/schema.ts'
import type { RegisterToolConfig } from './definition/tool.ts'
import type { ToolOutput } from './definition/tool-result.ts'
import { extendForMcpUse, type McpUseContext } from './mcp-use/context.ts'
import type { Context } from './request/context.ts'
import type { ToolHandle } from './request/tool-handle.ts'
import { MCPServer as NativeServer } from './server.ts'

export {
  accept,
  acceptWithDefaults,
  applyDefaults,
  cancel,
  decline,
  type ElicitContent,
  type ElicitQuestion,
  type ElicitRequest,
  type ElicitResult,
  type ElicitValidationResult,
  getDefaults,
  type OnElicitationCallback,
  reject,
  validate,
} from './mcp-use/answers.ts'
export type {
  McpUseAnswer,
  McpUseClient,
  McpUseContext,
  McpUseElicit,
  McpUseElicitOptions,
  McpUseReportProgress,
} from './mcp-use/context.ts'
export { error, object, text } from './mcp-use/results.ts'

/** The first argument of `tool`. */
export interface McpUseToolConfig<Input extends Schema | undefined, Output extends Schema | undefined>
  extends RegisterToolConfig<Input, Output> {
  name: string
  /** The same as `inputSchema`. */
  schema?: Input
}

/** The function of a tool. Without a schema, `input` is empty. */
export type McpUseToolCallback<Input extends Schema | undefined, Output extends Schema | undefined> = (
  input: Input extends Schema ? InferOutput<Input> : Record<string, never>,
  context: McpUseContext,
) => ToolOutput<Output> | Promise<ToolOutput<Output>>

/** The `MCPServer` of `mayfly-mcp`, whose callbacks get the context that mcp-use gives them. */
export class MCPServer extends NativeServer<McpUseContext> {
  protected override get extendContext(): (context: Context) => void {
    return extendForMcpUse
  }

  /**
   * Adds a tool as mcp-use does: `server.tool({ name, inputSchema }, (input, ctx) => …)`.
   *
   * @throws TypeError after the first request, for a name that is taken, and for an unknown option.
   */
  tool<Input extends Schema | undefined = undefined, Output extends Schema | undefined = undefined>(
    config: McpUseToolConfig<Input, Output>,
    callback: McpUseToolCallback<Input, Output>,
  ): ToolHandle {
    const { name, schema, inputSchema = schema, ...rest } = config ?? {}
    if ('cb' in rest)
      throw new TypeError(`Tool "${name}" has "cb": pass the function as the second argument of tool.`)
    const call = callback as (...args: unknown[]) => never
    const run = (...args: unknown[]) => (inputSchema === undefined ? call({}, ...args) : call(...args))
    const options = { ...rest, ...(inputSchema !== undefined && { inputSchema }) }
    return this.registerTool(
      name,
      options as RegisterToolConfig<Input, Output>,
      (typeof callback === 'function' ? run : callback) as never,
    )
  }

  /** @deprecated mcp-use's. @throws TypeError that says what to write instead. */
  listen(_port?: number): never {
    throw new TypeError(
      'A server does not listen itself: export it as default, or call serve(server) of mayfly-mcp/node.',
    )
  }
}
