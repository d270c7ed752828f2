/**
 * `mayfly dev`: serves an entry on this machine through one platform's own runtime.
 *
 * stdout carries exactly one line, `ready <url>`, once the server answers MCP; everything else is on stderr.
 */
import { connectSnippets } from '../src/http/connect-snippets.ts'
import { chooseProject } from './chosen.ts'
import { CliError } from './cli-error.ts'
import { parseCommand, parsePath, parsePort } from './command-line.ts'
import { refuseFaulty } from './doctor/load.ts'
import { onInterrupt } from './ending.ts'
import { loadEnvFiles } from './env-files.ts'
import { freePort } from './port.ts'
import type { RunningTarget } from './target.ts'
import { targetNames } from './targets.ts'

const HELP = `mayfly dev [entry] [--target <name>] [--port <n>] [--path <path>]

  entry      the file whose default export is the server; default src/server.ts, server.ts or src/index.ts
  --target   ${targetNames}; default: what package.json says, or the platform's own files
  --port     default 8787 for cloudflare, 3000 for most others; 0 picks a free one
  --path     where the entry answers MCP; default /mcp

Runs on the platform's own runtime and reloads on change. Prints "ready <url>" on stdout once the server answers, and
everything else on stderr.

  mayfly dev
  mayfly dev src/server.ts --target deno --port 0
`

/** Runs until a signal ends it (exit code 0) or the server stops by itself. Throws `CliError`. */
export async function dev(args: string[]): Promise<number> {
  const line = parseCommand('dev', HELP, args, {
    target: { type: 'string' },
    port: { type: 'string' },
    path: { type: 'string' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  const wantedPort = values.port === undefined ? undefined : parsePort(values.port)
  const path = values.path === undefined ? undefined : parsePath(values.path)
  const { project, target } = chooseProject(positionals, values.target)
  const { entry, cwd } = project
  const port = await freePort(wantedPort ?? target.defaultPort)
  loadEnvFiles(project)
  const start = async (): Promise<RunningTarget> => {
    await refuseFaulty(project)
    return target.start({ entry, cwd, port, path })
  }
  return serveUntilInterrupted(start, port)
}

/** Prints the ready line, and stops at the first signal or when what read the output has gone (exit code 0). Throws `CliError` when the server stops by itself. */
export async function serveUntilInterrupted(
  start: () => RunningTarget | Promise<RunningTarget>,
  port: number,
): Promise<number> {
  // From before anything is started: whatever is, is stopped. Later signals are ignored: stopping is bounded in time.
  const interrupted = new Promise<number>((resolve) => onInterrupt(() => resolve(0)))
  const running = await start()
  try {
    return await Promise.race([interrupted, serveUntilExit(running, `http://127.0.0.1:${port}`)])
  } finally {
    await running.stop()
  }
}

async function serveUntilExit(running: RunningTarget, origin: string): Promise<number> {
  const { name } = await running.ready
  const url = origin + (running.path ?? '/mcp')
  process.stdout.write(`ready ${url}\n`)
  process.stderr.write(howToConnect(name, url, url.replace(/mcp$/, '')))
  throw new CliError(`the server stopped with exit code ${await running.exited}: see its output above`)
}

function howToConnect(name: string, url: string, page: string): string {
  const snippets = connectSnippets(name, url)
  const code = (client: string): string => {
    const snippet = snippets.find((candidate) => candidate.client === client)
    return snippet?.blocks[0]?.code ?? ''
  }
  return `
  URL          ${url}
  Page         ${page}
  Claude Code  ${code('Claude Code')}
  Others       ${code('Other clients').replaceAll('\n', '\n               ')}

`
}
