/** The options of `gateway`. */

import type { HttpServerConfig, StdioServerConfig, TransportServerConfig } from '../client/config.ts'
import { checkConfig, checkTimeout, requireServerObject, type ServerConfig } from '../client/config.ts'
import type { Tool } from '../definition/tool.ts'
import { type Names, refuseUnknown, requireOptions } from '../definition/unknown-option.ts'
import type { GatewayCaller } from '../request/gateway-support.ts'

/** An item of a server behind. */
export interface GatewayItem {
  readonly kind: 'tool' | 'resource' | 'template' | 'prompt'
  /** The server's own name for it: a tool's or prompt's name, a URI, or a URI template. */
  readonly name: string
  /** For a tool, as the server listed it. Undefined for one of a server that has not answered yet. */
  readonly tool?: Tool | undefined
}

interface GatewayServerOptions {
  /** Put before the names of its tools and prompts. None may begin with that of another server. Default: the server's name and `_`. */
  prefix?: string
  /**
   * The scopes that a caller needs for all items of this server, or a function that decides for each item. Until the server has answered
   * once, the function is asked without `tool`, and callers without identity are refused. Default: none.
   */
  scopes?: readonly string[] | ((item: GatewayItem) => readonly string[] | undefined)
  /** Whether an item is served. It is left out if this throws or returns anything but true or false. Default: all are served. */
  include?: (item: GatewayItem) => boolean
  /**
   * Whether a question that a legacy server asks in the middle of a call may run that call again from its start, with the answer.
   * Default: only for tools that declare `readOnlyHint` or `idempotentHint`; others are told that the user cannot be asked.
   */
  rerun?: boolean
}

type FromCaller<Value> = Value | ((caller: GatewayCaller) => Value | undefined | Promise<Value | undefined>)

/** A server over HTTP. */
export interface GatewayHttpServer
  extends GatewayServerOptions,
    Pick<
      HttpServerConfig,
      'url' | 'fetch' | 'requestInit' | 'authProvider' | 'timeoutMs' | 'maxResponseBytes'
    > {
  /** A bearer token, or a function that returns the one of a caller. Never the caller's own token, which was issued for this server. */
  token?: FromCaller<string>
  /** Headers, or a function that returns those of a caller. */
  headers?: FromCaller<{ readonly [name: string]: string }>
}

/** A server in a process, or over a transport of your own: one connection for all callers, who cannot be asked. */
export type GatewaySharedServer = GatewayServerOptions &
  (Omit<StdioServerConfig, NotForGateways> | Omit<TransportServerConfig, NotForGateways>)

type NotForGateways = 'log' | 'logLevel' | 'onToolError' | 'tasks' | 'maxTaskMs'

export type GatewayServer = GatewayHttpServer | GatewaySharedServer

/** The options of `gateway`. Only `servers` is required. */
export interface GatewayOptions {
  /** The servers by name: letters, digits, `_` and `-`. */
  servers: { readonly [name: string]: GatewayServer }
  /** Milliseconds for which a server's lists are fresh. Older ones are served while they are renewed. Default 60 000. */
  ttlMs?: number
  /** Milliseconds after which a server that failed is asked again. Its last lists stay. Default 5000. */
  retryMs?: number
  /** Maximum milliseconds for the lists of one server. Default 10 000. */
  listTimeoutMs?: number
  /** Maximum milliseconds for each request to a server, without the time that a user takes to answer. Default 60 000. */
  timeoutMs?: number
  /** The credentials of callers whose lists are kept; one caller gets at most half. Default 200. */
  maxCallers?: number
  /**
   * Maximum bytes of all lists that are kept, as JSON, with what is compiled of them; those that were used longest ago are forgotten first.
   * A caller with credentials of its own gets at most half. Larger lists are read for each request. Default 16 777 216.
   */
  maxListBytes?: number
}

const OPTIONS: Names<GatewayOptions> = {
  servers: 'object',
  ttlMs: [0],
  retryMs: [0],
  listTimeoutMs: [0],
  timeoutMs: [0],
  maxCallers: [1],
  maxListBytes: [1],
}
const OWN: Names<GatewayServerOptions> = {
  prefix: 'string',
  scopes: 'object',
  include: 'function',
  rerun: 'boolean',
}
const COMMON = { ...OWN, timeoutMs: [0], maxResponseBytes: [1] } as const
const HTTP: Names<GatewayHttpServer> = {
  url: 'string object',
  token: 'string function',
  headers: 'object',
  fetch: 'function',
  requestInit: 'object',
  authProvider: 'object',
  ...COMMON,
}
const SHARED: Names<GatewaySharedServer> = {
  command: 'string',
  args: 'strings',
  env: 'object',
  cwd: 'string',
  stderr: { inherit: 1, ignore: 1 },
  transport: 'function',
  enableProgressTracking: 'boolean',
  ...COMMON,
}

/** @throws TypeError naming an option that cannot work. */
export function checkOptions(options: GatewayOptions): void {
  if (options === null || typeof options !== 'object')
    throw new TypeError('gateway takes an object: { servers }.')
  requireOptions('gateway', options, OPTIONS)
  for (const name of ['ttlMs', 'retryMs', 'listTimeoutMs', 'timeoutMs'] as const)
    checkTimeout(name, options[name])
  for (const name of ['maxCallers', 'maxListBytes'] as const) {
    const { [name]: limit = 1 } = options
    if (!Number.isSafeInteger(limit) || limit < 1)
      throw new TypeError(`"${name}" must be a whole number, 1 or more.`)
  }
  for (const [name, server] of Object.entries(options.servers ?? {})) {
    requireServerObject(name, server)
    refuseUnknown(`servers.${name}`, server, 'url' in server ? HTTP : SHARED)
  }
  const servers = Object.entries(options.servers ?? {}).map(([name, server]) => [name, toConfig(server)])
  checkConfig({ servers: Object.fromEntries(servers) })
  if (servers.length === 0) throw new TypeError('gateway needs "servers": at least one.')
  for (const [name, server] of Object.entries(options.servers)) checkOwn(`servers.${name}`, server)
  checkPrefixes(options.servers)
}

/** A name must say which server it belongs to, also while that server does not answer. */
function checkPrefixes(servers: GatewayOptions['servers']): void {
  const prefixes = Object.entries(servers).map(([name, { prefix = `${name}_` }]) => ({ name, prefix }))
  // Sorted, a prefix is followed by those that begin with it.
  prefixes.sort((one, other) => (one.prefix < other.prefix ? -1 : 1))
  for (const [index, { name, prefix }] of prefixes.entries()) {
    const next = prefixes[index + 1]
    if (!next?.prefix.startsWith(prefix)) continue
    throw new TypeError(
      `Names that begin with ${JSON.stringify(next.prefix)} could be of servers.${name} or servers.${next.name}: set another "prefix" of one of them.`,
    )
  }
}

/** The configuration for a client. `credentials` replace those that depend on the caller. */
export function toConfig(server: GatewayServer, credentials: Partial<HttpServerConfig> = {}): ServerConfig {
  const rest: { [option: string]: unknown } = { ...server }
  for (const option of Object.keys(OWN)) delete rest[option]
  for (const option of ['token', 'headers']) {
    if (typeof rest[option] === 'function') delete rest[option]
  }
  return { ...rest, ...credentials, tasks: false, onToolError: 'return' } as ServerConfig
}

export function areScopes(given: unknown): given is readonly string[] {
  return Array.isArray(given) && given.every((scope) => typeof scope === 'string')
}

function checkOwn(label: string, { prefix, scopes }: GatewayServerOptions): void {
  if (prefix !== undefined && !/^[\w.-]*$/.test(prefix))
    throw new TypeError(`${label}.prefix must be letters, digits, "_", "." and "-".`)
  if (scopes !== undefined && typeof scopes !== 'function' && !areScopes(scopes))
    throw new TypeError(`${label}.scopes must be a list of strings, or a function that returns one.`)
}
