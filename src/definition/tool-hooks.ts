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
}

/** Hooks are not awaited, and their errors are logged without failing the call. */
export interface ToolHooks<Input, Output, Event = ToolHookEvent> {
  /** Called once the arguments are validated, before `execute`. */
  onInputAvailable?: (
    event: Event & { input: Input extends Schema ? InferOutput<Input> : Record<string, unknown> },
  ) => unknown
  /**
   * Called with the output of `execute`, unless it is an error. With an `outputSchema`, the output is the value that the schema
   * describes, even if `execute` returned a full result.
   */
  onOutput?: (event: Event & { output: Output extends Schema ? InferInput<Output> : unknown }) => unknown
}
