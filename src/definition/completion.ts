/**
 * Argument completion, shared by prompts and resource templates (MCP 2026-07-28, "Completion").
 */
import type { McpContext } from './context.ts'

/**
 * Suggests values for one argument.
 *
 * @param value what the user has typed so far.
 * @param options.arguments the other arguments already resolved.
 */
export type Complete = (
  value: string,
  options: { arguments: Readonly<Record<string, string>>; context: McpContext },
) => readonly string[] | Promise<readonly string[]>

/** One completer per argument name. */
export type Completers = { readonly [argument: string]: Complete }

/** The spec allows at most 100 values per response. */
const MAX_VALUES = 100

export interface CompleteResult {
  completion: { values: string[]; total?: number; hasMore: boolean }
}

/** Runs the completer of `argument`. Without a completer there are no suggestions. */
export async function complete(
  completers: Completers | undefined,
  argument: { name: string; value: string },
  known: Readonly<Record<string, string>>,
  context: McpContext,
): Promise<CompleteResult> {
  const completer =
    completers !== undefined && Object.hasOwn(completers, argument.name)
      ? completers[argument.name]
      : undefined
  // Without a total, since the number of values is unknown, not zero.
  if (completer === undefined) return { completion: { values: [], hasMore: false } }
  const values = await completer(argument.value, { arguments: known, context })
  return {
    completion: {
      values: values.slice(0, MAX_VALUES),
      total: values.length,
      hasMore: values.length > MAX_VALUES,
    },
  }
}
