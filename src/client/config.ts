/** What `new MCPClient({ … })` takes. */
import type {
  AuthProvider,
  FetchLike,
  LoggingLevel,
  OAuthClientProvider,
  Transport,
} from '@modelcontextprotocol/client'
import type { MCPClientError } from './errors.ts'
import type { ServerLogEntry, ServerLogMessage } from './server-log-entry.ts'
import type { ServerOAuthProvider } from './sign-in-provider.ts'

interface AnyServerConfig {
  /** How long each request may take, connecting included, in milliseconds. Default: the client's. */
  timeoutMs?: number
  /** Mastra's name of `timeoutMs`. */
  timeout?: number
  /**
   * The most bytes of one answer: a body of JSON, unpacked; an event of a stream; a line of a process; a list over all its pages.
   * What is larger fails with `RESPONSE_TOO_LARGE`. Default: the client's.
   */
  maxResponseBytes?: number
  /** Receives what the server logs. Default: it is not asked to send any. */
  log?: (entry: ServerLogEntry) => void
  /** The least severe level that `log` is to receive. Default `info`. */
  logLevel?: LoggingLevel
  /** Mastra's `log`. */
  logger?: (message: ServerLogMessage) => void
  /** Mastra's name of `logLevel`. */
  serverLogLevel?: LoggingLevel
  /** Whether the server is asked for what `log` or `logger` receives. Default `true`. */
  enableServerLogs?: boolean
  /** Whether calls ask for progress, if there is a listener. Default `true`. */
  enableProgressTracking?: boolean
  /** What `execute` of a tool does with an answer that is `isError`: `throw`, the default, or `return` it. */
  onToolError?: 'throw' | 'return'
}

/** A server over HTTP: modern, Streamable HTTP or, where it refuses POST, the deprecated HTTP+SSE. */
export interface HttpServerConfig extends AnyServerConfig {
  url: string | URL
  /** Makes every request, those of OAuth included. Default: the platform's. */
  fetch?: FetchLike
  /** Go to the origin of `url` alone, never to one that a redirect or the server's OAuth metadata name. */
  headers?: { readonly [name: string]: string }
  /** Beneath every request to the origin of `url`; `headers` and what the protocol needs win. */
  requestInit?: RequestInit
  /** Signs the user in; see `createOAuthProvider`. Wins over `token`. */
  authProvider?: ServerOAuthProvider | OAuthClientProvider | AuthProvider
  /** A bearer token, or what gives one before each request. Goes to the origin of `url` alone. */
  token?: string | (() => string | undefined | Promise<string | undefined>)
}

/** A server that is a process of this machine. Needs a platform with processes, and the package installed beside the bundle. */
export interface StdioServerConfig extends AnyServerConfig {
  command: string
  args?: readonly string[]
  /** Beside a few that every process needs, such as `PATH`; nothing else of this process's environment is passed on. */
  env?: { readonly [name: string]: string }
  cwd?: string
  /** Where the process's error output goes. Default `inherit`. */
  stderr?: 'inherit' | 'ignore'
}

/** A server over any transport of the official SDK, made anew for each connection. */
export interface TransportServerConfig extends AnyServerConfig {
  transport: () => Transport | Promise<Transport>
}

export type ServerConfig = HttpServerConfig | StdioServerConfig | TransportServerConfig

export interface MCPClientConfig<Name extends string = string> {
  /** Tells apart clients of the same configuration that live at the same time. */
  id?: string
  /**
   * The servers by name: letters, digits, `_` and `-`. None may begin with the name of another and `_`: their tools could not be
   * told apart.
   */
  servers: { readonly [name in Name]: ServerConfig }
  /** How long each request may take, connecting included, in milliseconds. Default 60 000. */
  timeoutMs?: number
  /** Mastra's name of `timeoutMs`. */
  timeout?: number
  /** The most bytes of one answer. Default 8 388 608 (8 MiB). */
  maxResponseBytes?: number
  /** How this client calls itself. Default `mayfly-mcp`. */
  clientInfo?: { name: string; version: string }
  /**
   * Told when a server fails where the others go on: in lists, and in the background. Cannot change the answer; what it throws or
   * rejects with is printed. Default: the message as an error on the console, without control characters and cut to 500 characters.
   */
  onError?: (error: MCPClientError) => void
}

export const DEFAULT_TIMEOUT_MS = 60_000
export const DEFAULT_MAX_RESPONSE_BYTES = 8 * 1024 * 1024
/** The longest delay a timer takes. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1

const KINDS = ['url', 'command', 'transport'] as const

/** @throws TypeError for what could never work, or not safely, naming the option. */
export function checkConfig({ servers, timeoutMs, maxResponseBytes }: MCPClientConfig): void {
  if (servers === null || typeof servers !== 'object')
    throw new TypeError('servers must be an object of servers by name.')
  checkTimeout('timeoutMs', timeoutMs)
  checkBytes('maxResponseBytes', maxResponseBytes)
  for (const [name, server] of Object.entries(servers)) {
    const label = `servers.${name}`
    if (!/^[\w-]+$/.test(name)) {
      throw new TypeError(
        `The server name ${JSON.stringify(name)} becomes a part of tool names: use letters, digits, "_" and "-".`,
      )
    }
    checkTimeout(`${label}.timeoutMs`, server.timeoutMs)
    checkBytes(`${label}.maxResponseBytes`, server.maxResponseBytes)
    checkChoices(label, server)
    const kinds = KINDS.filter((kind) => Object.hasOwn(server, kind))
    if (kinds.length !== 1) throw new TypeError(`${label} must have one of url, command and transport.`)
    if ('url' in server) checkUrl(`${label}.url`, server.url)
  }
  checkNames(Object.keys(servers))
  checkProviders(servers)
}

/** Tool `b_c` of server `a` and tool `c` of server `a_b` would both be `a_b_c`, and one answer for the other. */
function checkNames(names: readonly string[]): void {
  for (const name of names) {
    const other = names.find((one) => one.startsWith(`${name}_`))
    if (other === undefined) continue
    throw new TypeError(
      `servers.${name} and servers.${other} could have tools of the same name, because one server name begins with the other one and "_": rename one, as in ${other.replaceAll('_', '-')}.`,
    )
  }
}

/** A provider has the tokens of one server, and would send them to both. */
function checkProviders(servers: MCPClientConfig['servers']): void {
  const owners = new Map<unknown, readonly [label: string, url: string]>()
  for (const [name, server] of Object.entries(servers)) {
    if (!('url' in server) || server.authProvider === undefined || !('tokens' in server.authProvider))
      continue
    const [label, url] = owners.get(server.authProvider) ?? []
    if (label !== undefined && url !== String(server.url)) {
      throw new TypeError(
        `servers.${name}.authProvider is also used by ${label}, so one server would get the tokens of the other: make one provider for each server.`,
      )
    }
    owners.set(server.authProvider, [`servers.${name}`, String(server.url)])
  }
}

function checkTimeout(label: string, timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) return
  throw new TypeError(`${label} must be milliseconds from 1 to ${MAX_TIMEOUT_MS}, not ${timeoutMs}.`)
}

function checkBytes(label: string, bytes: number | undefined): void {
  if (bytes === undefined || (Number.isSafeInteger(bytes) && bytes > 0)) return
  throw new TypeError(`${label} must be a whole number of bytes, 1 or more, not ${bytes}.`)
}

function checkChoices(label: string, server: ServerConfig): void {
  const { onToolError } = server
  if (onToolError !== undefined && onToolError !== 'throw' && onToolError !== 'return') {
    throw new TypeError(`${label}.onToolError must be "throw" or "return", not ${String(onToolError)}.`)
  }
  const stderr = 'command' in server ? server.stderr : undefined
  if (stderr === undefined || stderr === 'inherit' || stderr === 'ignore') return
  throw new TypeError(
    `${label}.stderr must be "inherit" or "ignore", not ${String(stderr)}: pass your own transport to read it.`,
  )
}

function checkUrl(label: string, url: string | URL): void {
  if (/^https?:\/\//i.test(String(url)) && URL.canParse(url)) return
  throw new TypeError(`${label} must be an http: or https: URL, not ${String(url)}.`)
}
