/** `mayfly registry`: writes and validates the `server.json` that publishes a server in the MCP registry. */

import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isA, memberOf, textOf } from '../../src/definition/error-text.ts'
import { isObject } from '../../src/definition/is-object.ts'
import { ErrorCode } from '../../src/definition/protocol-error.ts'
import { parseJson } from '../../src/protocol/json-rpc.ts'
import { readConfig, replaceConfig } from '../add/config-file.ts'
import { UnreadableError } from '../add/format.ts'
import { describeServer, faultOf } from '../doctor/load.ts'
import { manifestIn, projectFolders, readProject } from '../project/project.ts'
import { type Given, type Made, makeServerJson } from '../registry/server-json.ts'
import { problemsOf } from '../registry/validate.ts'
import { CliError, printable, printableLines, UsageError } from '../terminal/cli-error.ts'
import { oneEntry, parseCommand } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { terminal } from '../terminal/terminal.ts'

const HELP: Help = {
  usage: ['mayfly registry [entry] --url <endpoint> [--name <name>] [--out <file>]'],
  options: [
    [
      'entry',
      'the file whose default export is the server; default src/server.ts, server.ts or src/index.ts',
    ],
    ['--url', 'the deployed MCP endpoint: https://shop.example.com/mcp'],
    [
      '--name',
      "the name in the registry, io.github.user/shop; default: mcpName of package.json, the name already in the file, the repository's owner, else the host of the URL",
    ],
    ['--description', "100 characters at most; default: the server's"],
    ['--header', 'a header in which clients must send a secret, such as X-Api-Key; may be repeated'],
    ['--out', 'default server.json'],
    ['--print', 'print it, and write nothing'],
    ['--check', 'write nothing: exit code 1 if the file is missing, invalid, or differs from the server'],
    ['--validate', 'only validate the file, of any server; needs no entry'],
  ],
  text: [
    "Writes the format of 2025-12-11. Keeps what only the file has, such as packages and _meta. If the registry would refuse the file, says why and writes nothing. Publish the file with the registry's own CLI, mcp-publisher.",
  ],
  examples: [
    'mayfly registry --url https://shop.example.com/mcp',
    'mayfly registry --check --url https://shop.example.com/mcp',
  ],
  page: 'registry.md',
}

/** Deeper than any real file; what reads it is recursive. */
const LIMITS = { maxDepth: 64, maxMembers: 100_000, maxStringCharacters: 1_000_000 }
const MAX_PROBLEMS = 50

interface Earlier {
  readonly [member: string]: unknown
}

/** Exit code 0, or 1 if the registry would refuse the file. Throws `CliError`. */
export async function registry(args: string[]): Promise<number> {
  try {
    return await run(args)
  } catch (error) {
    throw isA(error, UnreadableError) ? new CliError(`server.json ${error.message}`) : error
  }
}

async function run(args: string[]): Promise<number> {
  const line = parseCommand('registry', HELP, args, {
    url: { type: 'string' },
    name: { type: 'string' },
    description: { type: 'string' },
    header: { type: 'string', multiple: true },
    out: { type: 'string' },
    print: { type: 'boolean' },
    check: { type: 'boolean' },
    validate: { type: 'boolean' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  const out = values.out ?? 'server.json'
  if (values.validate) return validateFile(out)
  const given: Given = {
    url: values.url === undefined ? undefined : parseUrl(values.url),
    name: values.name,
    description: values.description,
    headers: (values.header ?? []).map(parseHeader),
  }
  const file = readConfig(resolve(out))
  const earlier = file.text === undefined ? undefined : parseDocument(out, file.text)
  const { document, notes } = await make(oneEntry(positionals), given, earlier)
  for (const note of notes) terminal.note(note)
  if (!(await isValid(document))) return 1
  const text = `${JSON.stringify(document, null, 2)}\n`
  if (values.print) process.stdout.write(printableLines(text))
  else if (values.check) return isCurrent(out, earlier, document) ? 0 : 1
  else {
    replaceConfig(file, text)
    process.stdout.write(
      `wrote ${printable(out)}: ${printable(String(document.name))} ${printable(String(document.version))}\n`,
    )
    terminal.next(PUBLISH)
  }
  return 0
}

async function make(entry: string | undefined, given: Given, earlier: Earlier | undefined): Promise<Made> {
  const project = readProject(process.cwd(), entry)
  const { identity, fault } = await describeServer(project)
  if (fault !== undefined) throw faultOf(project, fault)
  if (identity === undefined) {
    throw new CliError(
      'the entry exports neither an MCPServer nor an app with mcp(server): name the module that does, or write server.json by hand, and pass --validate',
    )
  }
  const manifest: object =
    projectFolders(project)
      .map(manifestIn)
      .find((found) => found !== undefined) ?? {}
  const made = makeServerJson(identity, manifest, given, earlier)
  if (made.document.remotes !== undefined || made.document.packages !== undefined) return made
  throw new CliError(
    'the registry would not know how to reach the server: pass --url with the deployed MCP endpoint',
  )
}

const PUBLISH = 'mcp-publisher publish, after mcp-publisher login'

async function validateFile(path: string): Promise<number> {
  if (!existsSync(path))
    throw new CliError(`${printable(path)} does not exist: write it with mayfly registry --url …`)
  if (!(await isValid(parseDocument(path, readFileSync(path, 'utf8'))))) return 1
  process.stdout.write(`${printable(path)} is valid\n`)
  terminal.next(PUBLISH)
  return 0
}

/** Names what is wrong. */
async function isValid(document: object): Promise<boolean> {
  const problems = await problemsOf(document)
  for (const problem of problems.slice(0, MAX_PROBLEMS)) terminal.warn(`the registry would refuse ${problem}`)
  if (problems.length > MAX_PROBLEMS) terminal.warn(`and ${problems.length - MAX_PROBLEMS} more`)
  return problems.length === 0
}

function isCurrent(path: string, earlier: Earlier | undefined, document: object): boolean {
  if (earlier !== undefined && isDeepStrictEqual(earlier, document)) {
    process.stdout.write(`${printable(path)} is current\n`)
    return true
  }
  terminal.warn(
    earlier === undefined
      ? `${path} does not exist: write it with mayfly registry`
      : `${path} is not current in ${differences(earlier, document as Earlier).join(', ')}: run mayfly registry again`,
  )
  return false
}

function differences(one: Earlier, other: Earlier): string[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return names.filter((name) => !isDeepStrictEqual(one[name], other[name]))
}

function parseDocument(path: string, text: string): Earlier {
  try {
    const document = parseJson(text, LIMITS)
    if (isObject(document)) return document
  } catch (error) {
    if (memberOf(error, 'code') === ErrorCode.invalidRequest)
      throw new CliError(`${printable(path)}: ${textOf(error).replace(/^Invalid request: /, '')}`)
  }
  throw new CliError(`${printable(path)} is not a JSON object: correct or remove it`)
}

function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new UsageError('--url must begin with https:// and must not contain a password')
  url.hash = ''
  return url.href
}

function parseHeader(text: string): string {
  if (/^[\w-]+$/.test(text)) return text
  throw new UsageError('--header takes only the name of a header')
}
