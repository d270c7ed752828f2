/**
 * The floor: parse, answer, nothing else. No validation, no schema, no protocol; the list is a constant string.
 * No server of this protocol can be faster in the same runtime, so budgets are stated against it. It brings no schema library into a
 * bundle.
 */
import type { Dialect } from '../requests.ts'
import type { EchoTool } from '../tools.ts'
import type { FetchHandler, Peer } from './peer.ts'

interface Message {
  readonly id: number
  readonly method: string
  readonly params: { readonly arguments: { readonly text: string } }
}

const JSON_HEADERS = { 'content-type': 'application/json' }
const INIT = { headers: JSON_HEADERS }

export function floor(dialect: Dialect): Peer {
  return { name: 'floor', dialect, serve }
}

function serve(tools: readonly EchoTool[]): FetchHandler {
  // A cold start does not pay for a list that nobody asked for.
  let list: string | undefined
  return serveList(() => {
    list ??= listOf(tools)
    return list
  })
}

/** In a bundle of its own, `list` is what `listOf` returned when it was bundled. */
export function serveList(list: () => string): FetchHandler {
  const answer = answerer(list)
  return async (request) => new Response(answer(await request.text()), INIT)
}

/** The same as a function on AWS Lambda behind a Function URL, whose responses are buffered. */
export function lambdaFloor(list: () => string): (event: { body: string }) => Promise<object> {
  const answer = answerer(list)
  return async ({ body }) => ({ statusCode: 200, headers: JSON_HEADERS, body: answer(body) })
}

/** The same with invoke mode RESPONSE_STREAM. */
export function streamingLambdaFloor(list: () => string): unknown {
  const answer = answerer(list)
  const { awslambda } = globalThis as unknown as { awslambda: AwsLambda }
  return awslambda.streamifyResponse(async ({ body }, stream) => {
    const out = awslambda.HttpResponseStream.from(stream, { statusCode: 200, headers: JSON_HEADERS })
    out.write(answer(body))
    out.end()
  })
}

/** The global of Lambda's Node runtimes. */
interface AwsLambda {
  streamifyResponse(handler: (event: { body: string }, stream: Writable) => Promise<void>): unknown
  readonly HttpResponseStream: { from(stream: Writable, head: object): Writable }
}

interface Writable {
  write(text: string): void
  end(): void
}

function answerer(list: () => string): (body: string) => string {
  return (body) => {
    const { id, method, params }: Message = JSON.parse(body)
    if (method === 'tools/list') return `{"jsonrpc":"2.0","id":${id},"result":${list()}}`
    const content = [{ type: 'text', text: params.arguments.text }]
    return JSON.stringify({ jsonrpc: '2.0', id, result: { content } })
  }
}

/** The result of a `tools/list`. */
export function listOf(tools: readonly EchoTool[]): string {
  return JSON.stringify({
    tools: tools.map((tool) => ({ ...tool, inputSchema: tool.inputSchema.toJSONSchema() })),
  })
}
