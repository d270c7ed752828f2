/**
 * Responses of a session's transport.
 */
import { SECURITY_HEADERS } from '../../src/http/admission.ts'
import { createBoundedBody } from '../../src/protocol/bounded-body.ts'
import { errorMessage } from '../../src/protocol/json-rpc.ts'
import { isEventStream } from '../../src/protocol/read-events.ts'

export interface AnsweredOptions {
  /** The server's own headers. */
  readonly headers: { readonly [name: string]: string }
  /** Whether the stream starts with the events that its client missed. These are buffered before anything is read. */
  readonly isReplayed: boolean
  /** Ends a stream at its latest time; returns a function that cancels this. Default: no limit. */
  readonly watchEnd?: (end: () => void) => () => void
  /** Called once, when the transport has ended the response or its reader has disconnected. */
  readonly onEnd: () => void
}

/**
 * The transport's response with the server's own headers, except for `Cache-Control` of a stream. A stream with too many unread bytes is
 * closed.
 */
export function answered(response: Response, options: AnsweredOptions): Response {
  const { headers, onEnd } = options
  const all = new Headers(response.headers)
  // The transport's: a connection is the listener's, and HTTP/2 refuses the header (RFC 9113 §8.2.2).
  all.delete('connection')
  for (const [name, value] of Object.entries(headers)) {
    if (name !== 'cache-control' || !all.has(name)) all.set(name, value)
  }
  const init = { status: response.status, headers: all }
  if (response.body !== null && isEventStream(response)) {
    return new Response(bounded(response.body, options), init)
  }
  onEnd()
  return new Response(response.body, init)
}

/** The same stream, read as fast as it arrives: the transport itself would buffer unread bytes without a limit. */
function bounded(
  source: ReadableStream<Uint8Array>,
  { isReplayed, watchEnd, onEnd }: AnsweredOptions,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  const { body, write, end } = createBoundedBody((reason) => void reader.cancel(reason).catch(() => {}))
  const stopWatching = watchEnd?.(() => void reader.cancel().catch(() => {}))
  const pump = async (): Promise<void> => {
    let force = isReplayed
    // By then, the replayed events were read.
    setTimeout(() => {
      force = false
    })
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        write(value, { force })
      }
    } finally {
      stopWatching?.()
      end()
      onEnd()
    }
  }
  void pump().catch(() => {})
  return body
}

/** Removes `"id": null` from a refusal of the transport: MCP does not allow it. */
export async function withoutNullId(refused: Response): Promise<Response> {
  if (!refused.headers.get('content-type')?.startsWith('application/json')) return refused
  const { id, ...message } = (await refused.json()) as { id?: unknown }
  return new Response(JSON.stringify({ ...message, ...(id !== null && { id }) }), refused)
}

export const SESSION_NOT_FOUND = -32001
export const SERVER_BUSY = -32603
export const INVALID_REQUEST = -32600

/** A JSON-RPC error without an id. */
export function refuse(
  status: number,
  code: number,
  message: string,
  headers: { readonly [name: string]: string },
): Response {
  return new Response(errorMessage(undefined, { code, message }), {
    status,
    headers: { ...SECURITY_HEADERS, ...headers, 'content-type': 'application/json' },
  })
}
