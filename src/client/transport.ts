/** One connection to one server: which transport, which era, and how it ends. */
import {
  type AuthProvider,
  Client,
  type ClientCapabilities,
  type OAuthClientProvider,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { textOf } from '../definition/error-text.ts'
import { Channel } from './channel.ts'
import { type HttpServerConfig, MAX_TIMEOUT_MS, type ServerConfig } from './config.ts'
import { withDeadline } from './deadline.ts'
import { MCPClientError } from './errors.ts'
import { Exchanges } from './exchanges.ts'
import { createGuardedFetch, type FetchLimits } from './guarded-fetch.ts'
import type { SignInProvider } from './oauth.ts'
import { outputValidator } from './output-schema.ts'
import { createReconnection } from './reconnection.ts'
import { createSafeProvider } from './safe-provider.ts'
import { createStdioTransport } from './stdio.ts'

export interface ConnectOptions extends FetchLimits {
  readonly clientInfo: { readonly name: string; readonly version: string }
  readonly capabilities: ClientCapabilities
  readonly callKey: symbol
  /** Told in words what the server does that it should not. */
  report(what: string, operation: string): void
  /** Told of what was given up and is still ending. */
  closing(closed: Promise<void>): void
  /** Registers handlers on each client that is tried. */
  prepare(client: Client, channel: Channel): void
}

/** Pages of a list that are followed before it counts as endless. */
const MAX_PAGES = 100
/** A process that says nothing to `server/discover` this long is asked to `initialize` instead. */
const STDIO_PROBE_MS = 5000
/** How long a session, and then a connection, may take to end. */
const GOODBYE_MS = 2500
/** The same of a process, which is asked in several ways. */
const PROCESS_GOODBYE_MS = 10_000

/**
 * Connects in the newest dialect the server has: modern, else legacy, and over HTTP+SSE where it refuses POST with 400, 404 or
 * 405 (MCP 2025-11-25, "Backwards Compatibility").
 */
export async function connect(
  server: string,
  config: ServerConfig,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Client> {
  if ('transport' in config) return attemptProcess(async () => config.transport(), options, signal)
  if ('command' in config) {
    return attemptProcess(
      () => createStdioTransport(server, config, options.maxResponseBytes),
      options,
      signal,
    )
  }
  const url = new URL(config.url)
  const exchanges = new Exchanges()
  const init = toTransportOptions(config, options, exchanges)
  const open = (transport: Transport, mode: 'auto' | 'legacy'): Promise<Client> =>
    attempt(createChannel(transport, options, exchanges), mode, options, signal)
  try {
    return await open(new StreamableHTTPClientTransport(url, init), 'auto')
  } catch (error) {
    if (!refusesPost(error)) throw error
    return open(new SSEClientTransport(url, init), 'legacy').catch((other: Error) => {
      // There the user is on the way to sign in.
      if (other instanceof UnauthorizedError || signal.aborted) throw other
      throw new AggregateError([error, other], `${textOf(error)}; over HTTP+SSE: ${other.message}`)
    })
  }
}

function createChannel(transport: Transport, options: ConnectOptions, exchanges?: Exchanges): Channel {
  const { callKey, maxResponseBytes, report } = options
  return new Channel(transport, { callKey, maxResponseBytes, report, exchanges })
}

/** Some processes end when they are asked for their dialect: those are legacy ones, and another is started. */
async function attemptProcess(
  make: () => Promise<Transport>,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Client> {
  const channel = createChannel(await make(), options)
  try {
    return await attempt(channel, 'auto', options, signal)
  } catch (error) {
    if (!channel.hasEnded || !('pid' in channel) || signal.aborted) throw error
    return attempt(createChannel(await make(), options), 'legacy', options, signal)
  }
}

async function attempt(
  channel: Channel,
  mode: 'auto' | 'legacy',
  { clientInfo, capabilities, timeoutMs, closing, prepare }: ConnectOptions,
  signal: AbortSignal,
): Promise<Client> {
  signal.throwIfAborted()
  const isProcess = 'pid' in channel
  const client = new Client(clientInfo, {
    capabilities,
    listMaxPages: MAX_PAGES,
    jsonSchemaValidator: outputValidator,
    versionNegotiation: {
      mode,
      ...(isProcess && { probe: { timeoutMs: Math.min(STDIO_PROBE_MS, timeoutMs / 2) } }),
    },
  })
  prepare(client, channel)
  const close = (): void => closing(channel.close().catch(() => {}))
  // Ends a probe and an SSE handshake, which listen to no signal.
  signal.addEventListener('abort', close, { once: true })
  try {
    await client.connect(channel, { signal, timeout: MAX_TIMEOUT_MS })
    return client
  } catch (error) {
    close()
    throw error
  } finally {
    signal.removeEventListener('abort', close)
  }
}

function refusesPost(error: unknown): boolean {
  return error instanceof SdkHttpError && [400, 404, 405].includes(error.data.status)
}

/** Headers are left to our own `fetch`: the official client would send them wherever the server says. */
function toTransportOptions(config: HttpServerConfig, limits: FetchLimits, exchanges: Exchanges) {
  const { authProvider, token, requestInit, url } = config
  const redirect = requestInit?.redirect
  const provider = authProvider === undefined ? tokenProvider(token) : createSafeProvider(authProvider, url)
  return {
    fetch: createGuardedFetch(config, limits, exchanges),
    reconnectionScheduler: createReconnection(),
    ...(redirect !== undefined && redirect !== 'follow' && { requestInit: { redirect } }),
    ...(provider !== undefined && { authProvider: provider }),
  }
}

function tokenProvider(token: HttpServerConfig['token']): AuthProvider | undefined {
  if (token === undefined) return undefined
  return { token: async () => (typeof token === 'string' ? token : token()) }
}

/** Exchanges the code of a redirect for tokens. */
export async function finishAuth(
  server: string,
  config: ServerConfig,
  callback: URLSearchParams,
  limits: FetchLimits,
): Promise<void> {
  const options = 'url' in config ? toTransportOptions(config, limits, new Exchanges()) : undefined
  const provider = options?.authProvider
  if (!('url' in config) || provider === undefined || !('redirectToAuthorization' in provider)) {
    throw new TypeError(`servers.${server} has no authProvider that signs users in.`)
  }
  const authProvider = isSignIn(provider) ? await provider.finishing(callback) : provider
  if (authProvider === undefined) {
    throw new MCPClientError(
      'UNAUTHORIZED',
      `The redirect does not belong to a sign-in that was started for MCP server "${server}": start the sign-in again.`,
      { server, operation: 'authorize' },
    )
  }
  await new StreamableHTTPClientTransport(new URL(config.url), { ...options, authProvider }).finishAuth(
    callback,
  )
}

const isSignIn = (provider: OAuthClientProvider): provider is SignInProvider => 'finishing' in provider

/** Ends the session, where there is one, and the connection. Never rejects, and takes no longer than 5 seconds; a process 10. */
export async function disconnect(client: Client): Promise<void> {
  const { transport } = client
  const inner = transport instanceof Channel ? transport.inner : undefined
  const deadline = { timeoutMs: GOODBYE_MS, onTimeout: () => new Error('No goodbye.') }
  // A session that is not ended stays on its server until it expires.
  if (inner instanceof StreamableHTTPClientTransport && inner.sessionId !== undefined) {
    await withDeadline(deadline, () => inner.terminateSession()).catch(() => {})
  }
  const timeoutMs = inner !== undefined && 'pid' in inner ? PROCESS_GOODBYE_MS : GOODBYE_MS
  await withDeadline({ ...deadline, timeoutMs }, () => client.close()).catch(() => {})
}

/** Whether the server has forgotten the session, and has done nothing: it says so with 404 (MCP 2025-11-25, "Session Management"). */
export function isSessionLost(client: Client, error: unknown): boolean {
  return hasSession(client) && error instanceof SdkHttpError && error.data.status === 404
}

/** Whether that may be: servers after the official SDK's first examples answer 400, as others do for other reasons. */
export function isSessionUnknown(client: Client, error: unknown): boolean {
  if (!hasSession(client) || !(error instanceof SdkHttpError)) return false
  const { status, text } = error.data
  return status === 400 && /session/i.test(String(text))
}

const hasSession = ({ transport }: Client): boolean => transport?.sessionId !== undefined
