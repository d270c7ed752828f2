/** The arguments of a call as its task stores them. */
import type { CompiledTool } from '../definition/compiled-tool.ts'

/**
 * The parsed arguments, without members that the schema does not know. As they came, if the schema turns them into something that it
 * would not parse again: each run parses what is stored.
 *
 * @param parsed The result of the schema for `input`.
 */
export async function toStoredInput(tool: CompiledTool, input: unknown, parsed: unknown): Promise<unknown> {
  try {
    const text = JSON.stringify(parsed)
    const again = await tool.input.validate(JSON.parse(text))
    return again.ok && JSON.stringify(again.value) === text ? JSON.parse(text) : input
  } catch {
    // Not JSON.
    return input
  }
}
