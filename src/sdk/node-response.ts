/** A response of `fetch-to-node` that its reader may leave. */

/** What is used of its `ServerResponse`. */
interface NodeResponse {
  removeAllListeners(event: string): unknown
}

/**
 * The same response, with a body that can be cancelled. That of `fetch-to-node` (2.1.0) throws from a timer, where no code can catch
 * it, when a handler writes or ends after its reader has left; node:http ignores such writes.
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
    // What is written from now on would be kept in a body that is never read. The handler ends that one.
    cancel: () => void res.removeAllListeners('_dataWritten'),
  })
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}
