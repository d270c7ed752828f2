/** A response of `fetch-to-node` whose reader may disconnect. */

/** The members of its `ServerResponse` that are used here. */
interface NodeResponse {
  removeAllListeners(event: string): unknown
}

/**
 * The same response, with a body that can be cancelled. The body of `fetch-to-node` (2.1.0) throws from a timer, where no code can
 * catch it, if a handler writes or ends after its reader disconnected; node:http ignores such writes.
 */
export function toCancellable(response: Response, res: NodeResponse): Response {
  const reader = response.body?.getReader()
  if (reader === undefined) return response
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    // Removed, so that later writes are not stored in a body that is never read. The handler still ends the response.
    cancel: () => void res.removeAllListeners('_dataWritten'),
  })
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}
