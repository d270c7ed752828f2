/**
 * The hooks of a tool, which observe its calls.
 */
import type { McpContext } from './context.ts'
import type { InferInput, InferOutput, Schema } from './schema.ts'

/** The call that a hook observes. */
export interface ToolHookEvent {
  /** The name that clients see. */
  toolName: string
  context: McpContext
  /** This and the next two are the members of `context` with the same names. */
  toolCallId: string
  messages: readonly unknown[]
  abortSignal: AbortSignal
}

/** Hooks are not awaited, and their errors are logged without failing the call. */
export interface ToolHooks<Input, Output> {
  /** Never called: MCP sends the arguments of a call at once. Allowed for tools that are shared with agents of other frameworks. */
  onInputStart?: (event: ToolHookEvent) => unknown
  /** Never called, like `onInputStart`. */
  onInputDelta?: (event: ToolHookEvent & { inputTextDelta: string }) => unknown
  /** Called once the arguments are validated, before `execute`. */
  onInputAvailable?: (
    event: ToolHookEvent & { input: Input extends Schema ? InferOutput<Input> : Record<string, unknown> },
  ) => unknown
  /**
   * Called with the output of `execute`, unless it is an error. With an `outputSchema`, the output is the value that the schema
   * describes, even if `execute` returned a full result.
   */
  onOutput?: (
    event: ToolHookEvent & { output: Output extends Schema ? InferInput<Output> : unknown },
  ) => unknown
}
