/** `createTool` with the context that the official SDK gives to callbacks. */
import type { PlainJsonSchema, Schema } from '../definition/schema.ts'
import type { TaskContext, TaskOption } from '../definition/task-option.ts'
import { TOOL_OPTIONS, type ToolFields } from '../definition/tool.ts'
import type { ToolHooks } from '../definition/tool-hooks.ts'
import type { ToolOutput } from '../definition/tool-result.ts'
import { type Checked, type CreatedTool, makeTool } from '../request/create-tool.ts'
import { withCallbackContext } from './callback-context.ts'
import { extendForSdk, type SdkToolContext } from './tool-context.ts'

/** The configuration of a tool. */
export interface SdkToolConfig<
  Input extends Schema | PlainJsonSchema | undefined,
  Output extends Schema | undefined,
  Result = ToolOutput<Output>,
  Task extends TaskOption | undefined = undefined,
> extends ToolFields<Input, Output, Result, Task, SdkContextOf<Task>>,
    ToolHooks<Input, Output> {}

/** The context of a tool, by its option `task`. */
type SdkContextOf<Task> = Task extends undefined
  ? SdkToolContext
  : SdkToolContext & Omit<TaskContext, keyof SdkToolContext>

/**
 * Defines a tool, as the `createTool` of `mayfly-mcp` does. Its context has the members that the SDK's callbacks expect besides, and it
 * may return its questions. Works on every `MCPServer`.
 *
 * @throws TypeError for an unknown option.
 */
export function createTool<
  Input extends Schema | PlainJsonSchema | undefined = undefined,
  Output extends Schema | undefined = undefined,
  Result extends ToolOutput<Output> = ToolOutput<Output>,
  const Task extends TaskOption | undefined = undefined,
>(
  config: SdkToolConfig<Input, Output, Result, Task> & Checked<Input, Result>,
): CreatedTool<Input, Output, Result> {
  const execute = withCallbackContext(config?.execute)
  const given = execute === undefined ? config : { ...config, execute }
  return makeTool(given, TOOL_OPTIONS, extendForSdk) as CreatedTool<Input, Output, Result>
}
