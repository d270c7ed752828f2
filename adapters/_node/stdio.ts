/**
 * stdio: the server runs under a desktop client. Both eras.
 */
import type { Writable } from 'node:stream'
import type { MCPServer } from '../../src/index.ts'
import { errorMessage } from '../../src/protocol/json-rpc.ts'
import { createSession } from '../../src/protocol/session.ts'
import { readLines } from './lines.ts'
import { divertStdout } from './stdout.ts'

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
const INVALID_REQUEST = -32600

/**
 * Serves one client over stdin and stdout until it closes its end. stdout carries messages alone: what the server's own code
 * prints with `console` or writes to `process.stdout` goes to stderr meanwhile. What writes to the file descriptor itself, such as a
 * child process with `stdio: 'inherit'`, is not diverted; under `mayfly stdio` it is. Who runs the process is trusted: `auth` and
 * `http` have no meaning here but for `maxBodyBytes`.
 *
 * ```ts
 * const { closed } = await startStdio(server)
 * ```
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
  const parts = server.getSessionParts()
  const maxBytes = Math.max(MAX_LINE_BYTES, parts.endpoint.maxBodyBytes)
  const waitUntil = (promise: Promise<unknown>): void => void promise
  const session = createSession(parts, {
    platform: { env, waitUntil },
    // Waits until it is written. If that fails, it is no fault of the server: the client has gone.
    send: (message) =>
      new Promise<void>((resolve) => {
        output.write(`${JSON.stringify(message)}\n`, () => resolve())
      }),
  })
  let end = (_error?: Error): void => {}
  const closed = new Promise<void>((resolve, reject) => {
    end = (error) => {
      stop()
      session.close()
      if (error === undefined) resolve()
      else reject(error)
    }
  })
  const stop = readLines(process.stdin, {
    maxBytes,
    onLine: (line) => {
      if (line.trim() !== '') void session.receiveText(line)
    },
    onTooLong: () => {
      const message = `A line of more than ${maxBytes} bytes arrived, which is over the limit: the connection is closed.`
      output.write(`${errorMessage(undefined, { code: INVALID_REQUEST, message })}\n`)
      end(new Error(message))
    },
    onEnd: () => end(),
  })
  // Stays, as what is written last may fail when everything is over.
  output.on('error', () => end())
  return { closed, close: async () => end() }
}
