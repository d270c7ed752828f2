/**
 * `mayfly dev`: serves an entry on this machine through one platform's own runtime.
 *
 * stdout carries exactly one line, `ready <url>`, once the server answers MCP; everything else is on stderr.
 */
import { parseArgs } from 'node:util'
import { connectSnippets } from '../src/http/connect-snippets.ts'
import { CliError } from './cli-error.ts'
import { findWranglerConfig } from './cloudflare/config.ts'
import { findEntry } from './entry.ts'
import { freePort } from './port.ts'
import type { RunningTarget, Target } from './target.ts'
import { targets } from './targets.ts'

const targetNames = [...targets.keys()].join(', ')

const HELP = `mayfly dev [entry] [--target <${targetNames}>] [--port <n>]

  entry      the file whose default export is the server; default src/server.ts, server.ts or src/index.ts
  --target   where to run it; default cloudflare beside a wrangler configuration, else node
  --port     default 8787 for cloudflare, 3000 for node; 0 picks a free one

Prints "ready <url>" on stdout once the server answers, and everything else on stderr.
`

/** Runs until a signal ends it (exit code 0) or the server stops by itself. Throws `CliError`. */
export async function dev(args: string[]): Promise<number> {
  const { values, positionals } = parse(args)
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  if (positionals.length > 1) throw new CliError(`one entry at a time: got ${positionals.join(', ')}`)
  const cwd = process.cwd()
  const target = findTarget(values.target ?? (findWranglerConfig(cwd) ? 'cloudflare' : 'node'))
  const wantedPort = values.port === undefined ? target.defaultPort : parsePort(values.port)
  const entry = findEntry(cwd, positionals[0])
  const port = await freePort(wantedPort)

  const interrupted = interruption()
  const running = await target.start({ entry, cwd, port })
  try {
    return await Promise.race([interrupted, serveUntilExit(running, `http://127.0.0.1:${port}`)])
  } finally {
    await running.stop()
  }
}

async function serveUntilExit(running: RunningTarget, origin: string): Promise<number> {
  const { name } = await running.ready
  const url = `${origin}/mcp`
  process.stdout.write(`ready ${url}\n`)
  process.stderr.write(howToConnect(name, url, `${origin}/`))
  throw new CliError(`the server stopped with exit code ${await running.exited}: see its output above`)
}

/**
 * Resolves with the exit code 0 at the first signal, or when whoever read the output has gone. Later signals are ignored:
 * stopping is bounded in time.
 */
function interruption(): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve(0))
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => resolve(0))
  })
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        target: { type: 'string' },
        port: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    // parseArgs explains in its first sentence which option is wrong.
    const [reason] = (error as Error).message.split(/[.\n]/)
    throw new CliError(`${reason}: see mayfly dev --help`)
  }
}

function findTarget(name: string): Target {
  const target = targets.get(name)
  if (!target) throw new CliError(`there is no target "${name}": pass one of ${targetNames}`)
  return target
}

function parsePort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65535)) throw new CliError(`"${text}" is not a port: pass a number from 0 to 65535`)
  return port
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
