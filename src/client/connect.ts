/** One connection to one server: its transport, its era, and its end. */
import {
  type AuthProvider,
  Client,
  type ClientCapabilities,
  type OAuthClientProvider,
  type PriorDiscovery,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { isA, textOf } from '../definition/error-text.ts'
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import { Channel } from './channel.ts'
import type { HttpServerConfig, ServerConfig } from './config.ts'
import { withDeadline } from './deadline.ts'
import { MCPClientError } from './errors.ts'
import { Exchanges } from './exchanges.ts'
import { createGuardedFetch, type FetchLimits } from './guarded-fetch.ts'
import type { SignInProvider } from './oauth.ts'
import { outputValidator } from './output-schema.ts'
import { createReconnection } from './reconnection.ts'
import { ResponseCache } from './response-cache.ts'
import { createSafeProvider, toFinishing } from './safe-provider.ts'
import { learnFromProvider } from './secrets.ts'
import { createStdioTransport } from './stdio.ts'
import { shareRefreshes } from './token-refresh.ts'

export interface ConnectOptions extends FetchLimits {
  readonly clientInfo: { readonly name: string; readonly version: string }
  readonly capabilities: ClientCapabilities
  readonly callKey: symbol
  readonly allowsTasks: boolean
  /** Whether all requests are of one caller. */
  readonly hasOneCaller: boolean
  /** Whether questions of modern servers are passed on unchanged. */
  readonly isRelay: boolean
  readonly prior: PriorDiscovery | undefined
  /** Called with a description of the server's violations. */
  report(what: string, operation: string): void
  /** Called with the promise of an abandoned connection that is still closing. */
  closing(closed: Promise<void>): void
  /** Registers handlers on each client that is tried. */
  prepare(client: Client, channel: Channel): void
}

/** Maximum pages of a list; with more it counts as endless. */
export const MAX_PAGES = 100
/** Milliseconds that a process has to answer `server/discover`; after that, `initialize` is tried. */
const STDIO_PROBE_MS = 5000
/** Milliseconds for ending a session, and then again for closing the connection. */
const GOODBYE_MS = 2500
/** The same for a process, which is ended in several steps. */
const PROCESS_GOODBYE_MS = 10_000

/**
 * Connects in the newest protocol that the server supports: modern, else legacy, or HTTP+SSE if it refuses POST with 400, 404 or
 * 405 (MCP 2025-11-25, "Backwards Compatibility"). If `signal` aborts, even after this resolved, the connection is closed.
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
    return open(new SSEClientTransport(url, init), 'legacy').catch((other: unknown) => {
      // The user is already signing in.
      if (isA(other, UnauthorizedError) || signal.aborted) throw other
      throw new AggregateError([error, other], `${textOf(error)}; over HTTP+SSE: ${textOf(other)}`)
    })
  }
}

function createChannel(transport: Transport, options: ConnectOptions, exchanges?: Exchanges): Channel {
  const { callKey, maxResponseBytes, allowsTasks, isRelay, report } = options
  return new Channel(transport, { callKey, maxResponseBytes, allowsTasks, isRelay, report, exchanges })
}

/** Some legacy processes exit when they receive `server/discover`; then another one is started. */
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
  {
    clientInfo,
    capabilities,
    timeoutMs,
    maxResponseBytes,
    hasOneCaller,
    prior,
    closing,
    prepare,
  }: ConnectOptions,
  signal: AbortSignal,
): Promise<Client> {
  signal.throwIfAborted()
  const isProcess = 'pid' in channel
  const client = new Client(clientInfo, {
    capabilities,
    listMaxPages: MAX_PAGES,
    jsonSchemaValidator: outputValidator,
    responseCacheStore: new ResponseCache(maxResponseBytes, hasOneCaller),
    versionNegotiation: {
      mode,
      ...(isProcess && { probe: { timeoutMs: Math.min(STDIO_PROBE_MS, timeoutMs / 2) } }),
    },
  })
  prepare(client, channel)
  let isConnected = false
  const close = (): void => closing(isConnected ? disconnect(client) : channel.close().catch(() => {}))
  // Also ends a probe and an SSE handshake, which do not use the signal, and a connection whose caller no longer waits.
  signal.addEventListener('abort', close, { once: true })
  try {
    const known = mode === 'auto' && prior !== undefined ? { prior } : {}
    await client.connect(channel, { signal, timeout: MAX_TIMER_MS, ...known })
    isConnected = true
    return client
  } catch (error) {
    signal.removeEventListener('abort', close)
    close()
    throw error
  }
}

function refusesPost(error: unknown): boolean {
  return isA(error, SdkHttpError) && [400, 404, 405].includes(error.data.status)
}

/** Headers are set by this client's `fetch`: the official client would also send them to other origins of the server's choice. */
function toTransportOptions(config: HttpServerConfig, limits: FetchLimits, exchanges: Exchanges) {
  const { authProvider, token, requestInit, url } = config
  const redirect = requestInit?.redirect
  const safe = authProvider === undefined ? tokenProvider(token) : createSafeProvider(authProvider, url)
  const guarded = createGuardedFetch(config, limits, exchanges)
  const isSignedIn = safe !== undefined && 'redirectToAuthorization' in safe
  const { provider, fetch } = isSignedIn
    ? shareRefreshes(safe, authProvider ?? safe, guarded, limits)
    : { provider: safe, fetch: guarded }
  return {
    fetch,
    reconnectionScheduler: createReconnection(),
    ...(redirect !== undefined && redirect !== 'follow' && { requestInit: { redirect } }),
    ...(provider !== undefined && { authProvider: learnFromProvider(provider, limits.secrets) }),
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
  limits.secrets.learnFrom(callback)
  const options = 'url' in config ? toTransportOptions(config, limits, new Exchanges()) : undefined
  const provider = options?.authProvider
  if (!('url' in config) || provider === undefined || !('redirectToAuthorization' in provider)) {
    throw new TypeError(`servers.${server} has no authProvider for signing users in.`)
  }
  const authProvider = isSignIn(provider)
    ? await provider.finishing(callback)
    : toFinishing(provider, config.authProvider ?? {})
  if (authProvider === undefined) {
    throw new MCPClientError(
      'UNAUTHORIZED',
      `The redirect does not belong to a pending sign-in for MCP server "${server}": start the sign-in again.`,
      { server, operation: 'authorize' },
    )
  }
  await new StreamableHTTPClientTransport(new URL(config.url), { ...options, authProvider }).finishAuth(
    callback,
  )
}

const isSignIn = (provider: OAuthClientProvider): provider is SignInProvider => 'finishing' in provider

/** Ends the session, if there is one, and the connection. Never rejects, and takes at most 5 seconds; for a process 10. */
export async function disconnect(client: Client): Promise<void> {
  const { transport } = client
  const inner = transport instanceof Channel ? transport.inner : undefined
  const deadline = { timeoutMs: GOODBYE_MS, onTimeout: () => new Error('No goodbye.') }
  // Otherwise the session stays on its server until it expires.
  if (inner instanceof StreamableHTTPClientTransport && inner.sessionId !== undefined) {
    await withDeadline(deadline, () => inner.terminateSession()).catch(() => {})
  }
  const timeoutMs = inner !== undefined && 'pid' in inner ? PROCESS_GOODBYE_MS : GOODBYE_MS
  await withDeadline({ ...deadline, timeoutMs }, () => client.close()).catch(() => {})
}

/** Whether the server lost the session without doing anything, which it reports as 404 (MCP 2025-11-25, "Session Management"). */
export function isSessionLost(client: Client, error: unknown): boolean {
  return hasSession(client) && isA(error, SdkHttpError) && error.data.status === 404
}

/**
 * Whether the server may have lost the session: servers based on early examples of the official SDK answer 400, which others send for other
 * reasons.
 */
export function isSessionUnknown(client: Client, error: unknown): boolean {
  if (!hasSession(client) || !isA(error, SdkHttpError)) return false
  const { status, text } = error.data
  return status === 400 && /session/i.test(String(text))
}

const hasSession = ({ transport }: Client): boolean => transport?.sessionId !== undefined
