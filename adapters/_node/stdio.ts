/**
 * stdio: serves the client that started the process, such as a desktop application. Both eras.
 */

import type { Writable } from 'node:stream'
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import { isMCPServer } from '../../src/http/mounted.ts'
import type { MCPServer } from '../../src/index.ts'
import { errorMessage } from '../../src/protocol/json-rpc.ts'
import { createSession } from '../../src/protocol/session.ts'
import { readLines } from './lines.ts'
import { divertStdout } from './stdout.ts'

/** Options of `startStdio`. */
export interface StdioOptions {
  /** The environment for `ctx.env`. Default `process.env`. */
  env?: unknown
}

const OPTIONS: Names<StdioOptions> = { env: 1 }

/** A running stdio server. */
export interface StdioServer {
  /**
   * Resolves when the client closes its end, or after `close`. Rejects if the client sends a line of more than 10 MB (or of more
   * than `http.maxBodyBytes`, if that is larger): the client gets an error, the connection ends, and the error is logged.
   */
  readonly closed: Promise<void>
  /** Aborts running calls and stops reading stdin. */
  close(): Promise<void>
}

const MAX_LINE_BYTES = 10_000_000
const INVALID_REQUEST = -32600

/**
 * Serves one client over stdin and stdout until the client closes its end. stdout carries only messages: output of the server's own code by
 * `console` or `process.stdout` goes to stderr. Writes to the file descriptor itself, such as by a child process with `stdio: 'inherit'`,
 * are diverted only under `mayfly stdio`. The user who runs the process is trusted: `auth` and `http` are ignored, except for
 * `maxBodyBytes`.
 *
 * ```ts
 * const { closed } = await startStdio(server)
 * ```
 */
export async function startStdio(server: MCPServer, options: StdioOptions = {}): Promise<StdioServer> {
  if (!isMCPServer<MCPServer>(server)) throw new TypeError('startStdio needs an MCPServer.')
  refuseUnknown('startStdio', options, OPTIONS)
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

/** The same with messages written to `output`; does not divert stdout. */
export async function serveStdio(
  server: MCPServer,
  output: Writable,
  { env = process.env }: StdioOptions = {},
): Promise<StdioServer> {
  const parts = server.getSessionParts()
  const maxBytes = Math.max(MAX_LINE_BYTES, parts.endpoint.maxBodyBytes)
  const waitUntil = (promise: Promise<unknown>): void => void promise
  const session = createSession(parts, {
    platform: { env, waitUntil, isLongLived: true },
    // Resolves when it is written. A failure is not a server error: the client has disconnected.
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
      const message = `A line exceeded the limit of ${maxBytes} bytes: the connection is closed.`
      output.write(`${errorMessage(undefined, { code: INVALID_REQUEST, message })}\n`)
      end(new Error(message))
    },
    onEnd: () => end(),
  })
  // Never removed, since the last write may still fail after the end.
  output.on('error', () => end())
  return { closed, close: async () => end() }
}
