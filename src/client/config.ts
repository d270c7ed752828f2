/** What `new MCPClient({ … })` takes. */
import type {
  AuthProvider,
  FetchLike,
  LoggingLevel,
  OAuthClientProvider,
  Transport,
} from '@modelcontextprotocol/client'
import type { MCPClientError } from './errors.ts'

/** A log message of a server. */
export interface ServerLogEntry {
  /** The name the server has in `servers`. */
  server: string
  level: LoggingLevel
  logger?: string
  data: unknown
}

interface AnyServerConfig {
  /** How long each request may take, connecting included, in milliseconds. Default: the client's. */
  timeoutMs?: number
  /** Receives what the server logs. Default: it is not asked to send any. */
  log?: (entry: ServerLogEntry) => void
  /** The least severe level that `log` is to receive. Default `info`. */
  logLevel?: LoggingLevel
}

/** A server over HTTP: modern, Streamable HTTP or, where it refuses POST, the deprecated HTTP+SSE. */
export interface HttpServerConfig extends AnyServerConfig {
  url: string | URL
  /** Makes every request, those of OAuth included. Default: the platform's. */
  fetch?: FetchLike
  headers?: { readonly [name: string]: string }
  /** Beneath every request; `headers` and what the protocol needs win. */
  requestInit?: RequestInit
  /** Signs the user in; see `createOAuthProvider`. Wins over `token`. */
  authProvider?: OAuthClientProvider | AuthProvider
  /** A bearer token, or what gives one before each request. */
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
  /** The servers by name: letters, digits, `_` and `-`. */
  servers: { readonly [name in Name]: ServerConfig }
  /** How long each request may take, connecting included, in milliseconds. Default 60 000. */
  timeoutMs?: number
  /** How this client calls itself. Default `mayfly-mcp`. */
  clientInfo?: { name: string; version: string }
  /**
   * Told when a server fails where the others go on: in lists, and in the background. Cannot change the answer. Default: an error
   * on the console.
   */
  onError?: (error: MCPClientError) => void
}

export const DEFAULT_TIMEOUT_MS = 60_000
/** The longest delay a timer takes. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1

const KINDS = ['url', 'command', 'transport'] as const

/** @throws TypeError for what could never work, naming the option. */
export function checkConfig({ servers, timeoutMs }: MCPClientConfig): void {
  if (servers === null || typeof servers !== 'object')
    throw new TypeError('servers must be an object of servers by name.')
  checkTimeout('timeoutMs', timeoutMs)
  for (const [name, server] of Object.entries(servers)) {
    const label = `servers.${name}`
    if (!/^[\w-]+$/.test(name)) {
      throw new TypeError(
        `The server name ${JSON.stringify(name)} becomes a part of tool names: use letters, digits, "_" and "-".`,
      )
    }
    checkTimeout(`${label}.timeoutMs`, server.timeoutMs)
    const kinds = KINDS.filter((kind) => Object.hasOwn(server, kind))
    if (kinds.length !== 1) throw new TypeError(`${label} must have one of url, command and transport.`)
    if ('url' in server) checkUrl(`${label}.url`, server.url)
  }
}

function checkTimeout(label: string, timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) return
  throw new TypeError(`${label} must be milliseconds from 1 to ${MAX_TIMEOUT_MS}, not ${timeoutMs}.`)
}

function checkUrl(label: string, url: string | URL): void {
  if (/^https?:\/\//i.test(String(url)) && URL.canParse(url)) return
  throw new TypeError(`${label} must be an http: or https: URL, not ${String(url)}.`)
}
