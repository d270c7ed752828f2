/** Sends webhooks by `fetch`, signed as in Standard Webhooks, and verifies endpoints (SEP-3415, "Webhook Security"). */
import { fromBase64, toBase64, toBase64Url } from '../definition/base64.ts'
import { boundedFetch, FetchFault, isRedirect } from '../definition/bounded-fetch.ts'
import { isSameDigest, sha256 } from '../definition/digest.ts'
import { isA } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import type { EventSender, PostOutcome, SignHeaders, VerifyEndpoint } from './contract.ts'
import { isAccepted, toDeliveryError } from './outcome.ts'

const PREFIX = 'whsec_'
const MIN_SECRET_BYTES = 24
const MAX_SECRET_BYTES = 64
const MAX_URL_CHARACTERS = 2048
const MAX_CHALLENGE_BYTES = 4096
const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const

/** @throws ProtocolError `-32602` for what is not `whsec_` and 24 to 64 bytes in base64. */
export function checkSecret(secret: unknown): string {
  if (typeof secret === 'string' && bytesOf(secret) !== undefined) return secret
  throw invalidParams(
    `Invalid params: "delivery.secret" must be "${PREFIX}" and ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes in base64.`,
  )
}

function bytesOf(secret: string): Uint8Array<ArrayBuffer> | undefined {
  const text = secret.slice(PREFIX.length)
  if (!secret.startsWith(PREFIX) || !/^[A-Za-z0-9+/]{1,88}={0,2}$/.test(text)) return undefined
  try {
    const bytes = fromBase64(text)
    return bytes.length >= MIN_SECRET_BYTES && bytes.length <= MAX_SECRET_BYTES ? bytes : undefined
  } catch {
    return undefined
  }
}

/** @throws ProtocolError `-32602` for a URL that may not receive webhooks. */
export function checkCallbackUrl(
  given: unknown,
  {
    allowLoopback,
    allowedOrigins,
  }: { readonly allowLoopback: boolean; readonly allowedOrigins: readonly string[] },
): URL {
  const refuse = (must: string): never => {
    throw invalidParams(`Invalid params: "delivery.url" must ${must}.`)
  }
  if (typeof given !== 'string' || given.length > MAX_URL_CHARACTERS || !URL.canParse(given))
    return refuse(`be a URL of at most ${MAX_URL_CHARACTERS} characters`)
  const url = new URL(given)
  if (url.username !== '' || url.password !== '' || given.includes('#'))
    return refuse('have no credentials and no fragment')
  if (allowLoopback && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname) && isHttp(url)) return url
  if (url.protocol !== 'https:') return refuse('begin with https://')
  if (allowedOrigins.length > 0) {
    if (!allowedOrigins.includes(url.origin)) return refuse('be of an origin that this server allows')
    return url
  }
  // Names that only a private network has, and addresses, which certificates of public services do not have.
  if (
    !/\.[a-z][a-z0-9-]*\.?$/.test(url.hostname) ||
    /\.(?:localhost|local|internal|home\.arpa)\.?$/.test(url.hostname)
  )
    return refuse('have a public host name')
  return url
}

const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'

export const signHeaders: SignHeaders = async (secrets, webhookId, timestampSeconds, body) => {
  const content = new TextEncoder().encode(`${webhookId}.${timestampSeconds}.${body}`)
  const signatures = await Promise.all(
    secrets
      .flatMap((secret) => bytesOf(secret) ?? [])
      .map(async (bytes) => {
        const key = await crypto.subtle.importKey('raw', bytes, HMAC, false, ['sign'])
        return `v1,${toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, content)))}`
      }),
  )
  return {
    'content-type': 'application/json',
    'webhook-id': webhookId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  }
}

/** The identifier of a body other than an event: 128 random bits. */
export const messageId = (type: string): string => `msg_${type}_${random()}`

const random = (): string => toBase64Url(crypto.getRandomValues(new Uint8Array(16)))

export const verifyEndpoint: VerifyEndpoint = async (
  sender,
  { url, subscriptionId, secrets, timeoutMs, signal },
) => {
  const challenge = random()
  const body = JSON.stringify({ type: 'verification', challenge })
  const signed = await signHeaders(secrets, messageId('verification'), Math.floor(Date.now() / 1000), body)
  const headers = { ...signed, 'x-mcp-subscription-id': subscriptionId }
  const limits = { timeoutMs, maxBodyBytes: MAX_CHALLENGE_BYTES, signal }
  const outcome = await sender.post(url, { headers, body }, limits)
  const isTooLong = 'failure' in outcome && outcome.failure === 'too-large'
  if (!isAccepted(outcome) && !isTooLong) {
    return { isVerified: false, reason: toDeliveryError(outcome) }
  }
  const answer = 'status' in outcome ? parse(outcome.body) : undefined
  const echoed = isObject(answer) && typeof answer.challenge === 'string' ? answer.challenge : ''
  return isSameDigest(await sha256(echoed), await sha256(challenge))
    ? { isVerified: true }
    : { isVerified: false, reason: 'challenge_failed' }
}

function parse(text = ''): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends by the global `fetch`: without redirects, and with a limit of time. It cannot check the address that it connects to. */
export function createFetchSender(): EventSender {
  return {
    async post(url, { headers, body }, { timeoutMs, signal, maxBodyBytes }): Promise<PostOutcome> {
      try {
        const answer = await boundedFetch(
          url,
          { method: 'POST', headers, body },
          {
            timeoutMs,
            signal,
            maxBytes: maxBodyBytes ?? 0,
            isRead: (status) => maxBodyBytes !== undefined && !isRedirect(status),
          },
        )
        if (isRedirect(answer.status)) return { failure: 'redirect' }
        const retryAfterMs = readRetryAfter(answer.headers.get('retry-after'))
        return {
          status: answer.status,
          ...(retryAfterMs !== undefined && isTemporary(answer.status) && { retryAfterMs }),
          ...(maxBodyBytes !== undefined && { body: answer.text }),
        }
      } catch (error) {
        signal?.throwIfAborted()
        if (!isA(error, FetchFault)) return { failure: 'other' }
        if (error.reason === 'too-large') return { failure: 'too-large' }
        return { failure: error.reason === 'too-late' ? 'timeout' : 'refused' }
      }
    },
  }
}

const isTemporary = (status: number): boolean => status === 429 || status === 503

/** Seconds or a date (RFC 9110 §10.2.3). */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
