/** `createTool` as Mastra has it: with the context and the hooks that its tools expect. */
import type { PlainJsonSchema, Schema } from '../definition/schema.ts'
import type { TaskOption, ToolContext } from '../definition/task-option.ts'
import { type AnyTool, TOOL_OPTIONS, type ToolFields, type ToolInput } from '../definition/tool.ts'
import type { ToolOutput } from '../definition/tool-result.ts'
import type { Names } from '../definition/unknown-option.ts'
import { type Checked, type ExecuteTool, makeTool } from '../request/create-tool.ts'
import type { ToolCallContext } from '../request/direct-call.ts'
import { extendForMastra, type MastraMembers } from './context.ts'
import { hooksOf, type MastraHooks } from './hooks.ts'
import { type WithOwnContext, withOwnContext } from './tool.ts'

/** The configuration of a tool. */
export interface MastraToolConfig<
  Input extends Schema | PlainJsonSchema | undefined,
  Output extends Schema | undefined,
  Result = ToolOutput<Output>,
  Task extends TaskOption | undefined = undefined,
> extends Omit<ToolFields<Input, Output, Result, Task, ToolContext<Task> & MastraMembers>, 'execute'>,
    MastraHooks<Input, Output> {
  execute(
    input: WithOwnContext<ToolInput<Input>>,
    context: ToolContext<Task> & MastraMembers,
  ): ToolOutput<Output> | Promise<ToolOutput<Output>> | Result | Promise<Result>
}

/** What to pass to a tool that is called without a request. Each member replaces that of the context. */
export interface MastraCallContext extends ToolCallContext {
  toolCallId?: string | undefined
  messages?: readonly unknown[] | undefined
  mcp?: object | undefined
}

/** A tool that can also be called without a server. */
export type MastraCreatedTool<
  Input extends Schema | PlainJsonSchema | undefined,
  Output extends Schema | undefined,
  Result = ToolOutput<Output>,
> = Omit<MastraToolConfig<Input, Output, Result, TaskOption | undefined>, 'execute'> & {
  execute: ExecuteTool<Input, Result, MastraCallContext>
}

const OPTIONS: Names<MastraToolConfig<undefined, undefined>> = {
  ...TOOL_OPTIONS,
  onInputStart: 'function',
  onInputDelta: 'function',
}

/**
 * Defines a tool, as the `createTool` of `mayfly-mcp` does. Its context has Mastra's members besides: `mcp`, `requestContext`,
 * `abortSignal`. Works on servers of both.
 *
 * @throws TypeError for an unknown option.
 */
export function createTool<
  Input extends Schema | PlainJsonSchema | undefined = undefined,
  Output extends Schema | undefined = undefined,
  Result extends ToolOutput<Output> = ToolOutput<Output>,
  const Task extends TaskOption | undefined = undefined,
>(
  config: MastraToolConfig<Input, Output, Result, Task> & Checked<Input, Result>,
): MastraCreatedTool<Input, Output, Result> {
  const execute = config?.execute as AnyTool['execute']
  // Checked by `makeTool`.
  const run = typeof execute === 'function' && {
    execute: (input: unknown, context: object) => execute(withOwnContext(input), context),
  }
  const tool = makeTool({ ...config, ...hooksOf(config), ...run }, OPTIONS, extendForMastra)
  return tool as MastraCreatedTool<Input, Output, Result>
}
