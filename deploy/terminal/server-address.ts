/** Options of the commands for any MCP server (`add`, `check` and `inspect`): its URL, headers and a token. */
import { UsageError } from './cli-error.ts'

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
  { more = '', secrets = '--bearer, or --header "Authorization: …"' }: ServerUrlHints = {},
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

/** Parses `Name: value` lines; the keys are lower-case names. Throws `UsageError`. */
export function parseHeaders(command: string, lines: readonly string[]): { [name: string]: string } {
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
export function parseToken(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError('the --bearer token is empty or contains spaces')
  return token
}
