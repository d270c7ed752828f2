/** Middleware around a tool. */
import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { CallToolResult } from '../definition/content.ts'
import type { McpContext } from '../definition/context.ts'
import type { Around, ToolCall, ToolMiddleware } from '../definition/middleware.ts'
import { describeIssues } from '../definition/schema.ts'
import { throughMiddleware } from '../definition/through-middleware.ts'
import type { Context } from './context.ts'
import type { ReportError } from './options.ts'
import { reportMismatch, sendable } from './sendable.ts'

/** Runs the middleware around `run`. */
export function aroundTool(
  use: readonly ToolMiddleware[],
  tool: CompiledTool,
  context: Context,
  reportError: ReportError,
  run: Around<McpContext>['run'],
  input: unknown,
  sent: unknown,
  task: ToolCall['task'],
): Promise<CallToolResult> {
  const toolName = tool.name
  const around: Around<McpContext> = {
    toolName,
    context,
    task,
    parse: async (changed) => {
      const validation = await tool.input.validate(changed)
      if (validation.ok) return validation.value
      throw new TypeError(
        `A middleware passed invalid arguments to tool "${toolName}": ${describeIssues(validation.issues)}`,
      )
    },
    run,
    toJson: (result) => sendable(tool, () => JSON.stringify(result)),
    toResult: async (output) => {
      const result = await sendable(tool, () => tool.toResult(output, 'modern'))
      reportMismatch(result, tool, context, reportError)
      return result
    },
  }
  return throughMiddleware(use, around, input, sent as ToolCall['arguments'])
}
