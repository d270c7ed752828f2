/** Sends every request of the client to a server, including OAuth. Checks the target and the credentials, and limits the response. */
import type { FetchLike } from '@modelcontextprotocol/client'
import { decodingLimit } from '../definition/decoding-limit.ts'
import { isOwn, mayReach } from './allowed-urls.ts'
import { limitBody, withFilter } from './body-limit.ts'
import type { HttpServerConfig } from './config.ts'
import { withDeadline } from './deadline.ts'
import { SignInRefused } from './errors.ts'
import { limitEvents } from './event-limit.ts'
import type { Exchanges } from './exchanges.ts'
import { printableDocument } from './oauth-document.ts'
import { createRedirects } from './redirects.ts'
import type { Secrets } from './secrets.ts'

export interface FetchLimits {
  readonly maxResponseBytes: number
  /** Milliseconds for a request without a signal, such as OAuth requests, and for a message that is answered elsewhere. */
  readonly timeoutMs: number
  /** Ends these requests, too. */
  readonly ended: AbortSignal
  /** Learns what is sent and issued. */
  readonly secrets: Secrets
}

/** Maximum bytes of metadata, registrations and tokens, which are stored. */
const MAX_OAUTH_BYTES = 256 * 1024

/** MCP 2025-11-25, "Session Management"; the limit of 2048 characters is Mayfly's. */
const SESSION_ID = /^[\x21-\x7e]{1,2048}$/

/** The platform's own `fetch`, for the `fetch` of a configuration. Called as a function: some fail with another `this`. */
export const platformFetch: FetchLike = (url, init) => fetch(url, init)

/**
 * Creates a `fetch` that sends `headers` and `requestInit` only to the server's own origin; requests to other origins need the
 * permission of `mayReach`. Bodies over the limits fail.
 */
export function createGuardedFetch(
  config: HttpServerConfig,
  limits: FetchLimits,
  exchanges: Exchanges,
): FetchLike {
  const server = new URL(config.url)
  const { fetch: given } = config
  const send: FetchLike = (url, init) => {
    const limited = { ...init, ...decodingLimit(init) }
    return given === undefined
      ? platformFetch(url, limited)
      : given(url, { ...limited, headers: spreadable(init?.headers) })
  }
  const redirects = createRedirects(server)
  const ask = async (url: string | URL, init: RequestInit = {}): Promise<Response> =>
    redirects.noted(new URL(url), init.body, await send(url, init))
  return async (input, init = {}) => {
    const url = redirects.targetOf(new URL(input))
    const isOwnOrigin = isOwn(url, server)
    if (!isOwnOrigin && !mayReach(url, server)) {
      throw new SignInRefused(`it refers to ${url.origin}, which a server at ${server.origin} may not do`)
    }
    const headers = new Headers(init.headers)
    const tag = exchanges.untag(headers)
    const own = isOwnOrigin ? withOwn(config, init, headers) : { ...init, headers }
    if (init.signal === undefined || init.signal === null) return askWithin(ask, url, own, limits)
    if (tag === undefined && init.method === 'POST') return sendWithin(ask, url, own, limits)
    const response = await ask(url, own)
    checkSession(response)
    // Only then the official client reads single events. It reads other bodies of a POST as a whole, and none of other methods.
    const isRead = response.ok && response.status !== 202 && isEventStream(response)
    if (!isRead && init.method !== 'POST') return withoutBody(response)
    const filter = isRead
      ? limitEvents(limits.maxResponseBytes, exchanges.watcher(tag, headers.get('last-event-id')))
      : limitBody(limits.maxResponseBytes)
    return withFilter(response, filter)
  }
}

/** Headers that can also be spread, `{ ...init.headers }`: those of a plain `Headers` would silently be lost. */
function spreadable(headers: RequestInit['headers']): Headers {
  const own = new Headers(headers)
  for (const [name, value] of own) if (!(name in own)) Object.assign(own, { [name]: value })
  return own
}

/** Exactly what the official client treats as an event stream; it reads anything else as a whole. */
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
  { maxResponseBytes, timeoutMs, ended, secrets }: FetchLimits,
): Promise<Response> {
  secrets.learnFrom(init.body)
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
    const safe = printableDocument(await limited.text(), limited.ok, secrets)
    return new Response(safe, { status, statusText, headers })
  })
}

/**
 * Sends a message that is not answered here: a notification, an answer to the server, or anything over HTTP+SSE. A missing acknowledgement
 * is not an error, since no caller waits for it and a call has its own deadline.
 */
async function sendWithin(
  ask: FetchLike,
  url: URL,
  init: RequestInit,
  { maxResponseBytes, timeoutMs }: FetchLimits,
): Promise<Response> {
  const late = new Error(`${url.origin} did not accept the message within ${timeoutMs} ms`)
  const deadline = { timeoutMs, signals: [init.signal ?? undefined], onTimeout: () => late }
  try {
    return await withDeadline(deadline, async (signal) => {
      const response = await ask(url, { ...init, signal })
      checkSession(response)
      return response.ok ? withoutBody(response) : await readWhole(response, maxResponseBytes)
    })
  } catch (error) {
    if (error === late) return new Response(null, { status: 202 })
    throw error
  }
}

/** A caller that does not read the body may not close it either, which would keep the connection open. */
function withoutBody(response: Response): Response {
  const { status, statusText, headers, body } = response
  if (body === null) return response
  // Not awaited: some platforms never settle this if the server keeps sending.
  body.cancel().catch(() => {})
  return new Response(null, { status, statusText, headers })
}

async function readWhole(response: Response, maxBytes: number): Promise<Response> {
  const limited = withFilter(response, limitBody(maxBytes))
  if (limited.body === null) return limited
  const { status, statusText, headers } = limited
  return new Response(await limited.arrayBuffer(), { status, statusText, headers })
}

function checkSession({ headers }: Response): void {
  const id = headers.get('mcp-session-id')
  if (id !== null && !SESSION_ID.test(id)) {
    throw new Error('its session id is too long, or has characters that the protocol does not allow')
  }
}
