/** `mayfly add`: adds a server to a client's configuration, or prints the entry. */

import { basename, resolve } from 'node:path'
import { isA } from '../../src/definition/error-text.ts'
import { toLiteralUrl } from '../../src/http/connect-snippets.ts'
import {
  type AddedServer,
  type Addition,
  CLIENTS,
  type Client,
  type HeaderReference,
  type Scope,
  thisMachine,
} from '../add/clients.ts'
import { ChangedError, type ConfigFile, readConfig, replaceConfig } from '../add/config-file.ts'
import { type Format, isEntry, UnreadableError } from '../add/format.ts'
import { jsonFormat } from '../add/json-format.ts'
import { tomlFormat } from '../add/toml-format.ts'
import { isLocalHost } from '../check/addresses.ts'
import { deploymentName, manifestIn, packageName } from '../project/project.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { orMeant, parseCommand } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { parseHeaderVariable, parseServerUrl, parseVariable } from '../terminal/server-address.ts'
import { isSystemError, systemError } from '../terminal/system-error.ts'
import { terminal } from '../terminal/terminal.ts'

const NAMES = Object.keys(CLIENTS).join(', ')

const HELP: Help = {
  usage: [
    'mayfly add <url> --client <name>... [--name <name>] [--scope project|user] [--bearer-env <variable>]',
  ],
  options: [
    ['url', 'the MCP endpoint: https://example.com/mcp'],
    ['--client', `${NAMES}; several may be given`],
    [
      '--name',
      'what the client calls the server; default: from the host of the URL, or of package.json for a server of this machine',
    ],
    [
      '--scope',
      'project: the file in this folder; user: the one in your home folder; default: project where the client reads one (Codex: user)',
    ],
    ['--bearer-env', 'the environment variable that holds the token: sent as Authorization: Bearer …'],
    [
      '--header-env',
      'another header and its variable, as in --header-env X-Api-Key=SHOP_KEY; may be repeated',
    ],
    ['--print', 'print the entry, and do not read or write any file'],
    ['--dry-run', 'show what would be written'],
    ['--force', 'replace a server with the same name and another URL or other settings'],
  ],
  text: [
    'Changes nothing else in the file. Secrets are never written: the file names their variables, and VS Code prompts for them. If a file cannot be read, it is left unchanged; the entry is printed instead, with exit code 1.',
  ],
  examples: [
    'mayfly add https://shop.example.com/mcp --client cursor',
    'mayfly add https://shop.example.com/mcp --client vscode --bearer-env TOKEN',
  ],
  page: 'connect.md',
}

const MAX_TRIES = 100

const FORMATS: { readonly [name in Client['format']]: Format } = { json: jsonFormat, toml: tomlFormat }

interface Options {
  readonly server: AddedServer
  readonly scope: Scope | undefined
  readonly print: boolean
  readonly dryRun: boolean
  readonly force: boolean
}

/** Exit code 0, or 1 if the server could not be added to one of the clients. Throws `UsageError`. */
export async function add(args: string[]): Promise<number> {
  const line = parseCommand('add', HELP, args, {
    client: { type: 'string', multiple: true },
    name: { type: 'string' },
    scope: { type: 'string' },
    'bearer-env': { type: 'string' },
    'header-env': { type: 'string', multiple: true },
    print: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
    force: { type: 'boolean' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  const url = parseUrl(positionals)
  const options: Options = {
    server: {
      name: values.name === undefined ? nameOf(url) : parseName(values.name),
      url: url.href,
      headers: parseHeaders(values['bearer-env'], values['header-env'] ?? []),
    },
    scope: parseScope(values.scope),
    print: values.print === true,
    dryRun: values['dry-run'] === true,
    force: values.force === true,
  }
  const clients = parseClients(values.client ?? [])
  if (url.search !== '')
    terminal.note(
      'the query string of the URL is written to the file as is: if it contains a secret, do not share the file',
    )
  for (const client of clients) checkScope(client, options)
  return clients.map((client) => addTo(client, options)).includes(false) ? 1 : 0
}

/** Whether the client has the server now. Instructions for the user go to stdout. */
function addTo(client: Client, options: Options): boolean {
  const { server, print } = options
  const scope = options.scope ?? (Object.keys(client.files)[0] as Scope)
  const instead = client.instead?.(server, scope)
  if (instead !== undefined) {
    terminal.note(`${client.title} has its own way to add a server:`)
    process.stdout.write(`${printable(instead)}\n`)
    return true
  }
  const addition = client.addition(server)
  if (addition === undefined) {
    terminal.warn(
      `${client.title} cannot read a header from an environment variable: omit the headers if the server supports OAuth, otherwise see ${client.source}`,
    )
    return false
  }
  const path = client.files[scope]!(thisMachine())
  if (print) {
    terminal.note(`${client.title}: into ${path}`)
    printAddition(client, server, addition)
    return true
  }
  try {
    writeOrRetry(client, path, addition, options)
    return true
  } catch (error) {
    if (isA(error, CliError)) terminal.fail(error)
    else if (isA(error, UnreadableError)) terminal.warn(`${path} ${error.message}; this belongs there:`)
    else if (isSystemError(error))
      terminal.warn(`${systemError(`cannot write ${path}`, error).message}; this belongs there:`)
    else throw error
    if (!isA(error, CliError)) printAddition(client, server, addition)
    return false
  }
}

function printAddition(client: Client, { name }: AddedServer, addition: Addition): void {
  process.stdout.write(FORMATS[client.format].render(name, addition))
}

/** Others may change the file at the same time: each time, one of them has written. */
function writeOrRetry(client: Client, path: string, addition: Addition, options: Options): void {
  for (let tries = MAX_TRIES; ; tries--) {
    try {
      write(client, path, addition, options)
      return
    } catch (error) {
      if (!isA(error, ChangedError) || tries === 0) throw error
    }
  }
}

/** Throws `CliError` if the name is taken, `UnreadableError`, and system errors. */
function write(client: Client, path: string, addition: Addition, options: Options): void {
  const { server, dryRun, force } = options
  const { name } = server
  const format = FORMATS[client.format]
  const file: ConfigFile = readConfig(resolve(path))
  const present = file.text === undefined ? undefined : format.read(file.text, addition.key, name)
  if (present !== undefined && isKept(present, addition.entry, server)) {
    terminal.note(`${client.title}: ${path} already has "${name}"; nothing to do`)
    return
  }
  if (present !== undefined && !force) {
    const other = holdsUrl(present, server.url) ? 'with other settings' : 'for another server'
    throw new CliError(
      `${path} already has "${name}" ${other}: pass another --name, or --force to replace it`,
    )
  }
  const text =
    file.text === undefined ? format.render(name, addition) : format.write(file.text, name, addition)
  if (dryRun) {
    terminal.note(
      `${client.title}: would write ${path}, ${present === undefined ? 'with' : 'replacing'} "${name}":`,
    )
    printAddition(client, server, addition)
    return
  }
  replaceConfig(file, text)
  process.stdout.write(`${client.title}: wrote "${name}" into ${printable(path)}\n`)
  terminal.next(`restart ${client.title}, and ask it which tools "${name}" has`)
  for (const { variable } of client.format === 'json' && addition.inputs ? [] : server.headers) {
    terminal.note(`${client.title} reads ${variable} from its environment when it starts`)
  }
}

/** Whether it is the same entry, or has the same URL and more settings that the user added. With headers, it must be identical. */
function isKept(present: unknown, entry: object, { url, headers }: AddedServer): boolean {
  return isEntry(present, entry) || (headers.length === 0 && holdsUrl(present, url))
}

/** Clients name the URL's field differently, and a bridge has the URL in its arguments. */
function holdsUrl(present: unknown, wanted: string): boolean {
  const { url, serverUrl, httpUrl, args } = (present ?? {}) as { readonly [member: string]: unknown }
  return [url, serverUrl, httpUrl, args]
    .flat()
    .some(
      (value) => typeof value === 'string' && URL.canParse(value) && toLiteralUrl(new URL(value)) === wanted,
    )
}

function parseUrl(positionals: readonly string[]): URL {
  const hints = { more: ' --client cursor', secrets: '--bearer-env or --header-env' }
  const url = parseServerUrl('add', positionals, hints)
  if (/[${}]/.test(url.host))
    throw new UsageError('the host of the URL has "$", "{" or "}": clients would put a variable there')
  return new URL(toLiteralUrl(url))
}

function parseClients(given: readonly string[]): Client[] {
  const names = [...new Set(given.flatMap((one) => one.split(',')))]
  if (names.length === 0) throw new UsageError(`which client? pass --client with one of ${NAMES}`)
  return names.map((name) => {
    if (Object.hasOwn(CLIENTS, name)) return CLIENTS[name]!
    const remedy = orMeant(name, Object.keys(CLIENTS), `pass one of ${NAMES}`)
    throw new UsageError(`there is no client "${printable(name)}": ${remedy}`)
  })
}

function parseScope(text: string | undefined): Scope | undefined {
  if (text === undefined || text === 'project' || text === 'user') return text
  throw new UsageError(`"${printable(text)}" is not a scope: pass project or user`)
}

function checkScope({ title, files }: Client, { scope }: Options): void {
  if (scope !== undefined && files[scope] === undefined)
    throw new UsageError(`${title} has no file for --scope ${scope}: leave it out`)
}

function parseName(text: string): string {
  if (/^[a-z\d][\w-]{0,62}$/i.test(text)) return text
  throw new UsageError(
    `"${printable(text)}" cannot be the name of a server: pass letters, digits, - and _, 63 at most`,
  )
}

/** `https://shop.example.com/mcp` is called `shop`, `https://mcp.example.com` `example`, and one on this machine as the project here. */
function nameOf({ hostname }: URL): string {
  const cwd = process.cwd()
  if (isLocalHost(hostname) && !hostname.endsWith('.localhost') && manifestIn(cwd) !== undefined)
    // A client's list has no room for a scope.
    return deploymentName((packageName(cwd) ?? basename(cwd)).replace(/^@[^/]+\//, ''))
  const labels = hostname.split('.').filter((label) => !['www', 'mcp', 'api', ''].includes(label))
  const isName = !/^[\d.]+$|[[:]/.test(hostname)
  return (isName && labels[0]?.replace(/[^a-z\d-]/g, '').slice(0, 63)) || 'mcp-server'
}

function parseHeaders(bearer: string | undefined, others: readonly string[]): HeaderReference[] {
  const given = others.map((text): HeaderReference => ({ ...parseHeaderVariable(text), prefix: '' }))
  const all: HeaderReference[] =
    bearer === undefined
      ? given
      : [
          { header: 'Authorization', variable: parseVariable('--bearer-env', bearer), prefix: 'Bearer ' },
          ...given,
        ]
  const names = all.map(({ header }) => header.toLowerCase())
  if (new Set(names).size < names.length) throw new UsageError('a header is given twice')
  return all
}
