/** The hooks of a tool as Mastra and the AI SDK call them. */
import type { ToolHookEvent, ToolHooks } from '../definition/tool-hooks.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import { Context } from '../request/context.ts'
import { extendForMastra, type MastraContext } from './context.ts'

/** The call that a hook observes. */
export interface MastraHookEvent extends ToolHookEvent {
  context: MastraContext
  /** This and the next two: the members of `context` with the same names. */
  toolCallId: string
  messages: readonly unknown[]
  abortSignal: AbortSignal
}

/** Hooks are not awaited, and their errors are logged without failing the call. */
export interface MastraHooks<Input, Output> extends ToolHooks<Input, Output, MastraHookEvent> {
  /** Never called by a server: MCP sends the arguments of a call at once. Agents call it. */
  onInputStart?: (event: MastraHookEvent) => unknown
  /** Never called by a server, like `onInputStart`. */
  onInputDelta?: (event: MastraHookEvent & { inputTextDelta: string }) => unknown
}

interface Hooked {
  onInputAvailable?: ((event: never) => unknown) | undefined
  onOutput?: ((event: never) => unknown) | undefined
}

const HOOKS: Names<Hooked> = { onInputAvailable: 'function', onOutput: 'function' }

/** The hooks of a tool that a server calls, each with what Mastra tells it. @throws TypeError for one that is not a function. */
export function hooksOf(tool: Hooked | undefined): Hooked {
  const { onInputAvailable, onOutput } = tool ?? {}
  refuseUnknown('a tool', { onInputAvailable, onOutput }, HOOKS)
  return {
    ...(onInputAvailable !== undefined && { onInputAvailable: told(onInputAvailable) }),
    ...(onOutput !== undefined && { onOutput: told(onOutput) }),
  }
}

function told(hook: (event: never) => unknown): (event: ToolHookEvent) => unknown {
  return (event) => hook(withFacts(event) as never)
}

function withFacts(event: ToolHookEvent): object {
  const context: unknown = event.context
  // An agent tells its own facts.
  if (!(context instanceof Context)) return event
  extendForMastra(context)
  const { toolCallId, messages, abortSignal } = context as Context & MastraContext
  return { ...event, toolCallId, messages, abortSignal }
}
