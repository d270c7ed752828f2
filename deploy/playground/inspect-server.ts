/** The server of `mayfly inspect`: the page, and a proxy to one MCP server that only the page can use. */
import { createServer } from 'node:http'
import { listenOn } from '../run/port.ts'
import { createEventReceivers } from './event-receiver.ts'
import { answerLocally, type LocalProcess, pathOf, refuse } from './local-process.ts'
import { PREFIX } from './page.ts'

export interface InspectOptions {
  readonly server: URL
  /** Headers for every message, in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The token from the page's URL. */
  readonly token: string
  /** 0 picks a free one. */
  readonly port: number
}

/** Listens on 127.0.0.1. Rejects with `CliError` if the port is in use. */
export async function startInspectServer(
  options: InspectOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { server, headers, token } = options
  const receivers = createEventReceivers()
  const local: LocalProcess = { path: `${PREFIX}mcp`, server, token, forwards: { headers }, receivers }
  // A tool may repeat large arguments in headers: the server says whether they are too large, Node would only close the connection.
  const listener = createServer({ maxHeaderSize: 256 * 1024 }, (request, response) => {
    if (pathOf(request) === '/') return refuse(response, 307, 'see below', { location: PREFIX })
    if (!pathOf(request).startsWith(PREFIX)) return refuse(response, 404, 'not found')
    answerLocally(request, response, local).catch(() => response.destroy())
  })
  const port = await listenOn(listener, options.port)
  return {
    // After the #, which browsers do not send.
    url: `http://127.0.0.1:${port}${PREFIX}#token=${token}`,
    close: async () => {
      const closed = new Promise((resolve) => listener.close(resolve))
      listener.closeAllConnections()
      await closed
    },
  }
}
