/**
 * The floor: parse, answer, nothing else. No validation, no schema, no protocol; the list is a constant string.
 * No server of this protocol can be faster in the same runtime, so budgets are stated against it.
 */
import * as z from 'zod'
import type { Dialect } from '../requests.ts'
import type { EchoTool } from '../tools.ts'
import type { FetchHandler, Peer } from './peer.ts'

interface Message {
  readonly id: number
  readonly method: string
  readonly params: { readonly arguments: { readonly text: string } }
}

const INIT = { headers: { 'content-type': 'application/json' } }

export function floor(dialect: Dialect): Peer {
  return { name: 'floor', dialect, serve }
}

function serve(tools: readonly EchoTool[]): FetchHandler {
  const list = JSON.stringify({
    tools: tools.map((tool) => ({ ...tool, inputSchema: z.toJSONSchema(tool.inputSchema) })),
  })
  return async (request) => {
    const { id, method, params }: Message = JSON.parse(await request.text())
    if (method === 'tools/list') return new Response(`{"jsonrpc":"2.0","id":${id},"result":${list}}`, INIT)
    const content = [{ type: 'text', text: params.arguments.text }]
    return new Response(JSON.stringify({ jsonrpc: '2.0', id, result: { content } }), INIT)
  }
}
