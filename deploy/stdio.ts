/**
 * `mayfly stdio`: serves an entry to one client over stdin and stdout, as desktop clients start their servers.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { divertConsole, startStdio } from '../adapters/_node/stdio.ts'
import type { MCPServer } from '../src/index.ts'
import { CliError } from './cli-error.ts'
import { oneEntry, parseCommandLine } from './command-line.ts'
import { findEntry, shown } from './entry.ts'
import { bundleOnce } from './node/bundle.ts'

const HELP = `mayfly stdio [entry]

  entry      the file whose default export is the server; default src/server.ts, server.ts or src/index.ts

Serves one client over stdin and stdout until it closes its end; everything else is on stderr. In a client's configuration:

  { "command": "/path/to/shop/node_modules/.bin/mayfly", "args": ["stdio", "/path/to/shop/server.ts"] }

Needs @modelcontextprotocol/server.
`

/** Runs until the client closes its end (exit code 0). Throws `CliError`. */
export async function stdio(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('stdio', args, { help: { type: 'boolean', short: 'h' } })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  const entry = findEntry(process.cwd(), oneEntry(positionals))
  const { file, dispose } = await bundleOnce(entry, projectOf(entry))
  // What a module prints when it is loaded would be the first message.
  divertConsole()
  try {
    const server = await load(file, entry)
    const running = await startStdio(server).catch((error: Error) => {
      throw new CliError(error.message)
    })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void running.close())
    await running.closed
    return 0
  } finally {
    dispose()
  }
}

/** Where the entry's packages are: a desktop client starts its servers in any folder. */
function projectOf(entry: string): string {
  let folder = dirname(entry)
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) return dirname(entry)
    folder = parent
  }
  return folder
}

async function load(file: string, entry: string): Promise<MCPServer> {
  const { default: server } = await import(pathToFileURL(file).href).catch((error: Error) => {
    throw new CliError(`${shown(entry)} cannot be loaded: ${error.message.split('\n')[0]}`)
  })
  if (typeof server?.getSessionParts !== 'function') {
    throw new CliError(
      `${shown(entry)} does not export an MCPServer: stdio serves no other; a server of an official SDK has a stdio transport of its own`,
    )
  }
  return server
}
