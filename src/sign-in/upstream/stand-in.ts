/**
 * Stands in for an identity provider in `mayfly dev`, until one is set up: it asks "Who are you?", and believes the answer. So it works
 * nowhere else: `mayfly dev` must have started the server, and the browser must be on the same computer.
 */
import { isDev } from '../../definition/developed.ts'
import { digest } from '../../definition/digest.ts'
import { isLoopbackAddress } from '../../request/address.ts'
import { upstreamError } from './errors.ts'
import {
  type Upstream,
  UpstreamFault,
  type UpstreamIdentity,
  type UpstreamReturn,
  type UpstreamTokens,
} from './upstream.ts'

const NAME = 'the stand-in'
/** Nobody's (RFC 2606). */
const ISSUER = 'https://stand-in.invalid'
const TOKEN_MS = 3_600_000
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/

/** The provider; in `mayfly dev` the stand-in, as long as the provider lacks something that the operator must set. */
export function inUse(upstream: Upstream, env: unknown): Upstream {
  return isDev(env) && upstream.faultIn?.(env) !== undefined ? STAND_IN : upstream
}

/** Everybody may be anybody, on this computer. */
export function standIn(): Upstream {
  return STAND_IN
}

const STAND_IN: Upstream = {
  name: NAME,
  id: 'stand-in',
  async authorizeUrl({ env, redirectUri, state, nonce, codeChallenge }) {
    requireHere(env, redirectUri)
    const url = new URL(redirectUri)
    url.search = String(new URLSearchParams({ stand_in: 'who', state, code: `${codeChallenge}.${nonce}` }))
    return url.href
  },
  page({ env, url }) {
    const { searchParams, origin, pathname } = url
    if (searchParams.get('stand_in') !== 'who') return undefined
    requireHere(env, url.href)
    const action = origin + pathname
    const state = searchParams.get('state') ?? ''
    const cancel = new URLSearchParams({ error: 'access_denied', state })
    return {
      action,
      fields: { state, code: searchParams.get('code') ?? '' },
      cancelUrl: `${action}?${cancel}`,
    }
  },
  async exchange({ env, redirectUri, code, codeVerifier, nonce, parameters }: UpstreamReturn) {
    requireHere(env, redirectUri)
    if (code !== `${await digest(codeVerifier)}.${nonce}`) throw refused('The code is not of this sign-in.')
    const name = parameters.get('name')?.trim() ?? ''
    const email = parameters.get('email')?.trim() ?? ''
    if (name === '' || name.length > 80 || !EMAIL.test(email))
      throw refused('Nobody answers: a name and an email are needed.')
    return identityOf(name, email)
  },
  async refresh({ env, refreshToken }) {
    if (!isDev(env) || !refreshToken.startsWith('stand-in-refresh-'))
      throw refused('The token is not its own.')
    return newTokens()
  },
}

function identityOf(name: string, email: string): UpstreamIdentity {
  return {
    issuer: ISSUER,
    subject: email.toLowerCase(),
    name,
    email,
    claims: { name, email, email_verified: true },
    tokens: newTokens(),
  }
}

function newTokens(): UpstreamTokens {
  return {
    accessToken: `stand-in-access-${crypto.randomUUID()}`,
    refreshToken: `stand-in-refresh-${crypto.randomUUID()}`,
    expiresAt: Date.now() + TOKEN_MS,
  }
}

const refused = (reason: string): Error => upstreamError(NAME, new UpstreamFault('grant_refused', reason))

/** @throws UpstreamUnavailableError unless `mayfly dev` runs here, for a browser of this computer. */
function requireHere(env: unknown, url: string): void {
  if (isDev(env) && isLoopbackAddress(new URL(url).hostname)) return
  const reason = 'The stand-in works only in mayfly dev, at localhost: pass a provider, such as google(…).'
  throw upstreamError(NAME, new UpstreamFault('misconfigured', reason))
}
