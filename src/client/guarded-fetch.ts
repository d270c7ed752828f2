/**
 * What every request of the client to a server goes through, those of OAuth included: where it may go, what of the client's it
 * may carry there, and how much of the answer is taken.
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
  /** How long a request without a signal may take, in milliseconds; requests of OAuth have no signal. */
  readonly timeoutMs: number
  /** Ends them too. */
  readonly ended: AbortSignal
}

/** Of metadata, registrations and tokens, which are kept. */
const MAX_OAUTH_BYTES = 256 * 1024

/** MCP 2025-11-25, "Session Management"; the length is ours. */
const SESSION_ID = /^[\x21-\x7e]{1,2048}$/

/**
 * `headers` and `requestInit` go to the server's own origin alone; what is asked of another has to be allowed by `mayReach`.
 * Bodies are cut off where they exceed the limits.
 */
export function createGuardedFetch(
  config: HttpServerConfig,
  limits: FetchLimits,
  exchanges: Exchanges,
): FetchLike {
  const server = new URL(config.url)
  // Called as a function alone: some platforms' own refuses another `this`.
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
    // Only then does the official client read event by event; anything else it reads as a whole.
    const isRead = response.ok && response.status !== 202 && (tag !== undefined || init.method !== 'POST')
    const filter =
      isRead && isEventStream(response)
        ? limitEvents(limits.maxResponseBytes, exchanges.watcher(tag, headers.get('last-event-id')))
        : limitBody(limits.maxResponseBytes)
    return withFilter(response, filter)
  }
}

/** No more than the official client takes for one: it would read the rest as a whole. */
function isEventStream({ headers }: Response): boolean {
  return /^text\/event-stream *(?:;[^,]*)?$/i.test(headers.get('content-type') ?? '')
}

/** The caller's own beneath what the request has. */
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

/** Asks, and reads the complete response within the time. */
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
