/**
 * From what a tool returned to a `CallToolResult` (MCP 2026-07-28, "Tool Result").
 */
import { type CallToolResult, errorResult } from './content.ts'
import {
  type CompiledSchema,
  describeIssues,
  type InferInput,
  type Schema,
  type Validation,
} from './schema.ts'
import type { InputRequired } from './sdk-context.ts'

/**
 * What `execute` may return: with an `outputSchema` the value it describes, else text or any JSON value; or a full result; or,
 * as with the SDK v2, its questions, to be called again with the answers in `ctx.mcpReq.inputResponses`.
 */
export type ToolOutput<Output> =
  | (Output extends Schema ? InferInput<Output> : unknown)
  | CallToolResult
  | InputRequired

/**
 * Makes the converter of one tool. A string is text; another value is text and `structuredContent`; an object with a
 * `content` array is taken as it is. With an `outputSchema`, `structuredContent` is validated: a mismatch is the
 * server's fault and becomes an `isError` result that names the fields.
 *
 * @param hasObjectOutput legacy clients accept `structuredContent` only as an object.
 */
export function toResultConverter(
  name: string,
  outputSchema: CompiledSchema | undefined,
  hasObjectOutput: boolean,
): (output: unknown, era: 'modern' | 'legacy') => CallToolResult | Promise<CallToolResult> {
  return (output, era) => {
    const result = isCallToolResult(output) ? output : fromValue(output, outputSchema !== undefined)
    if (outputSchema === undefined || result.isError === true) return forEra(result, era)
    if (result.structuredContent === undefined) {
      return errorResult(
        `Tool "${name}" has an outputSchema but returned no structured content. This is a fault of the server.`,
      )
    }
    const validation = outputSchema.validate(result.structuredContent)
    const finish = (settled: Validation): CallToolResult =>
      settled.ok
        ? forEra({ ...result, structuredContent: settled.value }, hasObjectOutput ? 'modern' : era)
        : errorResult(
            `Tool "${name}" returned a value that does not match its outputSchema: ${describeIssues(settled.issues)}. This is a fault of the server.`,
          )
    return validation instanceof Promise ? validation.then(finish) : finish(validation)
  }
}

function isCallToolResult(output: unknown): output is CallToolResult {
  if (output === null || typeof output !== 'object') return false
  const { content } = output as { content?: unknown }
  return (
    Array.isArray(content) &&
    content.every((block) => typeof (block as { type?: unknown } | null)?.type === 'string')
  )
}

function fromValue(output: unknown, isStructured: boolean): CallToolResult {
  if (output === undefined) return { content: [] }
  if (typeof output === 'string') {
    return { content: [{ type: 'text', text: output }], ...(isStructured && { structuredContent: output }) }
  }
  const text = JSON.stringify(output)
  if (text === undefined) return { content: [{ type: 'text', text: String(output) }] }
  const isObject = output !== null && typeof output === 'object'
  return {
    content: [{ type: 'text', text }],
    ...((isStructured || isObject) && { structuredContent: output }),
  }
}

/** `structuredContent` may be any JSON value in the modern era; legacy clients reject all but an object. */
function forEra(result: CallToolResult, era: 'modern' | 'legacy'): CallToolResult {
  const { structuredContent } = result
  if (era === 'modern' || structuredContent === undefined) return result
  if (
    typeof structuredContent === 'object' &&
    structuredContent !== null &&
    !Array.isArray(structuredContent)
  )
    return result
  const { structuredContent: _, ...rest } = result
  return rest
}
