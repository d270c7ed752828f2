/**
 * The process that `mayfly stdio` runs a server in: `stdio-host.ts <file>`. stdout goes to stderr, for the server and the processes that it
 * starts; the client reads the fourth stream. Reports over IPC why it ended, unless the client ended it.
 */

import { createWriteStream, fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { serveStdio } from '../../adapters/_node/stdio.ts'
import { divertStdout } from '../../adapters/_node/stdout.ts'
import { memberOf, textOf } from '../../src/definition/error-text.ts'
import { isMCPServer, serverWithin } from '../../src/http/mounted.ts'
import type { MCPServer } from '../../src/index.ts'
import { exportRemedy } from '../project/entry-points.ts'
import { whatToWrite } from '../project/not-a-server.ts'
import { defaultOf } from './default-export.ts'

export type HostMessage =
  | { type: 'failed' | 'not-loaded'; reason: string }
  /** `found`: what is exported, if that is not a server of any kind. */
  | { type: 'no-server'; found?: string | undefined }

/** The stream of this process that goes to the client. */
const CLIENT = 3
/** Time limit for the last writes, in case the client stops reading. */
const FLUSH_MS = 1000

// The parent process has ended, and with it the connection to the client.
process.on('disconnect', () => process.exit(0))

const output = openOutput(CLIENT)
// stdout already goes to stderr. The server's code may end it, which would lose its output.
divertStdout()
const server = await load(process.argv[2] ?? '')
try {
  const running = await serveStdio(server, output)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void running.close())
  await running.closed
} catch (error) {
  await fail({ type: 'failed', reason: textOf(error) })
}
await end(0)

/** A pipe or a socket for clients, otherwise a file or a terminal. */
function openOutput(fd: number): Writable {
  const found = fstatSync(fd)
  const isStream = found.isFIFO() || found.isSocket()
  return isStream ? new Socket({ fd, readable: false, writable: true }) : createWriteStream('', { fd })
}

async function load(file: string): Promise<MCPServer> {
  const loaded = await import(pathToFileURL(file).href).catch((error: unknown) => {
    const [line = ''] = textOf(error).split('\n')
    return fail({ type: 'not-loaded', reason: line + exportRemedy(line) })
  })
  const exported = defaultOf(loaded)
  const server = serverWithin(exported)
  if (isMCPServer<MCPServer>(server)) return server
  const hasFetch = typeof memberOf(exported, 'fetch') === 'function'
  return fail({ type: 'no-server', found: hasFetch ? undefined : whatToWrite(exported) })
}

async function fail(message: HostMessage): Promise<never> {
  await new Promise((sent) => process.send?.(message, sent))
  return end(1)
}

async function end(code: number): Promise<never> {
  await new Promise((flushed) => {
    output.end(flushed)
    output.once('error', flushed)
    setTimeout(flushed, FLUSH_MS)
  })
  process.exit(code)
}
