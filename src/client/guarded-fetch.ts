/**
 * Every request of the client to a server passes here, also for OAuth. Checks where it may go and what it may carry there, and limits
 * the response.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import { limitBody, withFilter } from './body-limit.ts'
import type { HttpServerConfig } from './config.ts'
import { withDeadline } from './deadline.ts'
import { SignInRefused } from './errors.ts'
import { limitEvents } from './event-limit.ts'
import type { Exchanges } from './exchanges.ts'
import { isOwn, mayReach } from './reach.ts'

export interface FetchLimits {
  readonly maxResponseBytes: number
  /** Milliseconds for a request without a signal; the requests of OAuth have none. */
  readonly timeoutMs: number
  /** Ends these requests, too. */
  readonly ended: AbortSignal
}

/** Maximum bytes of metadata, registrations and tokens, which are stored. */
const MAX_OAUTH_BYTES = 256 * 1024

/** MCP 2025-11-25, "Session Management"; the limit of 2048 characters is Mayfly's. */
const SESSION_ID = /^[\x21-\x7e]{1,2048}$/

/**
 * Creates a `fetch` that sends `headers` and `requestInit` only to the server's own origin; requests to other origins need the
 * permission of `mayReach`. Bodies over the limits are cut off.
 */
export function createGuardedFetch(
  config: HttpServerConfig,
  limits: FetchLimits,
  exchanges: Exchanges,
): FetchLike {
  const server = new URL(config.url)
  // Called as a function: some platforms' own `fetch` fails with another `this`.
  const { fetch: ask = (url, init) => fetch(url, init) } = config
  return async (input, init = {}) => {
    const url = new URL(input)
    const isOwnOrigin = isOwn(url, server)
    if (!isOwnOrigin && !mayReach(url, server)) {
      throw new SignInRefused(
        `it names ${url.origin}: a server at ${server.origin} may not send this client there`,
      )
    }
    const headers = new Headers(init.headers)
    const tag = exchanges.untag(headers)
    const own = isOwnOrigin ? withOwn(config, init, headers) : { ...init, headers }
    if (init.signal === undefined || init.signal === null) return askWithin(ask, url, own, limits)
    const response = await ask(url, own)
    checkSession(response)
    // Only then does the official client read single events; other bodies it reads as a whole.
    const isRead = response.ok && response.status !== 202 && (tag !== undefined || init.method !== 'POST')
    const filter =
      isRead && isEventStream(response)
        ? limitEvents(limits.maxResponseBytes, exchanges.watcher(tag, headers.get('last-event-id')))
        : limitBody(limits.maxResponseBytes)
    return withFilter(response, filter)
  }
}

/** Exactly what the official client treats as an event stream: it would read anything else as a whole. */
function isEventStream({ headers }: Response): boolean {
  return /^text\/event-stream *(?:;[^,]*)?$/i.test(headers.get('content-type') ?? '')
}

/** Merges the user's headers and options with those of the request, which take precedence. */
function withOwn(
  { headers, requestInit }: HttpServerConfig,
  init: RequestInit,
  needed: Headers,
): RequestInit {
  const merged = new Headers(requestInit?.headers)
  for (const [name, value] of Object.entries(headers ?? {})) merged.set(name, value)
  for (const [name, value] of needed) merged.set(name, value)
  return { ...requestInit, ...init, headers: merged }
}

/** Sends a request, and reads the complete response within the time. */
function askWithin(
  ask: FetchLike,
  url: URL,
  init: RequestInit,
  { maxResponseBytes, timeoutMs, ended }: FetchLimits,
): Promise<Response> {
  const deadline = {
    timeoutMs,
    signals: [ended],
    onTimeout: () => new Error(`${url.origin} did not answer within ${timeoutMs} ms`),
  }
  return withDeadline(deadline, async (signal) => {
    const maxBytes = Math.min(maxResponseBytes, MAX_OAUTH_BYTES)
    const limited = withFilter(await ask(url, { ...init, signal }), limitBody(maxBytes))
    if (limited.body === null) return limited
    const { status, statusText, headers } = limited
    return new Response(await limited.arrayBuffer(), { status, statusText, headers })
  })
}

function checkSession({ headers }: Response): void {
  const id = headers.get('mcp-session-id')
  if (id !== null && !SESSION_ID.test(id)) {
    throw new Error('its session id is too long, or has characters that the protocol does not allow')
  }
}
