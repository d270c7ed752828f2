/**
 * Calls the hooks of a tool. They only observe: they are not awaited, and their errors are reported without failing the call.
 */

import type { CompiledTool } from '../definition/compiled-tool.ts'
import { callHook } from '../definition/hook.ts'
import { structuredOf } from '../definition/tool-result.ts'
import type { Context } from './context.ts'
import type { ReportError } from './options.ts'

/** The event: the arguments are valid, or `execute` returned a result that is not an error. */
type Happening = { readonly input: unknown } | { readonly output: unknown }

export function tellHooks(
  { name, source }: CompiledTool,
  happening: Happening,
  context: Context,
  reportError: ReportError,
): void {
  const isInput = 'input' in happening
  const hook = isInput ? source.onInputAvailable : source.onOutput
  if (hook === undefined) return
  const { requestId } = context
  const event = { ...happening, toolName: name, context }
  if (!isInput && source.outputSchema !== undefined) {
    Object.assign(event, { output: structuredOf(happening.output) })
  }
  callHook(
    () => hook(event as never),
    (error) => reportError(error, { tool: name, hook: true, requestId }),
    (work) => context.waitUntil(work),
  )
}
