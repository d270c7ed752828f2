/** The configuration of `new MCPClient({ … })`. */

import type {
  AuthProvider,
  FetchLike,
  LoggingLevel,
  OAuthClientProvider,
  Transport,
} from '@modelcontextprotocol/client'
import { isObject } from '../definition/is-object.ts'
import { present } from '../definition/present.ts'
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import { type Names, refuseUnknown, requireOptions } from '../definition/unknown-option.ts'
import type { MCPClientError } from './errors.ts'
import type { ServerLogEntry } from './server-log-entry.ts'
import type { ServerOAuthProvider } from './sign-in-provider.ts'

interface AnyServerConfig {
  /** Milliseconds for each request, including connecting. Default: the client's `timeoutMs`. */
  timeoutMs?: number
  /**
   * Maximum bytes of one response: a decompressed JSON body, an event of a stream, a line of a process, or a list over all its pages.
   * A larger one fails with `RESPONSE_TOO_LARGE`. Default: the client's `maxResponseBytes`.
   */
  maxResponseBytes?: number
  /** Receives the server's log messages. Default: none are requested. */
  log?: (entry: ServerLogEntry) => void
  /** The lowest level that `log` receives. Default `info`. */
  logLevel?: LoggingLevel
  /** Whether calls request progress, if there is a listener. Default `true`. */
  enableProgressTracking?: boolean
  /** What `execute` of a tool does with an `isError` result: `throw` (default) or `return` it. */
  onToolError?: 'throw' | 'return'
  /**
   * Whether the server may answer a call with a task (the extension `io.modelcontextprotocol/tasks`, modern servers only). Default
   * `true`; with `false` the extension is not declared, and the server must answer in another way.
   */
  tasks?: boolean
  /**
   * Maximum milliseconds to wait for the end of a task; the time a user takes to answer does not count. The task itself continues.
   * Default: the client's `maxTaskMs`.
   */
  maxTaskMs?: number
}

/** A server over HTTP: modern, Streamable HTTP, or, if it refuses POST, the deprecated HTTP+SSE. */
export interface HttpServerConfig extends AnyServerConfig {
  url: string | URL
  /** Sends every request, also for OAuth. Default: the platform's `fetch`. */
  fetch?: FetchLike
  /** Sent only to the origin of `url`, never to one from a redirect or from the server's OAuth metadata. */
  headers?: { readonly [name: string]: string }
  /** Options of every request to the origin of `url`; `headers` and the headers of the protocol take precedence. */
  requestInit?: RequestInit
  /** Signs the user in; see `createOAuthProvider`. Takes precedence over `token`. */
  authProvider?: ServerOAuthProvider | OAuthClientProvider | AuthProvider
  /**
   * A bearer token, or a function that returns one for each request, which may be of another user: then private answers are not cached. Sent
   * only to the origin of `url`.
   */
  token?: string | (() => string | undefined | Promise<string | undefined>)
}

/** A server in a local process. Needs a platform with processes, and this package installed next to the bundle. */
export interface StdioServerConfig extends AnyServerConfig {
  command: string
  args?: readonly string[]
  /** Environment variables, besides a few that every process needs, such as `PATH`. Other variables of this process are not passed on. */
  env?: { readonly [name: string]: string }
  cwd?: string
  /** What happens to the process's error output. Default `inherit`. */
  stderr?: 'inherit' | 'ignore'
}

/** A server over any transport of the official SDK, created for each connection. */
export interface TransportServerConfig extends AnyServerConfig {
  transport: () => Transport | Promise<Transport>
}

/** One server of an `MCPClient`: set one of `url`, `command` and `transport`. */
export type ServerConfig = HttpServerConfig | StdioServerConfig | TransportServerConfig

/** The configuration of an `MCPClient`. Only `servers` is required. */
export interface MCPClientConfig<Name extends string = string> {
  /** Distinguishes clients with the same configuration that exist at the same time. */
  id?: string
  /**
   * The servers by name: letters, digits, `_` and `-`. No name may begin with another name followed by `_`, since their tools could get
   * the same names.
   */
  servers: { readonly [name in Name]: ServerConfig }
  /** Milliseconds for each request, including connecting. Default 60 000. */
  timeoutMs?: number
  /** Maximum bytes of one response. Default 8 388 608 (8 MiB). */
  maxResponseBytes?: number
  /** Maximum milliseconds to wait for the end of a task. Default 3 600 000, an hour. */
  maxTaskMs?: number
  /** The name and version that this client sends to servers. Default: the name `mayfly-mcp`. */
  clientInfo?: { name: string; version: string }
  /**
   * Called when one server fails while the others continue: in lists, and in the background. Cannot change the result; its own errors
   * are printed. Default: prints the message to the console, without control characters and truncated to 500 characters.
   */
  onError?: (error: MCPClientError) => void
}

export const DEFAULT_TIMEOUT_MS = 60_000
export const DEFAULT_MAX_RESPONSE_BYTES = 8 * 1024 * 1024
export const DEFAULT_MAX_TASK_MS = 3_600_000

const KINDS = ['url', 'command', 'transport'] as const

const CLIENT_OPTIONS: Names<MCPClientConfig> = {
  id: 'string',
  servers: 'object',
  timeoutMs: [0],
  maxResponseBytes: [1],
  maxTaskMs: [0],
  clientInfo: 'object',
  onError: 'function',
}
const CLIENT_INFO: Names<NonNullable<MCPClientConfig['clientInfo']>> = { name: 'string', version: 'string' }
const ANY_SERVER: Names<AnyServerConfig> = {
  timeoutMs: [0],
  maxResponseBytes: [1],
  log: 'function',
  logLevel: { error: 1, debug: 1, info: 1, notice: 1, warning: 1, critical: 1, alert: 1, emergency: 1 },
  enableProgressTracking: 'boolean',
  onToolError: { throw: 1, return: 1 },
  tasks: 'boolean',
  maxTaskMs: [0],
}
const HTTP: Names<HttpServerConfig> = {
  url: 'string object',
  token: 'string function',
  authProvider: 'object',
  headers: 'object',
  fetch: 'function',
  requestInit: 'object',
  ...ANY_SERVER,
}
const STDIO: Names<StdioServerConfig> = {
  command: 'string',
  args: 'strings',
  env: 'object',
  cwd: 'string',
  stderr: { inherit: 1, ignore: 1 },
  ...ANY_SERVER,
}
const TRANSPORT: Names<TransportServerConfig> = { transport: 'function', ...ANY_SERVER }
const SERVER_OPTIONS = { url: HTTP, command: STDIO, transport: TRANSPORT }

/** @throws TypeError naming an option that cannot work or is unsafe. */
export function checkConfig(config: MCPClientConfig): void {
  checkOptions('MCPClient', config, CLIENT_OPTIONS)
  const { servers, timeoutMs, maxResponseBytes, maxTaskMs } = config
  refuseUnknown('"clientInfo"', config.clientInfo, CLIENT_INFO)
  if (!isObject(servers)) throw new TypeError('servers must be an object of servers by name.')
  checkTimeout('timeoutMs', timeoutMs)
  checkBytes('maxResponseBytes', maxResponseBytes)
  checkTimeout('maxTaskMs', maxTaskMs)
  for (const [name, server] of Object.entries(servers)) {
    const label = `servers.${name}`
    if (!/^[\w-]+$/.test(name)) {
      throw new TypeError(
        `The server name ${JSON.stringify(name)} becomes part of tool names: use letters, digits, "_" and "-".`,
      )
    }
    requireServerObject(name, server)
    checkTimeout(`${label}.timeoutMs`, server.timeoutMs)
    checkBytes(`${label}.maxResponseBytes`, server.maxResponseBytes)
    checkTimeout(`${label}.maxTaskMs`, server.maxTaskMs)
    checkStderr(label, server)
    const [kind, ...more] = KINDS.filter((one) => Object.hasOwn(server, one))
    if (kind === undefined || more.length > 0) {
      checkOptions(label, server, { ...HTTP, ...STDIO, ...TRANSPORT })
      throw new TypeError(`${label} must have one of url, command and transport.`)
    }
    checkOptions(label, server, SERVER_OPTIONS[kind])
    if (!('url' in server)) continue
    checkUrl(`${label}.url`, server.url)
    checkHeaders(label, server)
  }
  checkNames(Object.keys(servers))
  checkProviders(servers)
}

/** @throws TypeError for the URL of a server instead of its options, and anything else that is not an object. */
export function requireServerObject(name: string, server: unknown): void {
  if (!isObject(server))
    throw new TypeError(`servers.${name} must be an object, such as { url: 'https://mcp.example/mcp' }.`)
}

/** An option that is undefined counts as absent, since Mastra's own client takes more of them. */
function checkOptions(where: string, options: object, known: object): void {
  requireOptions(where, isObject(options) ? present<object>(options) : options, known)
}

/** Tool `b_c` of server `a` and tool `c` of server `a_b` would both be `a_b_c`, so one could be called instead of the other. */
function checkNames(names: readonly string[]): void {
  for (const name of names) {
    const other = names.find((one) => one.startsWith(`${name}_`))
    if (other === undefined) continue
    throw new TypeError(
      `servers.${name} and servers.${other} could have tools with the same name, because one server name begins with the other and "_": rename one, as in ${other.replaceAll('_', '-')}.`,
    )
  }
}

/** A provider has the tokens of one server. A shared provider would send them to both. */
function checkProviders(servers: MCPClientConfig['servers']): void {
  const owners = new Map<unknown, readonly [label: string, url: string]>()
  for (const [name, server] of Object.entries(servers)) {
    if (!('url' in server) || server.authProvider === undefined || !('tokens' in server.authProvider))
      continue
    const [label, url] = owners.get(server.authProvider) ?? []
    if (label !== undefined && url !== String(server.url)) {
      throw new TypeError(
        `servers.${name}.authProvider is also used by ${label}, so one server would get the tokens of the other: create one provider for each server.`,
      )
    }
    owners.set(server.authProvider, [`servers.${name}`, String(server.url)])
  }
}

export function checkTimeout(label: string, timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS)) return
  throw new TypeError(`${label} must be milliseconds from 1 to ${MAX_TIMER_MS}, not ${timeoutMs}.`)
}

function checkBytes(label: string, bytes: number | undefined): void {
  if (bytes === undefined || (Number.isSafeInteger(bytes) && bytes > 0)) return
  throw new TypeError(`${label} must be a whole number of bytes, 1 or more, not ${bytes}.`)
}

function checkStderr(label: string, server: ServerConfig): void {
  const stderr = 'command' in server ? server.stderr : undefined
  if (stderr === undefined || stderr === 'inherit' || stderr === 'ignore') return
  throw new TypeError(
    `${label}.stderr must be "inherit" or "ignore", not ${String(stderr)}: pass your own transport to read it.`,
  )
}

/** The URL is not quoted: it may have a password, or a key. */
function checkUrl(label: string, url: string | URL): void {
  if (!/^https?:\/\//i.test(String(url)) || !URL.canParse(url))
    throw new TypeError(`${label} must be an http: or https: URL.`)
  const { username, password } = new URL(url)
  if (username === '' && password === '') return
  throw new TypeError(
    `${label} has a user name or password, which fetch refuses: write headers: { Authorization: 'Basic …' } instead.`,
  )
}

/** Platforms would quote what they refuse. */
function checkHeaders(label: string, { headers = {}, token }: HttpServerConfig): void {
  for (const [name, value] of Object.entries(headers)) {
    const isName = /^[\w-]+$/.test(name)
    requireSendable(isName ? `${label}.headers["${name}"]` : `A name in ${label}.headers`, name, value)
  }
  if (typeof token === 'string') requireSendable(`${label}.token`, 'Authorization', `Bearer ${token}`)
}

function requireSendable(label: string, name: string, value: string): void {
  try {
    new Headers({ [name]: value })
  } catch {
    throw new TypeError(`${label} has a character that HTTP does not allow, such as a line break.`)
  }
}
