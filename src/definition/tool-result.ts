/**
 * Converts the output of a tool to a `CallToolResult` (MCP 2026-07-28, "Tool Result").
 */
import { type CallToolResult, errorResult } from './content.ts'
import { isThenable } from './hook.ts'
import type { InputRequired } from './input-required.ts'
import {
  type CompiledSchema,
  describeIssues,
  type InferInput,
  type Schema,
  type Validation,
} from './schema.ts'

/** Results in place of those that do not match their `outputSchema`. */
const mismatches = new WeakSet<CallToolResult>()

function mismatch(text: string): CallToolResult {
  const result = errorResult(`${text} This is an error in the server.`)
  mismatches.add(result)
  return result
}

/** Whether it says that a tool returned a value that does not match its `outputSchema`: an error to report. */
export function isMismatch(result: CallToolResult): boolean {
  return mismatches.has(result)
}

/**
 * What `execute` may return: the value that `outputSchema` describes, otherwise text or any JSON value; a full result; or, as in SDK v2,
 * its questions. Then it is called again with the answers in `ctx.mcpReq.inputResponses`.
 */
export type ToolOutput<Output> =
  // `{} | null | undefined` instead of `unknown`, which would absorb the types of a result.
  // biome-ignore lint/suspicious/noConfusingVoidType: tools may return nothing.
  // biome-ignore lint/complexity/noBannedTypes: any value except null and undefined is what it means.
  (Output extends Schema ? InferInput<Output> : {} | null | undefined | void) | CallToolResult | InputRequired

/**
 * Creates the converter of one tool. A string becomes text; another value becomes text and `structuredContent`; an object with a
 * `content` array is used unchanged. With an `outputSchema`, `structuredContent` is validated.
 *
 * A mismatch becomes an `isError` result that names the fields and blames the server.
 * @param hasObjectOutput whether the output is an object: legacy clients accept no other `structuredContent`.
 */
export function toResultConverter(
  name: string,
  outputSchema: CompiledSchema | undefined,
  hasObjectOutput: boolean,
): (output: unknown, era: 'modern' | 'legacy') => CallToolResult | Promise<CallToolResult> {
  return (output, era) => {
    // The most common output, which is right as it is.
    if (typeof output === 'string' && outputSchema === undefined)
      return { content: [{ type: 'text', text: output }] }
    const result = toCallToolResult(output, outputSchema !== undefined)
    if (outputSchema === undefined || result.isError === true) return forEra(result, era)
    if (result.structuredContent === undefined) {
      return mismatch(`Tool "${name}" has an outputSchema but returned no structured content.`)
    }
    const validation = outputSchema.validate(result.structuredContent)
    const finish = (settled: Validation): CallToolResult => {
      if (settled.ok)
        return forEra({ ...result, structuredContent: settled.value }, hasObjectOutput ? 'modern' : era)
      return mismatch(
        `Tool "${name}" returned a value that does not match its outputSchema: ${describeIssues(settled.issues)}.`,
      )
    }
    return validation instanceof Promise ? validation.then(finish) : finish(validation)
  }
}

/** A result from an output in any form, which is not validated. @throws TypeError for one that cannot be sent. */
export function toCallToolResult(output: unknown, isStructured: boolean): CallToolResult {
  const result = withJson(isCallToolResult(output) ? output : fromValue(output, isStructured))
  checkBlocks(result)
  return result
}

/** The part of an output that the `outputSchema` describes, without the result around it. */
export function structuredOf(output: unknown): unknown {
  return isCallToolResult(output) ? output.structuredContent : output
}

function isCallToolResult(output: unknown): output is CallToolResult {
  if (output === null || typeof output !== 'object') return false
  const { content } = output as { content?: unknown }
  return (
    Array.isArray(content) &&
    content.every((block) => typeof (block as { type?: unknown } | null)?.type === 'string')
  )
}

/** The strings that a block of each type must have: clients refuse a whole result for one that is missing. */
const BLOCKS = new Map<string, readonly string[]>([
  ['text', ['text']],
  ['image', ['data', 'mimeType']],
  ['audio', ['data', 'mimeType']],
  ['resource', []],
  ['resource_link', ['uri', 'name']],
])

/** @throws TypeError for a content block of an unknown type, or without its strings. */
function checkBlocks({ content }: CallToolResult): void {
  for (const block of content) {
    const members = BLOCKS.get(block.type)
    if (members === undefined)
      throw new TypeError(`content of type "${block.type}" (use ${[...BLOCKS.keys()].join(', ')})`)
    for (const member of members) {
      const value: unknown = Reflect.get(block, member)
      // JSON makes strings of a URL or a Date.
      if (typeof value !== 'string' && (ArrayBuffer.isView(value) || JSON.stringify(value)?.[0] !== '"'))
        throw new TypeError(
          `content of type "${block.type}" needs ${member === 'data' ? 'base64' : 'a string'} as "${member}"`,
        )
    }
  }
}

/** Replaces `structuredContent` that does not become a JSON object, such as a `Date` or a `URL`. */
function withJson(result: CallToolResult): CallToolResult {
  const { structuredContent } = result
  if (structuredContent === null || typeof structuredContent !== 'object') return result
  const prototype: unknown = Object.getPrototypeOf(structuredContent)
  const isPlain = prototype === Object.prototype || prototype === Array.prototype || prototype === null
  if (isPlain && !('toJSON' in structuredContent)) return result
  const text: string | undefined = JSON.stringify(structuredContent)
  // Kept if it stays an object: a schema may check its class.
  if (text?.startsWith('{')) return result
  return { ...result, structuredContent: text === undefined ? undefined : (JSON.parse(text) as unknown) }
}

function fromValue(output: unknown, isStructured: boolean): CallToolResult {
  if (output === undefined) return { content: [] }
  if (typeof output === 'string') return isStructured ? ofText(output, output) : ofText(output)
  // An object with a member for each byte would be sent.
  if (ArrayBuffer.isView(output)) throw notPlain(output)
  const text = JSON.stringify(output)
  // Its text would be its source.
  if (typeof output === 'function') throw new TypeError('execute returned a function: return its result.')
  if (text === undefined) return ofText(String(output))
  const isObject = text.startsWith('{') || text.startsWith('[')
  if (text === '{}') checkPlain(output as object)
  else if (text.includes('{}')) refusePromises(output)
  return isStructured || isObject ? ofText(text, output) : ofText(text)
}

function ofText(text: string, structuredContent?: unknown): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text }]
  return structuredContent === undefined ? { content } : { content, structuredContent }
}

/** @throws TypeError for objects that JSON writes as `{}`: a generator, a `Map`, a `Response`. */
function checkPlain(output: object): void {
  if (kindOf(output) !== 'Object' && !('toJSON' in output)) throw notPlain(output)
}

function kindOf(output: object): string {
  return Object.prototype.toString.call(output).slice(8, -1)
}

function notPlain(output: object): TypeError {
  return new TypeError(`execute returned an object of type ${kindOf(output)}: return its content instead.`)
}

/** @throws TypeError for a promise in an output, which JSON writes as `{}`. */
function refusePromises(value: unknown, name = ''): void {
  if (value === null || typeof value !== 'object' || 'toJSON' in value) return
  if (isThenable(value))
    throw new TypeError(`execute returned a promise in "${name}": write await before it.`)
  for (const [member, part] of Object.entries(value)) refusePromises(part, member)
}

/** In the modern era `structuredContent` may be any JSON value; legacy clients accept only an object. */
export function forEra(result: CallToolResult, era: 'modern' | 'legacy'): CallToolResult {
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
