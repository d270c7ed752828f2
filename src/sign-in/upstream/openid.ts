/**
 * Sign-in with an OpenID provider: discovery, PKCE, the exchange of the code, and the ID token (OpenID Connect Core 1.0 §3.1), by
 * `oauth4webapi`. What is Mayfly's: limits, caches, the algorithms, and whose errors they are.
 */
import { isA } from '../../definition/error-text.ts'
import { upstreamError, withRotated } from './errors.ts'
import { createUpstreamFetch, REFRESH_TIMEOUT_MS } from './fetch.ts'
import type { OpenIdDefinition } from './openid/definition.ts'
import { exchange } from './openid/exchange.ts'
import { faultOf } from './openid/faults.ts'
import { createMetadata, type Known, metadataUrlOf } from './openid/metadata.ts'
import { refresh } from './openid/refresh.ts'
import {
  type Upstream,
  UpstreamFault,
  UpstreamRefusedError,
  type UpstreamStart,
  UpstreamUnavailableError,
} from './upstream.ts'

export type { Claims } from './openid/definition.ts'

export function createOpenId(definition: OpenIdDefinition): Upstream {
  const { name, id, scopes } = definition
  const send = createUpstreamFetch(definition)
  const sendPatiently = createUpstreamFetch({ ...definition, timeoutMs: REFRESH_TIMEOUT_MS })
  const metadata = createMetadata(send)

  /** Every failure becomes one of the two errors. */
  const guarded = async <Value>(
    work: () => Promise<Value>,
    secrets: () => readonly (string | undefined)[],
  ): Promise<Value> => {
    try {
      return await work()
    } catch (error) {
      if (isA(error, UpstreamRefusedError) || isA(error, UpstreamUnavailableError)) throw error
      throw upstreamError(name, faultOf(error, secrets()))
    }
  }

  return {
    name,
    id,
    scopes,
    authorizeUrl: (start) =>
      guarded(
        async () => toAuthorizeUrl(definition, start, await metadata(definition.provider(start.env))),
        () => [],
      ),
    exchange: (given) =>
      guarded(
        () => exchange(definition, given, send, metadata),
        () => [given.code, given.codeVerifier, secretOf(definition, given.env)],
      ),
    async refresh(given) {
      let rotated: string | undefined
      const ask = () => refresh(definition, given, sendPatiently, metadata, (found) => (rotated = found))
      try {
        return await guarded(ask, () => [given.refreshToken, rotated, secretOf(definition, given.env)])
      } catch (error) {
        // The one before may not be accepted again.
        throw withRotated(error, rotated)
      }
    },
    metadataUrl: (env) => metadataUrlOf(definition.provider(env).issuer),
    faultIn(env) {
      try {
        definition.provider(env)
        return undefined
      } catch (error) {
        return isA(error, UpstreamFault) ? error.message : undefined
      }
    },
  }
}

function toAuthorizeUrl(definition: OpenIdDefinition, start: UpstreamStart, { server }: Known): string {
  const { scopes, wantsOffline, parameters } = definition
  const { clientId } = definition.provider(start.env)
  const url = new URL(server.authorization_endpoint!)
  const isOffline = wantsOffline && server.scopes_supported?.includes('offline_access') === true
  const asked = isOffline ? [...scopes, 'offline_access'] : scopes
  const all = {
    ...parameters?.(start, isOffline),
    client_id: clientId,
    response_type: 'code',
    redirect_uri: start.redirectUri,
    scope: [...new Set(asked)].join(' '),
    state: start.state,
    nonce: start.nonce,
    code_challenge: start.codeChallenge,
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value)
  return url.href
}

function secretOf(definition: OpenIdDefinition, env: unknown): string | undefined {
  try {
    return definition.provider(env).clientSecret
  } catch {
    return undefined
  }
}
