/**
 * Decides whether an answer is right. Speed without a right answer is worth nothing, so a wrong one ends the bench.
 */
import { isDeepStrictEqual } from 'node:util'
import { CALL_ARGUMENTS, type Method, REQUEST_ID } from './requests.ts'

export class WrongAnswer extends Error {}

export interface ExpectedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: Record<string, unknown>
}

/** Throws `WrongAnswer`, saying what is wrong, unless `response` with `text` as its body is what `who` should have answered. */
export function expectAnswer(
  who: string,
  method: Method,
  tools: readonly ExpectedTool[],
  response: Response,
  text: string,
): void {
  const fault = findFault(method, tools, response, text)
  if (fault !== undefined) throw new WrongAnswer(`${who}, ${method}: ${fault}. Body: ${text.slice(0, 400)}`)
}

function findFault(
  method: Method,
  tools: readonly ExpectedTool[],
  { status, headers }: Response,
  text: string,
): string | undefined {
  if (status !== 200) return `status ${status}`
  const headerFault = findHeaderFault(headers, text)
  if (headerFault !== undefined) return headerFault
  const message = readMessage(headers, text)
  if (!isRecord(message)) return 'the body is not one JSON-RPC message'
  if (message.jsonrpc !== '2.0' || message.id !== REQUEST_ID) return 'not an answer to this request'
  if (!isRecord(message.result)) return 'no result'
  if (message.result.isError === true) return 'the tool failed'
  const { resultType } = message.result
  if (resultType !== undefined && resultType !== 'complete') return `resultType ${JSON.stringify(resultType)}`
  return method === 'tools/call' ? findCallFault(message.result) : findListFault(message.result, tools)
}

/** RFC 9110 §5.6.2 (names), §5.5 (values), §8.6 (Content-Length), §7.6.1 (what must not be sent by an origin's handler). */
function findHeaderFault(headers: Headers, text: string): string | undefined {
  for (const [name, value] of headers) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) return `header name ${JSON.stringify(name)}`
    if (!/^[\t\x20-\x7e]*$/.test(value) || value.trim() !== value || value === '') {
      return `header ${name} has the value ${JSON.stringify(value)}`
    }
  }
  for (const name of ['transfer-encoding', 'upgrade', 'content-encoding']) {
    if (headers.has(name)) return `header ${name} is not the handler's to send`
  }
  const mediaType = headers.get('content-type')?.split(';')[0]?.trim()
  if (mediaType !== 'application/json' && mediaType !== 'text/event-stream')
    return `content-type ${mediaType}`
  const length = headers.get('content-length')
  if (length !== null && Number(length) !== Buffer.byteLength(text)) return `content-length ${length}`
  return undefined
}

function readMessage(headers: Headers, text: string): unknown {
  if (headers.get('content-type')?.startsWith('application/json')) return JSON.parse(text)
  const events = text.split('\n').filter((line) => line.startsWith('data:') && line.trim() !== 'data:')
  return events.length === 1 ? JSON.parse(events[0]!.slice('data:'.length)) : undefined
}

function findCallFault({ content }: Record<string, unknown>): string | undefined {
  return isDeepStrictEqual(content, [{ type: 'text', text: CALL_ARGUMENTS.text }])
    ? undefined
    : 'wrong content'
}

function findListFault(
  result: Record<string, unknown>,
  expected: readonly ExpectedTool[],
): string | undefined {
  if (result.nextCursor !== undefined) return 'the list is not complete'
  if (!Array.isArray(result.tools)) return 'no list of tools'
  const listed = result.tools.map(comparable)
  const wanted = expected.map(comparable)
  if (isDeepStrictEqual(listed, wanted)) return undefined
  const first = wanted.findIndex((tool, index) => !isDeepStrictEqual(tool, listed[index]))
  return `the list differs from what was expected, ${listed.length} for ${wanted.length} tools, at ${first}`
}

/** What peers must agree on. `$schema` and `additionalProperties` are a matter of taste: SDKs differ in them. */
function comparable(tool: unknown): unknown {
  if (!isRecord(tool) || !isRecord(tool.inputSchema)) return tool
  const { name, description, inputSchema } = tool
  const { type, properties, required } = inputSchema
  return { name, description, type, properties, required }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
