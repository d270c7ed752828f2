/** `mayfly stdio`: serves an entry to one client over stdin and stdout, for desktop clients. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { displayPath, findEntry, noFetch } from '../project/entry.ts'
import { loadEnvFiles } from '../project/env-files.ts'
import { ownModule } from '../project/own-module.ts'
import { isOwnFolder } from '../project/owner.ts'
import { afterDeath, atExit, onInterrupt } from '../run/ending.ts'
import type { HostMessage } from '../run/stdio-host.ts'
import { bundleOnce } from '../targets/node/bundle.ts'
import { CliError } from '../terminal/cli-error.ts'
import { oneEntry, parseCommand } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'

const HOST = ownModule('deploy/run/stdio-host')

const HELP: Help = {
  usage: ['mayfly stdio [entry]'],
  options: [
    [
      'entry',
      'the file whose default export is the server; default src/server.ts, server.ts or src/index.ts',
    ],
  ],
  text: [
    "Serves one client over stdin and stdout until it closes the connection; everything else goes to stderr. In a client's configuration:",
    '  { "command": "/path/to/shop/node_modules/.bin/mayfly",\n    "args": ["stdio", "/path/to/shop/server.ts"] }',
  ],
  examples: ['mayfly stdio src/server.ts'],
  page: 'connect.md',
}

/** A server that blocks the event loop does not handle signals. Shorter than clients wait before they kill this process. */
const GRACE_MS = 1500

/** The same after this process was killed, for a server that blocks the event loop; `$1` is its process. */
const KILL = 'sleep 2; kill -s KILL -- "$1"'

/** Runs until the client closes the connection (exit code 0). Throws `CliError`. */
export async function stdio(args: string[]): Promise<number> {
  const line = parseCommand('stdio', HELP, args, {})
  if (line === undefined) return 0
  const entry = findEntry(process.cwd(), oneEntry(line.positionals))
  const cwd = projectOf(entry)
  loadEnvFiles({ cwd, entry })
  const { file, dispose } = await bundleOnce(entry, cwd)
  try {
    return await serve(file, entry)
  } finally {
    dispose()
  }
}

/** In a separate process whose stdout is our stderr: the client sees only messages, whatever the server prints or starts. */
async function serve(file: string, entry: string): Promise<number> {
  const child = spawn(process.execPath, ['--enable-source-maps', HOST, file], {
    stdio: ['inherit', 2, 2, 1, 'ipc'],
  })
  const forgetExit = atExit(() => void child.kill('SIGKILL'))
  const forgetDeath = child.pid === undefined ? () => {} : afterDeath(KILL, [String(child.pid)])
  let insisting: NodeJS.Timeout | undefined
  const restore = onInterrupt((signal) => {
    insisting ??= setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
    child.kill(signal === 'SIGPIPE' ? 'SIGTERM' : signal)
  })
  let said: HostMessage | undefined
  // The server's own code may send IPC messages, too.
  child.on('message', (message) => {
    if (isHostMessage(message)) said = message
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  // Messages that it sent before it exited may still arrive.
  if (child.connected) await once(child, 'disconnect')
  restore()
  forgetExit()
  forgetDeath()
  clearTimeout(insisting)
  if (said !== undefined) throw complaint(said, entry)
  if (code === 0 || insisting !== undefined) return 0
  throw new CliError(
    `${displayPath(entry)} ended its process with exit code ${code ?? 1}: see its output above`,
  )
}

function isHostMessage(message: unknown): message is HostMessage {
  const { type } = (message ?? {}) as { type?: unknown }
  return type === 'failed' || type === 'not-loaded' || type === 'no-server'
}

function complaint(message: HostMessage, entry: string): CliError {
  if (message.type === 'no-server') return noServer(entry, message.found)
  if (message.type === 'failed') return new CliError(message.reason)
  return new CliError(`${displayPath(entry)} cannot be loaded: ${message.reason}`)
}

function noServer(entry: string, found: string | undefined): CliError {
  if (found !== undefined) return noFetch(entry, found)
  return new CliError(
    `${displayPath(entry)} does not export an MCPServer, which stdio requires: pass the module that does, or for a server of the official SDK use the SDK's stdio transport`,
  )
}

/** The folder of the entry's packages: a desktop client may start servers in any folder. */
function projectOf(entry: string): string {
  const start = dirname(entry)
  for (let folder = start; isOwnFolder(folder, start); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder
    if (dirname(folder) === folder) break
  }
  return start
}
