/** Requests by hand, for what the official clients would never send or never show. */
import { LEGACY, MODERN } from './clients.ts'

export const BOTH_TYPES = 'application/json, text/event-stream'

/** A request of 2026-07-28, complete; `headers` and `meta` replace or add. */
export function modernRequest(
  url: URL,
  method: string,
  params: Record<string, unknown> = {},
  { headers = {}, meta = {} }: { headers?: Record<string, string>; meta?: Record<string, unknown> } = {},
): Request {
  const name = params.name ?? params.uri
  return new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: BOTH_TYPES,
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': MODERN,
          'io.modelcontextprotocol/clientCapabilities': {},
          ...meta,
        },
      },
    }),
  })
}

/** A request of 2025-11-25, as after `initialize`. */
export function legacyRequest(url: URL, method: string, params: Record<string, unknown> = {}): Request {
  return new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: BOTH_TYPES, 'mcp-protocol-version': LEGACY },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
}

export interface Message {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { code: number; message: string; data?: unknown }
}

/** One block of an SSE stream: a comment, or a message. */
export interface StreamBlock {
  atMs: number
  comment?: string
  message?: Message
}

/** The blocks of an SSE response as they arrive. */
export async function* readStream(response: Response): AsyncGenerator<StreamBlock> {
  let held = ''
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    held += text
    const blocks = held.split('\n\n')
    held = blocks.pop()!
    for (const block of blocks) yield { atMs: performance.now(), ...parseBlock(block) }
  }
}

/** All of them, once the stream has ended. */
export async function readWholeStream(response: Response): Promise<StreamBlock[]> {
  const blocks: StreamBlock[] = []
  for await (const block of readStream(response)) blocks.push(block)
  return blocks
}

function parseBlock(block: string): { comment: string } | { message: Message } {
  if (block.startsWith(':')) return { comment: block.slice(1).trim() }
  const data = block.split('\n').find((line) => line.startsWith('data: '))
  return { message: JSON.parse(data!.slice('data: '.length)) as Message }
}
