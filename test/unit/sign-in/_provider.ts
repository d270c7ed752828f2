/** A real OpenID provider, `oidc-provider`, on loopback. It registers nobody: its one client is in its configuration, as with Google. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import Provider from 'oidc-provider'
import { digest } from '../../../src/definition/digest.ts'
import type { Upstream, UpstreamReturn } from '../../../src/sign-in/upstream/upstream.ts'

export const CLIENT = { clientId: 'mayfly', clientSecret: 'a secret: with+signs/and=characters%' }
export const REDIRECT = 'https://notes.example/mcp/oauth/callback'

export interface OpenIdProvider extends AsyncDisposable {
  readonly issuer: string
  /** Where it listens; the issuer, unless that is another. */
  readonly origin: string
  /** Sends requests for the issuer to it, after `change`. */
  readonly fetch: typeof fetch
  /** What comes instead of its answer, for one path. Undefined: its own. */
  change: (path: string, answer: () => Promise<Response>) => Promise<Response | undefined>
  /** How it issues tokens: for how long, whether a refresh token is used once, and after how many milliseconds it answers. */
  readonly issuing: { seconds: number; isRotating: boolean; delayMs: number; count: number }
  /** Paths that were asked for. */
  readonly asked: string[]
  /** Signs with its key. */
  sign(claims: JWTPayload, header?: { alg?: string; kid?: string }): Promise<string>
  /** Its public key, as anybody can read it. */
  readonly publicPem: string
  /** Ends all that was issued. */
  revoke(refreshToken: string): Promise<void>
}

export interface OpenIdProviderOptions {
  /** Default: where it listens. */
  readonly issuer?: string
  /** Where it listens. Default: any port that is free. */
  readonly port?: number
  /** Of the client. Default: `REDIRECT`. */
  readonly redirectUri?: string
  /** Of the one person. Default: Ada. */
  readonly claims?: { readonly [claim: string]: unknown }
  /** Puts all of them into ID tokens. Default true: false as the standard says. */
  readonly inIdToken?: boolean
}

export const ADA = { sub: 'ada', name: 'Ada Lovelace', email: 'ada@notes.example', email_verified: true }

export async function startOpenIdProvider({
  issuer: named,
  claims = ADA,
  inIdToken = true,
  redirectUri = REDIRECT,
  port = 0,
}: OpenIdProviderOptions = {}): Promise<OpenIdProvider> {
  const issuing = { seconds: 3600, isRotating: false, delayMs: 0, count: 0 }
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' }
  const http = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const issuer = named ?? origin
  const mount = new URL(issuer).pathname.replace(/\/$/, '')
  const provider = new Provider(issuer, {
    jwks: { keys: [jwk] },
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    claims: {
      openid: ['sub', ...(inIdToken ? Object.keys(claims) : [])],
      profile: ['name'],
      email: ['email', 'email_verified'],
    },
    conformIdTokenClaims: !inIdToken,
    cookies: { keys: ['of-no-value-outside-these-tests'] },
    ttl: { AccessToken: () => issuing.seconds },
    rotateRefreshToken: () => issuing.isRotating,
    pkce: { required: () => true },
    findAccount: (_context, accountId) => ({ accountId, claims: async () => ({ ...claims, sub: 'ada' }) }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
  })
  provider.proxy = true
  const callback = provider.callback()
  const answer: Parameters<typeof createServer>[1] & object = async (request, response) => {
    // An issuer with a path: the provider is mounted there.
    const whole = request.url!
    if (whole.startsWith(`${mount}/`))
      Object.assign(request, { originalUrl: whole, url: whole.slice(mount.length) })
    if (request.url === '/token') {
      issuing.count++
      await delay(issuing.delayMs)
    }
    if (!request.url!.startsWith('/interaction/')) return callback(request, response)
    // The person is signed in and agrees at once.
    const { params, prompt } = await provider.interactionDetails(request, response)
    const grant = new provider.Grant({ accountId: 'ada', clientId: String(params.client_id) })
    grant.addOIDCScope(String(params.scope))
    const result =
      prompt.name === 'login' ? { login: { accountId: 'ada' } } : { consent: { grantId: await grant.save() } }
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true })
  }
  const send: typeof fetch = async (input, init) => {
    const url = new URL(String(input))
    const { host, protocol } = new URL(issuer)
    const headers = new Headers(init?.headers)
    if (url.host === host) {
      headers.set('x-forwarded-host', host)
      headers.set('x-forwarded-proto', protocol.slice(0, -1))
    }
    const to = url.host === host ? `${origin}${url.pathname}${url.search}` : url.href
    return await fetch(to, { ...init, headers })
  }
  const self: OpenIdProvider = {
    ...{ issuer, origin, issuing, asked: [], publicPem: await exportSPKI(publicKey) },
    change: async () => undefined,
    fetch: async (input, init) => {
      const { pathname } = new URL(String(input))
      self.asked.push(pathname)
      const own = (): Promise<Response> => send(input, init)
      return (await self.change(pathname, own)) ?? (await own())
    },
    sign: (payload, header) => sign(privateKey, payload, header),
    revoke: async (token) => {
      const authorization = `Basic ${btoa([CLIENT.clientId, CLIENT.clientSecret].map(encodeURIComponent).join(':'))}`
      const body = new URLSearchParams({ token, token_type_hint: 'refresh_token' })
      const { status } = await send(`${issuer}/token/revocation`, {
        method: 'POST',
        headers: { authorization },
        body,
      })
      if (status !== 200) throw new Error(`The provider revokes with ${status}.`)
    },
    async [Symbol.asyncDispose]() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  return self
}

function sign(
  key: CryptoKey,
  payload: JWTPayload,
  { alg = 'RS256', kid = 'first' }: { alg?: string; kid?: string } = {},
): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg, kid, typ: 'JWT' }).sign(key)
}

export const VERIFIER = 'a-verifier-of-at-least-forty-three-characters-00'
export const NONCE = 'a-nonce-of-this-sign-in'

/** Signs the person in, as a browser would, and returns what the callback receives. */
export async function toCallback(
  upstream: Upstream,
  provider: OpenIdProvider,
  env: unknown = {},
): Promise<UpstreamReturn> {
  const url = await upstream.authorizeUrl({
    ...{ env, redirectUri: REDIRECT, state: 'the-state', nonce: NONCE },
    codeChallenge: await digest(VERIFIER),
  })
  const { searchParams: parameters } = await browse(url, provider)
  return {
    ...{ env, redirectUri: REDIRECT, code: parameters.get('code') ?? '', codeVerifier: VERIFIER },
    ...{ nonce: NONCE, parameters },
  }
}

/** Follows redirects with cookies, up to the callback. */
export async function browse(start: string, provider: OpenIdProvider, end = REDIRECT): Promise<URL> {
  const cookies = new Map<string, string>()
  const { host, protocol } = new URL(provider.issuer)
  let url = new URL(start)
  for (let hops = 0; hops < 10; hops++) {
    if (url.href.startsWith(end)) return url
    const response = await fetch(`${provider.origin}${url.pathname}${url.search}`, {
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        'x-forwarded-host': host,
        'x-forwarded-proto': protocol.slice(0, -1),
      },
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      cookies.set(name!, value!)
    }
    const location = response.headers.get('location')
    if (location === null)
      throw new Error(`${url.href} answered ${response.status}: ${await response.text()}`)
    url = new URL(location, url)
  }
  throw new Error('The provider never came to an end.')
}
