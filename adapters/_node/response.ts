/**
 * Responses around a session's transport.
 */
import { errorMessage } from '../../src/protocol/json-rpc.ts'

/** The transport's response with the server's own headers; `onEnd` is called once, when it was read or its reader has gone. */
export function answered(
  response: Response,
  headers: { readonly [name: string]: string },
  onEnd: () => void,
): Response {
  const all = new Headers(response.headers)
  for (const [name, value] of Object.entries(headers)) if (name !== 'cache-control') all.set(name, value)
  const init = { status: response.status, headers: all }
  const reader = response.body?.getReader()
  if (reader === undefined) {
    onEnd()
    return new Response(null, init)
  }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        controller.close()
      } catch (error) {
        controller.error(error)
      }
      onEnd()
    },
    cancel(reason) {
      onEnd()
      return reader.cancel(reason)
    },
  })
  return new Response(body, init)
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
    headers: { ...headers, 'content-type': 'application/json' },
  })
}
