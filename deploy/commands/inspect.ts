/** `mayfly inspect`: the playground of `mayfly dev` for any MCP server. A local process forwards the messages. */

import { randomBytes } from 'node:crypto'
import { whyNothingAnswers } from '../check/contact.ts'
import { Wire } from '../check/wire.ts'
import { startInspectServer } from '../playground/inspect-server.ts'
import { onInterrupt } from '../run/ending.ts'
import { openInBrowser } from '../run/open-browser.ts'
import { parseCommand, parsePort } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { CREDENTIALS, CREDENTIALS_HELP, parseServerUrl, readCredentials } from '../terminal/server-address.ts'
import { terminal } from '../terminal/terminal.ts'
import { namedVariable } from './_named-variable.ts'

const HELP: Help = {
  usage: ["mayfly inspect <url> [--bearer-env <variable>] [--header 'Name: value']... [--port <n>] [--open]"],
  options: [
    ['url', 'the MCP endpoint: https://example.com/mcp'],
    ...CREDENTIALS_HELP,
    ['--port', 'port of the page on 127.0.0.1; default a free one'],
    ['--open', 'on a terminal, open the page in the browser'],
  ],
  text: [
    "Prints the page's URL on stdout. There you choose a tool, fill in its form, call it, and see the messages. The URL contains a token, so that no other page or program can use the server through this process.",
  ],
  examples: ['mayfly inspect https://example.com/mcp --open'],
  page: 'playground.md',
}

const TIMEOUT_MS = 10_000

/** Runs until a signal ends it (exit code 0). Throws `UsageError`, and `CliError` if the port is in use. */
export async function inspect(args: string[]): Promise<number> {
  const line = parseCommand('inspect', HELP, args, {
    ...CREDENTIALS,
    port: { type: 'string' },
    open: { type: 'boolean' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  const server = parseServerUrl('inspect', positionals)
  const { bearer, headers } = await readCredentials('inspect', values, namedVariable(server))
  if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`
  const port = values.port === undefined ? 0 : parsePort(values.port)
  const interrupted = new Promise<number>((resolve) => onInterrupt(() => resolve(0)))
  const token = randomBytes(32).toString('base64url')
  const running = await startInspectServer({ server, headers, token, port })
  try {
    process.stdout.write(`ready ${running.url}\n`)
    terminal.note(`inspecting ${server.origin}${server.pathname}; press Ctrl+C to stop`)
    if (values.open) openInBrowser(running.url)
    // Not awaited: the page works without it, and the server may still be starting.
    void warnIfSilent(server, headers)
    return await interrupted
  } finally {
    await running.close()
  }
}

/** Sends one request, so that a wrong URL is reported in the terminal. */
async function warnIfSilent(url: URL, headers: Readonly<Record<string, string>>): Promise<void> {
  const wire = new Wire({
    url,
    bearer: undefined,
    headers,
    timeoutMs: TIMEOUT_MS,
    deadlineMs: 2 * TIMEOUT_MS,
  })
  const why = await whyNothingAnswers(wire)
  if (why !== undefined) terminal.warn(why)
}
