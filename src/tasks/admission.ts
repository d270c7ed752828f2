/** The middleware around a call that creates a task, before the task runs. */
import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { CallToolResult } from '../definition/content.ts'
import { part } from '../definition/part.ts'
import type { Context } from '../request/context.ts'
import { loadAroundTool } from '../request/load-around-tool.ts'
import { type MethodResult, toMethodResult } from '../request/method-result.ts'
import { failedResult, type ToolRunOptions } from '../request/tools.ts'
import { handleResult } from './handle.ts'
import type { Task } from './record.ts'

/**
 * Creates a task if the middleware lets the call through. `next()` resolves with the handle; a changed result is not used, and neither are
 * changed arguments: each run starts with those of the client, and has the middleware around it.
 *
 * @param input The validated arguments. @param create Its errors are thrown unchanged.
 */
export async function createThroughMiddleware(
  { reportError, use }: ToolRunOptions,
  tool: CompiledTool,
  context: Context,
  input: { readonly parsed: unknown; readonly sent: unknown },
  create: () => Promise<Task>,
  answer: (task: Task) => MethodResult,
): Promise<MethodResult> {
  if (use === undefined) return answer(await create())
  let task: Task | undefined
  let fault: { readonly error: unknown } | undefined
  const run = async (): Promise<CallToolResult> => {
    try {
      task = await create()
      return handleResult(task, tool)
    } catch (error) {
      fault = { error }
      throw error
    }
  }
  try {
    const { aroundTool } = await part(loadAroundTool)
    const result = await aroundTool(use, tool, context, reportError, run, input.parsed, input.sent, 'create')
    return task === undefined ? toMethodResult(result) : answer(task)
  } catch (error) {
    if (fault !== undefined && fault.error === error) throw error
    return failedResult(error, tool, context, reportError)
  }
}
