/**
 * The option names of Mastra's `MCPClient` (`@mastra/mcp` 1.18 and 2.0): equal options under another name are accepted; unsupported
 * ones are refused with what to write instead.
 */
import type { MCPClientConfig, ServerConfig } from './config.ts'
import type { ServerLogEntry, ServerLogMessage } from './server-log-entry.ts'

export type { ServerLogMessage }

/** The names of the supported options. */
const CLIENT_OPTIONS = [
  ...['id', 'servers', 'timeoutMs', 'timeout', 'maxResponseBytes', 'maxTaskMs', 'clientInfo', 'onError'],
]
const SERVER_OPTIONS = [
  ...['timeoutMs', 'timeout', 'maxResponseBytes', 'log', 'logger', 'logLevel', 'serverLogLevel'],
  ...['enableServerLogs', 'enableProgressTracking', 'onToolError', 'tasks', 'maxTaskMs'],
  ...['url', 'fetch', 'headers', 'requestInit', 'authProvider', 'token'],
  ...['command', 'args', 'env', 'cwd', 'stderr', 'transport'],
]

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

/** The configuration with the names used here. @throws TypeError for an unsupported option, saying what to write instead. */
export function readSpellings<Name extends string>(config: MCPClientConfig<Name>): MCPClientConfig<Name> {
  refuse('', config, CLIENT_OPTIONS)
  if (config.servers === null || typeof config.servers !== 'object') return config
  const { timeout, ...rest } = config
  const timeoutMs = oneOf('', 'timeoutMs', config.timeoutMs, 'timeout', timeout)
  const servers = Object.entries<ServerConfig>(config.servers).map(([name, server]) => [
    name,
    readServer(`servers.${name}.`, server),
  ])
  return { ...rest, ...(timeoutMs !== undefined && { timeoutMs }), servers: Object.fromEntries(servers) }
}

function readServer(label: string, server: ServerConfig): ServerConfig {
  if (server === null || typeof server !== 'object') return server
  refuse(label, server, SERVER_OPTIONS)
  if ('url' in server && (server.fetch?.length ?? 0) > 2) {
    throw new TypeError(
      `${label}fetch takes (url, init): this client has no request context to pass on. Create one client per request, each with its own id, and let fetch use the data of that request.`,
    )
  }
  const { timeout, logger, serverLogLevel, enableServerLogs = true, log: own, ...rest } = server
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

function refuse(label: string, options: object, known: readonly string[]): void {
  for (const [name, value] of Object.entries(options)) {
    if (known.includes(name) || value === undefined) continue
    if (Object.hasOwn(REFUSED, name)) {
      throw new TypeError(`${label}${name} is not supported: ${REFUSED[name]}.`)
    }
    throw new TypeError(`${label}${name} is unknown: the options are ${known.join(', ')}.`)
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

/** Methods of Mastra's client that this one does not have. */
export const REFUSED_METHODS = {
  authenticate:
    'handle onRedirect of createOAuthProvider, and call finishAuth(server, query) with the query of the redirect',
  cancelAuthentication: 'leave it out: a sign-in expires by itself after an hour',
  getServerAuthState: 'errors[server]?.code is UNAUTHORIZED while a server needs its user to sign in',
  getServerStderr: 'pass a transport for this server, and manage its process yourself',
  toMCPServerProxies: 'serve the tools on: new MCPServer({ …, tools: await client.listTools() })',
} as const

export function refusedMethod(name: keyof typeof REFUSED_METHODS): never {
  throw new TypeError(`MCPClient has no ${name}(): ${REFUSED_METHODS[name]}.`)
}
