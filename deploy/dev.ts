/**
 * `mayfly dev`: serves an entry on this machine through one platform's own runtime.
 *
 * stdout carries exactly one line, `ready <url>`, once the server answers MCP; everything else is on stderr.
 */
import { connectSnippets } from '../src/http/connect-snippets.ts'
import { CliError } from './cli-error.ts'
import { oneEntry, parseCommandLine, parsePort } from './command-line.ts'
import { onInterrupt } from './ending.ts'
import { findEntry } from './entry.ts'
import { freePort } from './port.ts'
import type { RunningTarget } from './target.ts'
import { defaultTarget, findTarget, targetNames } from './targets.ts'

const HELP = `mayfly dev [entry] [--target <name>] [--port <n>]

  entry      the file whose default export is the server; default src/server.ts, server.ts or src/index.ts
  --target   ${targetNames}; default cloudflare beside a wrangler configuration, else node
  --port     default 8787 for cloudflare, 3000 for most others; 0 picks a free one

Runs on the platform's own runtime and reloads on change. Prints "ready <url>" on stdout once the server answers, and
everything else on stderr.

  mayfly dev
  mayfly dev src/server.ts --target deno --port 0
`

/** Runs until a signal ends it (exit code 0) or the server stops by itself. Throws `CliError`. */
export async function dev(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dev', args, {
    target: { type: 'string' },
    port: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  const given = oneEntry(positionals)
  const cwd = process.cwd()
  const target = findTarget(values.target ?? defaultTarget(cwd))
  const wantedPort = values.port === undefined ? target.defaultPort : parsePort(values.port)
  const entry = findEntry(cwd, given)
  const port = await freePort(wantedPort)
  return serveUntilInterrupted(() => target.start({ entry, cwd, port }), port)
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
