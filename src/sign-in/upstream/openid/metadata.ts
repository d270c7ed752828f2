/** The metadata of a provider (OpenID Connect Discovery 1.0), as one process remembers it. */
import * as oauth from 'oauth4webapi'
import { isSecureUrl } from '../../../auth/issuer.ts'
import { memberOf } from '../../../definition/error-text.ts'
import { pause } from '../../../definition/pause.ts'
import { setNewest } from '../../../definition/set-newest.ts'
import type { UpstreamFetch } from '../fetch.ts'
import { UpstreamFault } from '../upstream.ts'
import type { Provider } from './definition.ts'
import { requestOptions } from './library-options.ts'

/** `HS256` could be made with a value that is not secret, such as the public key; `none` with nothing. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

const METADATA_PATH = '/.well-known/openid-configuration'
const METADATA_MAX_AGE_MS = 600_000
/** For how long metadata is used if it cannot be fetched again. */
const METADATA_MAX_KEPT_MS = 86_400_000
/** After a failure. */
const FAILED_MS = 10_000
/** For how long a request that comes meanwhile leaves the question to the one that asks: that may have ended with its client. */
const LOOK_MS = 1000
/** In all, 5 seconds. */
const MAX_LOOKS = 100
/** Issuers by environment: each deployment has one. */
const MAX_ISSUERS = 8

export interface Known {
  readonly server: oauth.AuthorizationServer
  readonly fetchedAt: number
  readonly keys: oauth.JWKSCacheInput
}

export type Metadata = (provider: Provider) => Promise<Known>

interface Failure {
  readonly error: unknown
  /** Until then, nobody asks. */
  readonly until: number
}

/**
 * A provider that fails is asked by one request at a time, after a pause: all others fail at once, or use what was known before. Requests
 * look at what another has found, and never wait for its promise: on Workers, that would be the answer of another request.
 */
export function createMetadata(send: UpstreamFetch): Metadata {
  const known = new Map<string, Known>()
  const failures = new Map<string, Failure>()
  /** When somebody began to ask last. */
  const asking = new Map<string, number>()
  const current = (issuer: string): Known | undefined => {
    const found = known.get(issuer)
    return found !== undefined && Date.now() - found.fetchedAt < METADATA_MAX_AGE_MS ? found : undefined
  }
  const isAsked = (issuer: string): boolean => Date.now() - (asking.get(issuer) ?? 0) < LOOK_MS
  const ask = async (provider: Provider): Promise<Known> => {
    const { issuer } = provider
    setNewest(asking, issuer, Date.now(), MAX_ISSUERS)
    // Other requests do not wait while a provider that failed is asked again.
    const failure = failures.get(issuer)
    if (failure !== undefined) failures.set(issuer, { ...failure, until: Date.now() + FAILED_MS })
    try {
      const server = await discover(provider, send)
      const found = { server, fetchedAt: Date.now(), keys: known.get(issuer)?.keys ?? {} }
      setNewest(known, issuer, found, MAX_ISSUERS)
      failures.delete(issuer)
      return found
    } catch (error) {
      setNewest(failures, issuer, { error, until: Date.now() + FAILED_MS }, MAX_ISSUERS)
      throw error
    } finally {
      asking.delete(issuer)
    }
  }
  return async (provider) => {
    const { issuer } = provider
    const before = known.get(issuer)
    const isUsable = before !== undefined && Date.now() - before.fetchedAt < METADATA_MAX_KEPT_MS
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const found = current(issuer)
      if (found !== undefined) return found
      const failure = failures.get(issuer)
      const isPaused = failure !== undefined && failure.until > Date.now()
      if (isUsable && (isPaused || isAsked(issuer))) return before
      if (isPaused) throw failure.error
      if (!isAsked(issuer)) break
      await pause(LOOK_MS / 20)
    }
    try {
      return await ask(provider)
    } catch (error) {
      if (isUsable) return before
      throw error
    }
  }
}

async function discover(provider: Provider, send: UpstreamFetch): Promise<oauth.AuthorizationServer> {
  const { issuer, template } = provider
  const response = await oauth
    .discoveryRequest(new URL(issuer), requestOptions(provider, send))
    .catch(async (error: unknown) => {
      throw (await plainHttpFault(issuer, send)) ?? error
    })
  const server = await oauth.processDiscoveryResponse(new URL(template ?? issuer), response)
  for (const member of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const)
    if (!mayBeUsed(server[member], issuer))
      throw new UpstreamFault('answer_invalid', `The metadata of ${issuer} has no usable "${member}".`)
  // Endpoints that are not usable are not used.
  if (!mayBeUsed(server.userinfo_endpoint, issuer)) Reflect.deleteProperty(server, 'userinfo_endpoint')
  const listed = server.id_token_signing_alg_values_supported
  const algorithms = ALGORITHMS.filter((one) => listed?.includes(one) ?? one === 'RS256')
  return { ...server, id_token_signing_alg_values_supported: algorithms }
}

export const metadataUrlOf = (issuer: string): string => issuer.replace(/\/$/, '') + METADATA_PATH

/** An https issuer of a development server that answers http at the same port: asked without secrets, and the answer is not used. */
async function plainHttpFault(issuer: string, send: UpstreamFetch): Promise<UpstreamFault | undefined> {
  const url = new URL(issuer)
  if (url.protocol !== 'https:' || url.port === '') return undefined
  url.protocol = 'http:'
  const answer: unknown = await send(metadataUrlOf(url.href), { headers: { accept: 'application/json' } })
    .then((response) => response.json())
    .catch(() => undefined)
  if (typeof memberOf(answer, 'issuer') !== 'string') return undefined
  const remedy = isSecureUrl(url.href)
    ? `set the issuer to ${url.href.replace(/\/$/, '')}.`
    : 'only localhost, 127.0.0.1 and [::1] may.'
  return new UpstreamFault('misconfigured', `${issuer} answers http, not https: ${remedy}`)
}

/** https; plain http on this machine only for an issuer that is there, too. */
function mayBeUsed(url: unknown, issuer: string): boolean {
  return isSecureUrl(url) && (issuer.startsWith('http:') || url.startsWith('https:'))
}
