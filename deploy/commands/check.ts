/**
 * `mayfly check`: probes any MCP endpoint over HTTP and reports what works, degrades or is wrong; with `--as`, whether Claude, ChatGPT, VS
 * Code and Cursor would connect.
 */

import { isObject } from '../../src/definition/is-object.ts'
import type { ToolCall } from '../check/call-result.ts'
import { CLIENTS } from '../check/clients/all.ts'
import type { Profile } from '../check/clients/profile.ts'
import { countVerdicts, describeLock, renderJson, renderTable } from '../check/report.ts'
import { type CheckOptions, type Report, runProbes } from '../check/run.ts'
import { quote, toSafeText } from '../check/safe-text.ts'
import { createHide } from '../check/secrets.ts'
import { type Walk, walkAs } from '../check/walk/walk.ts'
import { renderWalks, renderWalksJson } from '../check/walk-report.ts'
import { UsageError } from '../terminal/cli-error.ts'
import { orMeant, parseCommand, parseMs } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { withProgress } from '../terminal/progress.ts'
import { CREDENTIALS, CREDENTIALS_HELP, parseServerUrl, readCredentials } from '../terminal/server-address.ts'
import { columns, isColoured } from '../terminal/styles.ts'
import { terminal } from '../terminal/terminal.ts'
import { namedVariable } from './_named-variable.ts'
import { howToAdd } from './_next.ts'

const HELP: Help = {
  usage: [
    "mayfly check <url> [--as <client>]... [--no-register] [--bearer-env <variable>] [--header 'Name: value']... [--json] [--timeout <ms>] [--deadline <ms>] [--origin <origin>] [--call <tool> [--arguments <json>]]",
  ],
  options: [
    ['url', 'the MCP endpoint: https://example.com/mcp'],
    [
      '--as',
      'connect as claude, chatgpt, vscode, cursor or all, and report where each would stop; may be repeated',
    ],
    ...CREDENTIALS_HELP,
    ['--json', 'print one JSON document instead of the table'],
    ['--timeout', 'milliseconds per request; default 10000'],
    ['--deadline', 'milliseconds for the whole check; default six times --timeout, at least 10000'],
    ['--origin', 'the origin of a web page, for the CORS check; default an invented one'],
    ['--call', 'call this tool and check its result; without it, no tool is called'],
    ['--arguments', 'its arguments, as JSON; default {}'],
    [
      '--no-register',
      'with --as: do not register at the authorization server, since registrations persist there',
    ],
  ],
  text: [
    'Calls no tool unless --call names one, and changes nothing, except for the registrations of --as. Each line is a claim and its verdict: works, degrades (clients work, but lose a feature), wrong (with what to do about it), hint (allowed, but some clients or models have problems with it), or skipped.',
    'Exit codes: 0 nothing is wrong, 1 something is wrong or a client would stop, 2 invalid command line, an unlisted tool for --call, or no answer at the URL. A client of --as whose steps could not all be tried "cannot be told".',
  ],
  examples: [
    'mayfly check https://example.com/mcp',
    'mayfly check https://example.com/mcp --bearer-env TOKEN --json',
    'mayfly check https://example.com/mcp --as all',
  ],
  page: 'check.md',
}

const DEFAULT_TIMEOUT_MS = 10_000
const MAX_TIMEOUT_MS = 600_000
const MAX_DEADLINE_MS = 3_600_000

/** Exit code 0, or 1 if anything is wrong. Throws `UsageError`, and `CliError` with exit code 2 if nothing answers. */
export async function check(args: string[]): Promise<number> {
  const line = parseCommand('check', HELP, args, {
    ...CREDENTIALS,
    json: { type: 'boolean' },
    timeout: { type: 'string' },
    deadline: { type: 'string' },
    origin: { type: 'string' },
    as: { type: 'string', multiple: true },
    call: { type: 'string' },
    arguments: { type: 'string' },
    'no-register': { type: 'boolean' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  if (values.json) terminal.hideProgress()
  const url = parseServerUrl('check', positionals)
  const { bearer, headers } = await readCredentials('check', values, namedVariable(url))
  const profiles = values.as === undefined ? undefined : parseClients(values.as)
  const call = parseCall(values.call, values.arguments)
  if (values['no-register'] && profiles === undefined)
    throw new UsageError('--no-register needs --as: without --as, nothing is registered')
  if (call !== undefined && profiles !== undefined)
    throw new UsageError('--call cannot be combined with --as: run the check twice')
  const options: CheckOptions = {
    url,
    bearer,
    headers,
    timeoutMs:
      values.timeout === undefined ? DEFAULT_TIMEOUT_MS : parseMs('timeout', values.timeout, MAX_TIMEOUT_MS),
    ...(values.deadline !== undefined && {
      deadlineMs: parseMs('deadline', values.deadline, MAX_DEADLINE_MS),
    }),
    origin: values.origin === undefined ? undefined : parseOrigin(values.origin),
    ...(call && { call }),
  }
  return profiles === undefined
    ? show(await runProbes(options), options, values.json)
    : walk(profiles, options, values.json, values['no-register'] !== true)
}

async function walk(
  profiles: readonly Profile[],
  options: CheckOptions,
  isJson: boolean | undefined,
  mayRegister: boolean,
): Promise<number> {
  const walked = await withProgress((show) => {
    show(`connecting to ${options.url.host} as ${profiles.map(({ id }) => id).join(', ')}`)
    return walkAs(profiles, { ...options, mayRegister })
  })
  if ('results' in walked) return show(walked, options, isJson)
  const url = named(options)
  const isStopped = walked.some(({ stopsAt }) => stopsAt !== undefined)
  if (isJson) process.stdout.write(renderWalksJson(walked, url))
  else
    process.stdout.write(
      `${renderWalks(walked, url, isColoured())}\nNext: ${afterWalk(walked, isStopped, url)}\n`,
    )
  return isStopped ? 1 : 0
}

function afterWalk(walked: readonly Walk[], isStopped: boolean, url: string): string {
  if (isStopped) return 'mend what is marked "wrong", then run this again'
  const isUntold = walked.some(({ wouldConnect }) => wouldConnect === undefined)
  return isUntold ? 'do what is marked "to try it"' : howToAdd(url)
}

function show(report: Report, options: CheckOptions, isJson: boolean | undefined): number {
  const url = named(options)
  const locked = describeLock(report)
  const { wrong } = countVerdicts(report)
  if (isJson) {
    process.stdout.write(renderJson(report, url))
    if (locked !== undefined) terminal.warn(locked)
  } else {
    process.stdout.write(renderTable(report, url, isColoured(), { width: columns() }))
    // A single result is that of no MCP server: it says what to do itself.
    if (report.results.length > 1)
      process.stdout.write(`\nNext: ${afterCheck(wrong > 0, locked !== undefined)}\n`)
  }
  return wrong > 0 ? 1 : 0
}

/** The command is not repeated: it may contain a secret. */
function afterCheck(isWrong: boolean, isLocked: boolean): string {
  if (isWrong) return 'mend what is marked "wrong", then run this again'
  if (isLocked) return 'run this again with a token, as in --bearer-env MCP_TOKEN'
  return 'run this again with --as all, which tells whether Claude, ChatGPT, VS Code and Cursor would connect'
}

/** Query values may be secrets. */
function named({ url }: CheckOptions): string {
  return `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`
}

function parseClients(texts: readonly string[]): readonly Profile[] {
  const known = CLIENTS.map(({ id }) => id)
  const unknown = texts.find((text) => text !== 'all' && !known.some((id) => id === text))
  if (unknown !== undefined)
    throw new UsageError(
      `${toQuoted(unknown)} is not a known client: ${orMeant(unknown, known, `pass ${known.join(', ')} or all`)}`,
    )
  return texts.includes('all') ? CLIENTS : CLIENTS.filter(({ id }) => texts.includes(id))
}

function parseCall(name: string | undefined, text: string | undefined): ToolCall | undefined {
  if (name === undefined) {
    if (text !== undefined) throw new UsageError('--arguments needs a tool: pass --call, too')
    return undefined
  }
  let value: unknown
  try {
    value = JSON.parse(text ?? '{}')
  } catch {
    value = undefined
  }
  if (!isObject(value)) throw new UsageError('--arguments are not a JSON object: pass \'{"name": "value"}\'')
  return { name, arguments: value }
}

function parseOrigin(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : 'null'
  if (origin === 'null')
    throw new UsageError(`${toQuoted(text)} is not an origin: pass https://app.example.com`)
  return origin
}

/** An argument from a script may contain terminal control characters. */
function toQuoted(text: string): string {
  return toSafeText(quote(text), createHide([]))
}
