/** What an app's answers tell its operator about a mistake. */

/** Whether an app has answered a client of MCP, which names its version in each request but the first. */
export function looksLikeMcp({ method, headers }: Request, response: Response): boolean {
  const type = response.headers.get('content-type') ?? ''
  return (
    method === 'POST' &&
    headers.has('mcp-protocol-version') &&
    response.ok &&
    /^(?:application\/json|text\/event-stream)\b/i.test(type)
  )
}

/** Whether an app has no MCP endpoint where it was asked: not what an SDK answers for a session that it does not know. */
export function isNoRoute({ status }: Response): boolean {
  return status === 404 || status === 405
}

export const NO_ENDPOINT = 'Internal error: the server did not answer.'

export function noEndpointAt(path: string, status: number): string {
  return `The app has no MCP endpoint at "mcpPath" (${path}): it answered POST with HTTP status ${status}, not with JSON-RPC. Set "mcpPath" to the path of its MCP route; as it is, "auth" and the guards protect nothing.`
}

export const KEEPS_SESSIONS =
  'The handler began an MCP session (Mcp-Session-Id), which it keeps in the memory of this process. fromNode does not pass sessions on, so the next request of the client will fail: serve without them, in SDK v1 with sessionIdGenerator: undefined.'

export type Mistake = 'path' | 'sessions'

/** Tells the operator of each mistake once. */
export class Told {
  readonly #told = new Set<Mistake>()

  once(what: Mistake, tell: () => void): void {
    if (this.#told.has(what)) return
    this.#told.add(what)
    tell()
  }
}
