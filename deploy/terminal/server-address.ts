/** Options of the commands for any MCP server (`add`, `check` and `inspect`): its URL, headers and a token. */

import { UsageError } from './cli-error.ts'
import type { ParsedOptions } from './command-line.ts'
import type { HelpRow } from './help.ts'

/** RFC 9110 §5.1 and §5.5. */
const HEADER = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\x20-\x7e]*)$/

/** Headers that control how a request is sent: with another value it would not arrive. */
const FRAMING = /^(?:content-length|transfer-encoding|connection|keep-alive|upgrade|expect|te|trailer)$/i

export interface ServerUrlHints {
  /** What may follow the URL, as in ` --client cursor`. */
  readonly more?: string
  /** The options that take a secret. */
  readonly secrets?: string
}

/** The URL of an MCP endpoint, without its fragment. Throws `UsageError`. */
export function parseServerUrl(
  command: string,
  positionals: readonly string[],
  { more = '', secrets = '--bearer-env or --header-env' }: ServerUrlHints = {},
): URL {
  const [text] = positionals
  if (text === undefined)
    throw new UsageError(`which server? pass its URL: mayfly ${command} https://example.com/mcp${more}`)
  if (positionals.length > 1) throw new UsageError('only one URL is allowed')
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError('the URL must begin with http:// or https://')
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`the URL must not contain a password: pass ${secrets}`)
  url.hash = ''
  return url
}

/** What `check` and `inspect` send with every request. */
export const CREDENTIALS = {
  bearer: { type: 'string' },
  'bearer-env': { type: 'string' },
  header: { type: 'string', multiple: true },
  'header-env': { type: 'string', multiple: true },
} as const

export const CREDENTIALS_HELP: readonly HelpRow[] = [
  [
    '--bearer-env',
    'the variable with a token, of the environment or a file such as .env, sent as Authorization: Bearer to this server only; never printed',
  ],
  ['--bearer', 'the token itself, which other users of this machine can see; - reads it from stdin'],
  [
    '--header',
    "'Name: value', another header for every request, such as one that a gateway requires; may be repeated",
  ],
  ['--header-env', 'the same from a variable, as in --header-env X-Api-Key=SHOP_KEY; may be repeated'],
]

export interface Credentials {
  readonly bearer: string | undefined
  /** By their names in lower case. */
  readonly headers: { [name: string]: string }
}

/** Reads variables, by `valueFor`, and stdin. Rejects with `UsageError`. */
export async function readCredentials(
  command: string,
  values: ParsedOptions<typeof CREDENTIALS>,
  valueFor: (variable: string) => string | undefined,
): Promise<Credentials> {
  const valueIn = (variable: string): string => {
    const value = valueFor(variable)
    if (value) return value
    throw new UsageError(`${variable} has no value: set it in the environment or in .env`)
  }
  const { bearer, 'bearer-env': bearerEnv, header = [], 'header-env': headerEnv = [] } = values
  if (bearer !== undefined && bearerEnv !== undefined)
    throw new UsageError('the token is given twice: pass --bearer or --bearer-env')
  const fromEnv = headerEnv
    .map(parseHeaderVariable)
    .map(({ header: name, variable }) => `${name}: ${valueIn(variable)}`)
  const headers = parseHeaders(command, [...header, ...fromEnv])
  if (bearerEnv !== undefined)
    return { headers, bearer: parseToken(valueIn(parseVariable('--bearer-env', bearerEnv))) }
  const token = bearer === '-' ? await readStdin() : bearer
  return { headers, bearer: token === undefined ? undefined : parseToken(token) }
}

/** `X-Api-Key=SHOP_KEY`. Throws `UsageError`. */
export function parseHeaderVariable(text: string): { readonly header: string; readonly variable: string } {
  const [, header, variable] = /^([\w-]+)=(.*)$/s.exec(text) ?? []
  if (header === undefined) throw new UsageError('a --header-env is not Name=VARIABLE')
  return { header, variable: parseVariable('--header-env', variable!) }
}

/** Throws `UsageError`. Does not quote the text: the user may have passed the secret itself. */
export function parseVariable(option: string, text: string): string {
  if (/^[A-Z_][A-Z\d_]{0,99}$/i.test(text)) return text
  throw new UsageError(`${option} takes the name of an environment variable, not the secret`)
}

const MAX_STDIN_CHARACTERS = 65_536

async function readStdin(): Promise<string> {
  if (process.stdin.isTTY) throw new UsageError('--bearer - reads the token from stdin: pipe it')
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk
    if (text.length > MAX_STDIN_CHARACTERS) throw new UsageError('stdin is too long for a token')
  }
  return text.trim()
}

/** Parses `Name: value` lines; the keys are lower-case names. Throws `UsageError`. */
function parseHeaders(command: string, lines: readonly string[]): { [name: string]: string } {
  const headers = lines.map((line): [string, string] => {
    const match = HEADER.exec(line)
    // The line is not quoted, since it may contain a secret.
    if (!match) throw new UsageError("a --header is invalid: pass 'Name: value'")
    if (FRAMING.test(match[1]!)) {
      throw new UsageError(`--header ${match[1]} is set by ${command} for each request: remove it`)
    }
    return [match[1]!.toLowerCase(), match[2]!.trimEnd()]
  })
  return Object.fromEntries(headers)
}

/** Throws `UsageError` for a value that is not allowed in a header. */
function parseToken(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError('the token is empty or contains spaces')
  return token
}
