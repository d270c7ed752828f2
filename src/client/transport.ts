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
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker'
import { type HttpServerConfig, MAX_TIMEOUT_MS, type ServerConfig } from './config.ts'
import { withDeadline } from './deadline.ts'
import { MCPClientError } from './errors.ts'
import type { StatefulOAuthProvider } from './oauth.ts'
import { createStdioTransport } from './stdio.ts'

export interface ConnectOptions {
  readonly clientInfo: { readonly name: string; readonly version: string }
  readonly capabilities: ClientCapabilities
  readonly timeoutMs: number
  /** Registers handlers on each client that is tried. */
  prepare(client: Client): void
}

/** Pages of a list that are followed before it counts as endless. */
const MAX_PAGES = 100
/** A process that says nothing to `server/discover` this long is asked to `initialize` instead. */
const STDIO_PROBE_MS = 5000
/** How long a session, and then a connection, may take to end. */
const GOODBYE_MS = 2500

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
  if ('transport' in config) return attempt(await config.transport(), 'auto', options, signal)
  if ('command' in config) {
    return attempt(await createStdioTransport(server, config), 'auto', options, signal)
  }
  const [url, init] = [new URL(config.url), toTransportOptions(config)]
  try {
    return await attempt(new StreamableHTTPClientTransport(url, init), 'auto', options, signal)
  } catch (error) {
    if (!refusesPost(error)) throw error
    return attempt(new SSEClientTransport(url, init), 'legacy', options, signal).catch((other: Error) => {
      // There the user is on the way to sign in.
      if (other instanceof UnauthorizedError || signal.aborted) throw other
      throw new AggregateError([error, other], `${messageOf(error)}; over HTTP+SSE: ${other.message}`)
    })
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function attempt(
  transport: Transport,
  mode: 'auto' | 'legacy',
  { clientInfo, capabilities, timeoutMs, prepare }: ConnectOptions,
  signal: AbortSignal,
): Promise<Client> {
  signal.throwIfAborted()
  const isProcess = 'pid' in transport
  const client = new Client(clientInfo, {
    capabilities,
    listMaxPages: MAX_PAGES,
    // The other one compiles functions from what a server sends, which edge platforms forbid.
    jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
    versionNegotiation: {
      mode,
      ...(isProcess && { probe: { timeoutMs: Math.min(STDIO_PROBE_MS, timeoutMs / 2) } }),
    },
  })
  prepare(client)
  const close = (): void => void transport.close().catch(() => {})
  // Ends a probe and an SSE handshake, which listen to no signal.
  signal.addEventListener('abort', close, { once: true })
  try {
    await client.connect(transport, { signal, timeout: MAX_TIMEOUT_MS })
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

function toTransportOptions({ fetch, headers, requestInit, authProvider, token }: HttpServerConfig) {
  const merged = new Headers(requestInit?.headers)
  for (const [name, value] of Object.entries(headers ?? {})) merged.set(name, value)
  const provider = authProvider ?? tokenProvider(token)
  return {
    requestInit: { ...requestInit, headers: merged },
    ...(fetch !== undefined && { fetch }),
    ...(provider !== undefined && { authProvider: provider }),
  } satisfies { requestInit: RequestInit; authProvider?: AuthProvider | OAuthClientProvider }
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
): Promise<void> {
  const provider = 'url' in config ? config.authProvider : undefined
  if (!('url' in config) || provider === undefined || !('redirectToAuthorization' in provider)) {
    throw new TypeError(`servers.${server} has no authProvider that signs users in.`)
  }
  const isForged = isStateful(provider) && !(await provider.takeState(callback))
  if (isForged) {
    throw new MCPClientError(
      'UNAUTHORIZED',
      `The redirect does not answer the sign-in that was begun for MCP server "${server}": begin it again.`,
      { server, operation: 'authorize' },
    )
  }
  await new StreamableHTTPClientTransport(new URL(config.url), toTransportOptions(config)).finishAuth(
    callback,
  )
}

const isStateful = (provider: OAuthClientProvider): provider is StatefulOAuthProvider =>
  'takeState' in provider

/** Ends the session, where there is one, and the connection. Never rejects, and takes no longer than 5 seconds. */
export async function hangUp(client: Client): Promise<void> {
  const { transport } = client
  const deadline = { timeoutMs: GOODBYE_MS, onTimeout: () => new Error('No goodbye.') }
  // A session that nobody ends stays with its server until it expires.
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    await withDeadline(deadline, () => transport.terminateSession()).catch(() => {})
  }
  await withDeadline(deadline, () => client.close()).catch(() => {})
}

/**
 * Whether the server has forgotten the session. It says so with 404 (MCP 2025-11-25, "Session Management"); servers after the
 * official SDK's first examples, with 400.
 */
export function isSessionLost(client: Client, error: unknown): boolean {
  if (!(error instanceof SdkHttpError) || client.transport?.sessionId === undefined) return false
  const { status, text } = error.data
  return status === 404 || (status === 400 && /session/i.test(String(text)))
}
