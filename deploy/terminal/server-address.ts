/** What the commands for any MCP server, `add`, `check` and `inspect`, are told on the command line: its URL, headers and a token. */
import { UsageError } from './cli-error.ts'

/** RFC 9110 §5.1 and §5.5. */
const HEADER = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\x20-\x7e]*)$/

/** Headers that say how and where a request is sent: with another value it would never arrive. */
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
  if (positionals.length > 1) throw new UsageError('one URL at a time')
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError('the URL must begin with http:// or https://')
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`the URL must not hold a password: pass ${secrets}`)
  url.hash = ''
  return url
}

/** Lines of `Name: value`, by name in lower case. Throws `UsageError`. */
export function parseHeaders(command: string, lines: readonly string[]): { [name: string]: string } {
  const headers = lines.map((line): [string, string] => {
    const match = HEADER.exec(line)
    // The line is not quoted: it may hold a secret.
    if (!match) throw new UsageError("a --header is not a header: pass 'Name: value'")
    if (FRAMING.test(match[1]!)) {
      throw new UsageError(`--header ${match[1]} is set by ${command} for each request: leave it out`)
    }
    return [match[1]!.toLowerCase(), match[2]!.trimEnd()]
  })
  return Object.fromEntries(headers)
}

/** Throws `UsageError` for what no header can carry. */
export function parseToken(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError('the --bearer token is empty or has spaces in it')
  return token
}
