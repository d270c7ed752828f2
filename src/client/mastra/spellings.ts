/**
 * The option names of Mastra's `MCPClient` (`@mastra/mcp` 1.18 and 2.0): equal options under another name are translated; unsupported
 * ones are refused with what to write instead.
 */

import type { LoggingLevel } from '@modelcontextprotocol/client'
import { isObject } from '../../definition/is-object.ts'
import { type Names, refuseUnknown } from '../../definition/unknown-option.ts'
import type { MCPClientConfig, ServerConfig } from '../config.ts'
import type { ServerLogEntry } from '../server-log-entry.ts'

/** A log message of a server in the form for Mastra's `logger`. */
export interface ServerLogMessage {
  level: ServerLogEntry['level']
  /** The logged data, as text. */
  message: string
  /** When it arrived. */
  timestamp: Date
  /** The server's name in `servers`. */
  serverName: string
  details: { data: unknown; logger?: string }
}

/** Mastra's names for options of a server. */
export interface MastraServerOptions {
  /** The same as `timeoutMs`. */
  timeout?: number
  /** The same as `log`, with another message. */
  logger?: (message: ServerLogMessage) => void
  /** The same as `logLevel`. */
  serverLogLevel?: LoggingLevel
  /** Whether to request log messages for `log` or `logger`. Default `true`. */
  enableServerLogs?: boolean
}

/** One server of Mastra's `MCPClient`, with the options of `mayfly-mcp/client` besides. */
export type MastraServerConfig = ServerConfig & MastraServerOptions

/** The configuration of Mastra's `MCPClient`, with the options of `mayfly-mcp/client` besides. */
export interface MastraClientConfig<Name extends string = string> extends MCPClientConfig<Name> {
  servers: { readonly [name in Name]: MastraServerConfig }
  /** The same as `timeoutMs`. */
  timeout?: number
}

const OWN: Names<Omit<MastraServerOptions, 'serverLogLevel'> & Pick<ServerConfig, 'log'>> = {
  timeout: [0],
  logger: 'function',
  log: 'function',
  enableServerLogs: 'boolean',
}

const NO_VALIDATOR =
  'leave it out: this client does not compile schemas to code, so it runs on every platform as it is'
const FORWARD = 'put what getServerInstructions() returns into the agent’s prompt, if you trust the server'

/** Mastra's options that this client does not have, and what to write instead. */
const REFUSED: { readonly [option: string]: string } = {
  allowedHosts:
    'give a fetch that refuses other hosts; headers, requestInit and token go to the origin of url alone in any case',
  capabilities: 'leave it out: elicitation.onRequest(server, handler) declares what its handler can answer',
  coerceSchemasTo: NO_VALIDATOR,
  connectTimeout: 'write timeoutMs, which counts connecting',
  eventSourceInit: 'leave it out: headers, requestInit and token are sent over HTTP+SSE as well',
  forwardInstructions: FORWARD,
  inheritDefaultEnv:
    'leave it out: a process gets env and the few variables that every process needs; give a transport for less',
  inputRequests: 'write client.elicitation.onRequest(server, (params, { signal }) => …)',
  instructionsMaxLength: FORWARD,
  jsonSchemaValidator: NO_VALIDATOR,
  protocolVersion: 'leave it out: the newest protocol version of the server is found when it is connected',
  reconnectionOptions: 'leave it out: lost connections are opened again, after growing delays',
  requireToolApproval:
    'ask before you call execute(): a tool of listTools() has mcp.annotations and definition.name to decide by',
  roots: 'leave it out: this client offers servers no roots',
  sessionId: 'leave it out: sessions are opened, and opened again, by the client',
  traceContext: 'give a fetch that sets the header traceparent',
}

/** The configuration under its native names. @throws TypeError for an unsupported option, saying what to write instead. */
export function readSpellings<Name extends string>(config: MastraClientConfig<Name>): MCPClientConfig<Name> {
  if (!isObject(config)) return config
  refuse('', config)
  if (!isObject(config.servers)) return config
  const { timeout, ...rest } = config
  refuseUnknown('MCPClient', { timeout: config.timeout }, OWN)
  const timeoutMs = oneOf('', 'timeoutMs', config.timeoutMs, 'timeout', timeout)
  const servers = Object.entries<MastraServerConfig>(config.servers).map(([name, server]) => [
    name,
    readServer(`servers.${name}.`, server),
  ])
  return { ...rest, ...(timeoutMs !== undefined && { timeoutMs }), servers: Object.fromEntries(servers) }
}

function readServer(label: string, server: MastraServerConfig): ServerConfig {
  if (server === null || typeof server !== 'object') return server
  refuse(label, server)
  if ('url' in server && (server.fetch?.length ?? 0) > 2) {
    throw new TypeError(
      `${label}fetch takes (url, init): this client has no request context to pass on. Create one client per request, each with its own id, and let fetch use the data of that request.`,
    )
  }
  const { timeout, logger, serverLogLevel, enableServerLogs = true, log: own, ...rest } = server
  refuseUnknown(label.slice(0, -1), { timeout, logger, log: own, enableServerLogs }, OWN)
  const timeoutMs = oneOf(label, 'timeoutMs', server.timeoutMs, 'timeout', timeout)
  const logLevel = oneOf(label, 'logLevel', server.logLevel, 'serverLogLevel', serverLogLevel)
  const listener = logger && ((entry: ServerLogEntry) => logger(toLogMessage(entry)))
  const log = oneOf(label, 'log', own, 'logger', listener)
  return {
    ...rest,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(logLevel !== undefined && { logLevel }),
    ...(log !== undefined && enableServerLogs && { log }),
  }
}

function refuse(label: string, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && Object.hasOwn(REFUSED, name))
      throw new TypeError(`${label}${name} is not supported: ${REFUSED[name]}.`)
  }
}

function oneOf<T>(label: string, name: string, value: T | undefined, alias: string, same: T | undefined) {
  if (value !== undefined && same !== undefined) {
    throw new TypeError(`${label}${alias} is another name for ${name}: give one of the two.`)
  }
  return value ?? same
}

function toLogMessage({ server, level, logger, data, message }: ServerLogEntry): ServerLogMessage {
  const details = { data, ...(logger !== undefined && { logger }) }
  return { level, message, timestamp: new Date(), serverName: server, details }
}
