/**
 * stdio: the server runs under a desktop client, through the transport of the official SDK v2. Both eras.
 */
import type { Writable } from 'node:stream'
import type { MCPServer } from '../../src/index.ts'
import { errorMessage } from '../../src/protocol/json-rpc.ts'
import { loadStdio } from './packages.ts'
import { divertStdout } from './stdout.ts'
import { connect, type SdkTransport } from './transport.ts'

export interface StdioOptions {
  /** `ctx.env`. Default `process.env`. */
  env?: unknown
}

export interface StdioServer {
  /**
   * Resolves when the client has closed its end, or after `close`. Rejects when it sends a line of more than 10 MB (or of more than
   * `http.maxBodyBytes`, where that is larger): it is told so, and the connection ends. The server's error log has that, too.
   */
  readonly closed: Promise<void>
  /** Aborts what is running and lets go of stdin. */
  close(): Promise<void>
}

const MAX_LINE_BYTES = 10_000_000
/** More than a read of stdin brings: our limit is met first, and says what it is. */
const SLACK_BYTES = 1_000_000
const INVALID_REQUEST = -32600
const NEWLINE = 10

/**
 * Serves one client over stdin and stdout until it closes its end. stdout carries messages alone: what the server's own code
 * prints with `console` or writes to `process.stdout` goes to stderr meanwhile. What writes to the file descriptor itself, such as a
 * child process with `stdio: 'inherit'`, is not diverted; under `mayfly stdio` it is. Who runs the process is trusted: `auth` and
 * `http` have no meaning here but for `maxBodyBytes`.
 *
 * ```ts
 * const { closed } = await startStdio(server)
 * ```
 *
 * Needs `@modelcontextprotocol/server`.
 */
export async function startStdio(server: MCPServer, options: StdioOptions = {}): Promise<StdioServer> {
  const { output, restore } = divertStdout()
  try {
    const running = await serveStdio(server, output, options)
    running.closed.catch(server.getSessionParts().onFault).finally(restore)
    return running
  } catch (error) {
    restore()
    throw error
  }
}

/** The same with messages written to `output`, and with stdout as it is. */
export async function serveStdio(
  server: MCPServer,
  output: Writable,
  { env = process.env }: StdioOptions = {},
): Promise<StdioServer> {
  const { StdioServerTransport } = await loadStdio()
  const parts = server.getSessionParts()
  const maxBytes = Math.max(MAX_LINE_BYTES, parts.endpoint.maxBodyBytes)
  const { stdin } = process
  const transport: SdkTransport = new StdioServerTransport(stdin, output, {
    maxBufferSize: maxBytes + SLACK_BYTES,
  })
  const waitUntil = (promise: Promise<unknown>): void => void promise
  const session = connect(parts, transport, { env, waitUntil }, () => undefined)
  let tooLong: Error | undefined
  const count = lineCounter(maxBytes, () => {
    const message = `A line of more than ${maxBytes} bytes came in, which is no message: the connection ends.`
    tooLong = new Error(message)
    output.write(`${errorMessage(undefined, { code: INVALID_REQUEST, message })}\n`)
    void transport.close()
  })
  stdin.on('data', count)
  const closed = new Promise<void>((resolve, reject) => {
    transport.onclose = () => {
      stdin.off('data', count)
      // The transport has not done so while we listened.
      if (stdin.listenerCount('data') === 0) stdin.pause()
      session.close()
      if (tooLong === undefined) resolve()
      else reject(tooLong)
    }
  })
  await transport.start()
  return { closed, close: () => transport.close() }
}

/** Calls `onTooLong` once, when more than `maxBytes` come without the end of a line. */
function lineCounter(maxBytes: number, onTooLong: () => void): (chunk: Buffer) => void {
  let pending = 0
  return (chunk) => {
    const first = chunk.indexOf(NEWLINE)
    const isTooLong = pending + (first < 0 ? chunk.length : first) > maxBytes
    pending = first < 0 ? pending + chunk.length : chunk.length - chunk.lastIndexOf(NEWLINE) - 1
    if (!isTooLong) return
    pending = Number.NEGATIVE_INFINITY
    onTooLong()
  }
}
