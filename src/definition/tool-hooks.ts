/**
 * The hooks of a tool: they observe its calls.
 */
import type { RequestContext } from './context.ts'
import type { InferInput, InferOutput, Schema } from './schema.ts'

/** The call that a hook is told of. */
export interface ToolHookEvent {
  /** The name that clients see. */
  toolName: string
  context: RequestContext
  /** The members of `context` of the same names. */
  toolCallId: string
  messages: readonly unknown[]
  abortSignal: AbortSignal
}

/** What they throw is logged and fails nothing; nothing waits for them. */
export interface ToolHooks<Input, Output> {
  /** Never called: MCP hands over a call's arguments at once. There for tools that agents of other frameworks call, too. */
  onInputStart?: (event: ToolHookEvent) => unknown
  /** Never called, as `onInputStart`. */
  onInputDelta?: (event: ToolHookEvent & { inputTextDelta: string }) => unknown
  /** Called once the arguments are validated, before `execute`. */
  onInputAvailable?: (
    event: ToolHookEvent & { input: Input extends Schema ? InferOutput<Input> : Record<string, unknown> },
  ) => unknown
  /**
   * Called with what `execute` returned, unless that is an error. With an `outputSchema` it is the value that the schema
   * describes, also where `execute` returned a full result.
   */
  onOutput?: (
    event: ToolHookEvent & { output: Output extends Schema ? InferInput<Output> : unknown },
  ) => unknown
}
