/** `oidc` with the real `oidc-provider`, and with what a provider must not send. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { personOf } from '../../../src/sign-in/browser/person.ts'
import { type OidcOptions, oidc } from '../../../src/sign-in/oidc.ts'
import { createSignIn } from '../../../src/sign-in/sign-in.ts'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import { rotatedIn } from '../../../src/sign-in/upstream/errors.ts'
import type { Upstream, UpstreamReturn } from '../../../src/sign-in/upstream/upstream.ts'
import { secretOf } from '../../_secrets.ts'
import { failureOf } from './_failure.ts'
import { ADA, CLIENT, NONCE, type OpenIdProvider, startOpenIdProvider, toCallback } from './_provider.ts'

let provider: OpenIdProvider
beforeAll(async () => {
  provider = await startOpenIdProvider()
})
afterAll(() => provider[Symbol.asyncDispose]())
beforeEach(() => {
  provider.change = async () => undefined
  provider.asked.length = 0
})

const upstreamOf = (more: Partial<OidcOptions> = {}): Upstream =>
  oidc({ issuer: provider.issuer, ...CLIENT, fetch: provider.fetch, name: 'Example', ...more })

describe('a sign-in', () => {
  it('→ who the person is, and tokens', async () => {
    const upstream = upstreamOf()
    const before = Date.now()

    const identity = await upstream.exchange(await toCallback(upstream, provider))

    expect(identity).toEqual({
      issuer: provider.issuer,
      subject: 'ada',
      name: 'Ada Lovelace',
      email: 'ada@notes.example',
      claims: { name: 'Ada Lovelace', email: 'ada@notes.example', email_verified: true },
      tokens: {
        accessToken: expect.any(String),
        refreshToken: expect.any(String),
        expiresAt: expect.any(Number),
        scopes: ['openid', 'profile', 'email', 'offline_access'],
      },
    })
    expect(identity.tokens.expiresAt).toBeGreaterThan(before + 60_000)
  })

  it('name and email that only the UserInfo endpoint has → read there', async () => {
    await using strict = await startOpenIdProvider({ claims: ADA, inIdToken: false })
    const upstream = oidc({ issuer: strict.issuer, ...CLIENT, fetch: strict.fetch })

    const identity = await upstream.exchange(await toCallback(upstream, strict))

    expect(strict.asked).toContain('/me')
    expect(identity).toMatchObject({ name: 'Ada Lovelace', email: 'ada@notes.example' })
  })

  it('the UserInfo of another person → nobody is signed in', async () => {
    await using strict = await startOpenIdProvider({ claims: ADA, inIdToken: false })
    strict.change = async (path) =>
      path === '/me'
        ? Response.json({ sub: 'eve', email: 'eve@notes.example', email_verified: true })
        : undefined
    const upstream = oidc({ issuer: strict.issuer, ...CLIENT, fetch: strict.fetch })

    expect(await failureOf(upstream.exchange(await toCallback(upstream, strict)))).toMatchObject({
      code: 'upstream_unavailable',
      fault: 'answer_invalid',
    })
  })

  it.each([false, undefined, 'true', 1])(
    'email_verified is %j → no email, for tools neither',
    async (verified) => {
      const claims = { ...ADA, ...(verified === undefined ? {} : { email_verified: verified }) }
      if (verified === undefined) Reflect.deleteProperty(claims, 'email_verified')
      await using other = await startOpenIdProvider({ claims })
      const upstream = oidc({ issuer: other.issuer, ...CLIENT, fetch: other.fetch })

      const identity = await upstream.exchange(await toCallback(upstream, other))

      expect(identity.email).toBeUndefined()
      expect(identity.claims).not.toHaveProperty('email')
      expect(identity.name).toBe('Ada Lovelace')
    },
  )

  it.each<[string, object, object, string | undefined]>([
    [
      'the token has an unverified one',
      { email: 'eve@x.example' },
      { email: 'ada@x.example', email_verified: true },
      undefined,
    ],
    [
      'the token only says that it is verified',
      { email_verified: true },
      { email: 'ada@x.example' },
      undefined,
    ],
    [
      'both are of the profile',
      { email_verified: false },
      { email: 'a@x.example', email_verified: true },
      'a@x.example',
    ],
  ])('an email counts only if its own source verified it: %s', async (_what, inToken, inProfile, email) => {
    await using strict = await startOpenIdProvider({ claims: ADA, inIdToken: false })
    strict.change = async (path, own) => {
      if (path === '/me') return Response.json({ sub: 'ada', name: 'Ada', ...inProfile })
      if (path !== '/token') return undefined
      const answer = (await (await own()).json()) as { id_token: string }
      const given = JSON.parse(Buffer.from(answer.id_token.split('.')[1]!, 'base64url').toString())
      return Response.json({ ...answer, id_token: await strict.sign({ ...given, ...inToken }) })
    }
    const upstream = oidc({ issuer: strict.issuer, ...CLIENT, fetch: strict.fetch })

    const identity = await upstream.exchange(await toCallback(upstream, strict))

    expect([identity.email, identity.claims.email]).toEqual([email, email])
  })

  it.each([401, 403, 500])('the UserInfo endpoint answers with %i → signed in without it', async (status) => {
    await using strict = await startOpenIdProvider({ claims: ADA, inIdToken: false })
    const headers = status === 401 ? { 'www-authenticate': 'Bearer error="invalid_token"' } : {}
    strict.change = async (path) => (path === '/me' ? new Response('', { status, headers }) : undefined)
    const upstream = oidc({ issuer: strict.issuer, ...CLIENT, fetch: strict.fetch })

    const identity = await upstream.exchange(await toCallback(upstream, strict))

    expect([identity.subject, identity.name, identity.email]).toEqual(['ada', undefined, undefined])
  })

  it.each<[string, object, string]>([['of another type', { token_type: 'DPoP' }, 'not Bearer']])(
    'an access token %s → the operator learns it',
    async (_what, members, reason) => {
      const upstream = upstreamOf()
      const callback = await toCallback(upstream, provider)
      provider.change = async (path, own) =>
        path === '/token'
          ? Response.json({ ...((await (await own()).json()) as object), ...members })
          : undefined

      const failure = await failureOf(upstream.exchange(callback))

      expect(failure).toMatchObject({ code: 'upstream_unavailable', fault: 'answer_invalid' })
      expect(failure.operator).toContain(reason)
    },
  )

  it('metadata and keys are fetched once for several sign-ins', async () => {
    const upstream = upstreamOf()

    for (let times = 0; times < 3; times++) await upstream.exchange(await toCallback(upstream, provider))

    expect(provider.asked.filter((path) => path === '/.well-known/openid-configuration')).toHaveLength(1)
    expect(provider.asked.filter((path) => path === '/jwks')).toHaveLength(1)
  })

  it('client id and secret of each environment are used', async () => {
    const upstream = upstreamOf({ clientId: (env) => env.ID, clientSecret: (env) => env.SECRET })
    const env = { ID: CLIENT.clientId, SECRET: CLIENT.clientSecret }

    expect((await upstream.exchange(await toCallback(upstream, provider, env))).subject).toBe('ada')
    expect(upstream.faultIn?.({ ID: 'mayfly' })).toContain('"clientSecret" of oidc is not set')
    expect(upstream.faultIn?.(env)).toBeUndefined()
    expect(await failureOf(upstream.authorizeUrl(startOf({ env: {} })))).toMatchObject({
      code: 'upstream_unavailable',
      fault: 'misconfigured',
    })
  })

  it('`check` turns a person away with its sentence', async () => {
    const upstream = upstreamOf({
      check: ({ sub }) => (sub === 'ada' ? 'Only Grace may sign in.' : undefined),
    })

    expect(await failureOf(upstream.exchange(await toCallback(upstream, provider)))).toMatchObject({
      code: 'upstream_refused',
      fault: 'not_allowed',
      message: 'Only Grace may sign in.',
    })
  })

  it.each([
    ['resolves', async () => undefined],
    ['rejects', () => Promise.reject(new Error('of a database'))],
  ])(
    'a function of the operator that %s → nobody is let in, and the process goes on',
    async (_name, later) => {
      const asAny = later as unknown as () => never
      const byCheck = upstreamOf({ check: asAny })
      const failed = await byCheck
        .exchange(await toCallback(byCheck, provider))
        .catch((error: Error) => error)
      expect(failed).toMatchObject({ code: 'upstream_unavailable' })
      expect(inspect(failed)).toContain('must not be async')
      const bySetting = upstreamOf({ clientSecret: asAny })
      expect(bySetting.faultIn?.({})).toContain('must not be async')
      expect(await failureOf(bySetting.authorizeUrl(startOf()))).toMatchObject({ fault: 'misconfigured' })
      const options = { upstream: byCheck, scopes: { a: 'A' }, secrets: [secretOf('s')] }
      const auth = createSignIn('signIn', { ...options, store: asAny })
      const request = new Request('https://mcp.example.com/connections')
      const resource = 'https://mcp.example.com/mcp'
      expect((await auth.serve(request, '/connections', { env: {}, resource }))?.status).toBe(503)
      const machines = { job: { scopes: ['a'], secret: asAny } }
      const withMachine = createSignIn('signIn', { ...options, store: createMemoryGrants(), machines })
      expect(withMachine.faultIn({})).toContain('must not be async')
    },
  )

  it('more claims than tools may see are left out', async () => {
    await using other = await startOpenIdProvider({ claims: { ...ADA, a: 'x', large: 'y'.repeat(9000) } })
    const upstream = oidc({ issuer: other.issuer, ...CLIENT, fetch: other.fetch })

    const { person, leftOut } = await personOf(await upstream.exchange(await toCallback(upstream, other)))

    expect(person).toMatchObject({ name: 'Ada Lovelace', email: ADA.email })
    expect(person.claims).toMatchObject({ a: 'x', name: 'Ada Lovelace' })
    expect(leftOut).toEqual(['large'])
  })
})

describe('the URL for the browser', () => {
  it('has what the standard asks for, and nothing else', async () => {
    const url = new URL(await upstreamOf().authorizeUrl(startOf()))

    expect(`${url.origin}${url.pathname}`).toBe(`${provider.issuer}/auth`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'mayfly',
      response_type: 'code',
      redirect_uri: 'https://notes.example/cb',
      scope: 'openid profile email offline_access',
      state: 's',
      nonce: 'n',
      code_challenge: 'c',
      code_challenge_method: 'S256',
      prompt: 'consent',
    })
  })

  it('without offline access neither the scope nor the consent; another account → login', async () => {
    const upstream = upstreamOf({ offlineAccess: false, scopes: ['drive'], parameters: { audience: 'a' } })

    const url = new URL(await upstream.authorizeUrl(startOf({ isSwitching: true })))

    expect(url.searchParams.get('scope')).toBe('openid profile email drive')
    expect(url.searchParams.get('prompt')).toBe('login')
    expect(url.searchParams.get('audience')).toBe('a')
  })
})

describe('a refresh', () => {
  it('→ new tokens; a revoked one → refused', async () => {
    const upstream = upstreamOf()
    const { tokens } = await upstream.exchange(await toCallback(upstream, provider))

    const fresh = await upstream.refresh!({ env: {}, refreshToken: tokens.refreshToken! })

    expect(fresh.accessToken).not.toBe(tokens.accessToken)
    expect(fresh.expiresAt).toBeGreaterThan(Date.now())
    const last = fresh.refreshToken ?? tokens.refreshToken!
    await provider.revoke(last)
    expect(await failureOf(upstream.refresh!({ env: {}, refreshToken: last }))).toMatchObject({
      code: 'upstream_refused',
      fault: 'grant_refused',
    })
  })

  /** Answers a refresh with other members than its own. */
  async function refreshedWith(members: (own: { [name: string]: unknown }) => object | Promise<object>) {
    const upstream = upstreamOf()
    const { tokens } = await upstream.exchange(await toCallback(upstream, provider))
    provider.change = async (path, own) => {
      if (path !== '/token') return undefined
      const answer = (await (await own()).json()) as { [name: string]: unknown }
      return Response.json({ ...answer, refresh_token: 'rotated', ...(await members(answer)) })
    }
    return upstream.refresh!({ env: {}, refreshToken: tokens.refreshToken! })
  }
  const idToken = (answer: { [name: string]: unknown }, claims: object): Promise<string> =>
    provider.sign({
      ...JSON.parse(Buffer.from(String(answer.id_token).split('.')[1]!, 'base64url').toString()),
      ...claims,
    })

  it.each<[string, (answer: { [name: string]: unknown }) => object | Promise<object>]>([
    ['an expiry of null', () => ({ expires_in: null })],
    ['scopes and an ID token of null', () => ({ scope: null, id_token: null })],
    [
      'the ID token of long ago',
      async (answer) => ({ id_token: await idToken(answer, { iat: 1_700_000_000, exp: 1_700_000_600 }) }),
    ],
    ['a long access token', () => ({ access_token: 'x'.repeat(60_000) })],
  ])('with %s → its new tokens are kept', async (_what, members) => {
    expect((await refreshedWith(members)).refreshToken).toBe('rotated')
  })

  it.each<[string, object]>([
    ['of another type', { token_type: 'DPoP' }],
    ['that is missing', { access_token: undefined }],
    ['with an expiry that is a word', { expires_in: 'soon' }],
    ['with an ID token that cannot be read', { id_token: 'x.y.z' }],
  ])('with an access token %s → an error, and the new refresh token is kept', async (_what, members) => {
    const error = await refreshedWith(() => members).catch((thrown: unknown) => thrown)

    expect(error).toMatchObject({ code: 'upstream_unavailable', cause: { code: 'answer_invalid' } })
    expect(rotatedIn(error)).toBe('rotated')
  })
})

/** What the token endpoint answers, with an ID token of the test's own. */
const withIdToken = (make: (claims: { [claim: string]: unknown }) => Promise<string> | string): void => {
  provider.change = async (path, own) => {
    if (path !== '/token') return undefined
    const answer = (await (await own()).json()) as { id_token: string }
    const claims = JSON.parse(atob(answer.id_token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')))
    return Response.json({ ...answer, id_token: await make(claims) })
  }
}
const base64Url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('an ID token that is not the right one → nobody is signed in', () => {
  it('a control: the same token, signed anew, is accepted', async () => {
    withIdToken((claims) => provider.sign(claims))
    const upstream = upstreamOf()
    expect((await upstream.exchange(await toCallback(upstream, provider))).subject).toBe('ada')
  })

  it.each<[string, (claims: { [claim: string]: unknown }) => Promise<string> | string]>([
    ['with another nonce', (claims) => provider.sign({ ...claims, nonce: 'another' })],
    ['without a nonce', ({ nonce: _, ...claims }) => provider.sign(claims)],
    ['that has expired', (claims) => provider.sign({ ...claims, exp: Math.floor(Date.now() / 1000) - 60 })],
    ['without an expiry', ({ exp: _, ...claims }) => provider.sign(claims)],
    ['of another issuer', (claims) => provider.sign({ ...claims, iss: 'https://evil.example' })],
    ['for another client', (claims) => provider.sign({ ...claims, aud: 'another' })],
    ['for two clients, without azp', (claims) => provider.sign({ ...claims, aud: ['mayfly', 'another'] })],
    [
      'for two clients, issued to the other',
      (claims) => provider.sign({ ...claims, aud: ['mayfly', 'another'], azp: 'another' }),
    ],
    ['with an empty subject', (claims) => provider.sign({ ...claims, sub: '' })],
    ['without a subject', ({ sub: _, ...claims }) => provider.sign(claims)],
    ['with alg none', (claims) => `${base64Url({ alg: 'none' })}.${base64Url(claims)}.`],
    [
      'with HS256 by the public key',
      (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256', kid: 'first' })
          .sign(new TextEncoder().encode(provider.publicPem)),
    ],
    [
      'with HS256 by the client secret',
      (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256' })
          .sign(new TextEncoder().encode(CLIENT.clientSecret)),
    ],
    [
      'changed after it was signed',
      async (claims) => {
        const [head, , signature] = (await provider.sign(claims)).split('.')
        return `${head}.${base64Url({ ...claims, sub: 'eve' })}.${signature}`
      },
    ],
    ['signed with a key that the issuer does not have', (claims) => provider.sign(claims, { kid: 'other' })],
    ['of two parts', () => 'a.b'],
    ['that is no token', () => 'Ω'],
  ])('%s', async (_what, make) => {
    const upstream = upstreamOf()
    const callback = await toCallback(upstream, provider)
    withIdToken(make)

    const failure = await failureOf(upstream.exchange(callback))

    expect(failure).toMatchObject({ code: 'upstream_refused', fault: 'id_token_invalid' })
    expect(failure.message).toContain('Example did not confirm who you are')
    expectNoSecrets(failure, callback)
  })

  it('a provider that lists HS256 and none → still refused', async () => {
    const lax: typeof provider.change = async (path, own) => {
      if (path !== '/.well-known/openid-configuration') return undefined
      const metadata = (await (await own()).json()) as object
      return Response.json({ ...metadata, id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] })
    }
    provider.change = lax
    const upstream = upstreamOf()
    const callback = await toCallback(upstream, provider)
    withIdToken((claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: 'first' })
        .sign(new TextEncoder().encode(provider.publicPem)),
    )

    expect(await failureOf(upstream.exchange(callback))).toMatchObject({ fault: 'id_token_invalid' })
    // Not even a key is looked for.
    expect(provider.asked).not.toContain('/jwks')
  })

  it('no ID token at all', async () => {
    const upstream = upstreamOf()
    const callback = await toCallback(upstream, provider)
    provider.change = async (path) =>
      path === '/token' ? Response.json({ access_token: 'a', token_type: 'Bearer' }) : undefined

    expect(await failureOf(upstream.exchange(callback))).toMatchObject({ fault: 'id_token_invalid' })
  })
})

describe('a callback', () => {
  it('with the issuer of another provider (mix-up, RFC 9207) → the code is sent nowhere', async () => {
    await using evil = await startOpenIdProvider()
    const upstream = upstreamOf()
    const callback = await toCallback(upstream, provider)
    const theirs = oidc({ issuer: evil.issuer, ...CLIENT, fetch: evil.fetch })
    await theirs.authorizeUrl(startOf())
    evil.asked.length = 0

    // The person started at `evil`, which handed its request on: the code of the honest provider comes back.
    expect(await failureOf(theirs.exchange(callback))).toMatchObject({
      code: 'upstream_refused',
      fault: 'issuer_mismatch',
    })
    expect(evil.asked).toEqual([])
  })

  it.each(['missing', 'twice'])('with `iss` %s → refused before the exchange', async (how) => {
    const upstream = upstreamOf()
    const callback = await toCallback(upstream, provider)
    if (how === 'missing') callback.parameters.delete('iss')
    else callback.parameters.append('iss', 'https://evil.example')
    provider.asked.length = 0

    expect(await failureOf(upstream.exchange(callback))).toMatchObject({ fault: 'issuer_mismatch' })
    expect(provider.asked).toEqual([])
  })

  it.each([
    ['access_denied', 'upstream_refused', 'denied'],
    ['server_error', 'upstream_unavailable', 'answer_invalid'],
    ['unauthorized_client', 'upstream_unavailable', 'misconfigured'],
  ])('with the error %s → %s', async (error, code, fault) => {
    const parameters = new URLSearchParams({
      error,
      error_description: 'a\u001b[31m b',
      iss: provider.issuer,
    })
    const failure = await failureOf(upstreamOf().exchange(returnOf({ parameters })))

    expect(failure).toMatchObject({ code, fault })
    expect(failure.operator).not.toContain('\u001b')
  })

  it('with a verifier of another sign-in → refused', async () => {
    const upstream = upstreamOf()
    const callback = await toCallback(upstream, provider)

    expect(await failureOf(upstream.exchange({ ...callback, codeVerifier: 'b'.repeat(43) }))).toMatchObject({
      code: 'upstream_refused',
      fault: 'grant_refused',
    })
  })

  it('the same code twice → refused', async () => {
    const upstream = upstreamOf()
    const callback = await toCallback(upstream, provider)
    await upstream.exchange(callback)

    expect(await failureOf(upstream.exchange(callback))).toMatchObject({ fault: 'grant_refused' })
  })

  it('with a wrong client secret → the operator learns it, the secret is not told', async () => {
    const upstream = upstreamOf({ clientSecret: 'a-wrong-secret-that-nobody-may-read' })
    const callback = await toCallback(upstream, provider)

    const failure = await failureOf(upstream.exchange(callback))

    expect(failure).toMatchObject({ code: 'upstream_unavailable', fault: 'misconfigured' })
    expect(failure.operator).toMatch(/client id(?:,| and) secret/)
    expectNoSecrets(failure, callback, 'a-wrong-secret-that-nobody-may-read')
  })

  it('what the provider says is shown to the operator without the secrets that it repeats', async () => {
    const upstream = upstreamOf()
    const callback = await toCallback(upstream, provider)
    provider.change = async (path) =>
      path === '/token'
        ? Response.json(
            { error: 'invalid_grant', error_description: `no ${callback.code} ${CLIENT.clientSecret}` },
            { status: 400 },
          )
        : undefined

    const failure = await failureOf(upstream.exchange(callback))

    expect(failure.operator).toContain('no … …')
    expectNoSecrets(failure, callback)
  })
})

describe('a provider that does not answer as it should', () => {
  it.each(['/.well-known/openid-configuration', '/token', '/jwks'])(
    '%s redirects → not followed',
    async (place) => {
      const upstream = upstreamOf()
      const callback = place.startsWith('/.') ? returnOf() : await toCallback(upstream, provider)
      provider.change = async (path) =>
        path === place
          ? new Response(null, { status: 307, headers: { location: 'https://evil.example/take' } })
          : undefined

      const failure = await failureOf(upstream.exchange(callback))

      expect(failure).toMatchObject({ code: 'upstream_unavailable', fault: 'answer_invalid' })
      expect(failure.operator).toContain('redirects')
      expect(provider.asked).not.toContain('/take')
    },
  )

  it.each(['/.well-known/openid-configuration', '/token', '/jwks'])(
    '%s hangs → an end in time',
    async (place) => {
      const upstream = upstreamOf({ timeoutMs: 300 })
      const callback = place.startsWith('/.') ? returnOf() : await toCallback(upstream, provider)
      // As a platform whose `fetch` ignores the signal.
      provider.change = (path) => (path === place ? new Promise(() => {}) : Promise.resolve(undefined))

      expect(await failureOf(upstream.exchange(callback))).toMatchObject({
        code: 'upstream_unavailable',
        fault: 'unreachable',
        message: 'Example does not answer at the moment. Try again in a minute.',
      })
    },
  )

  it.each(['/.well-known/openid-configuration', '/token', '/jwks'])(
    '%s sends without end → cut off',
    async (place) => {
      const upstream = upstreamOf()
      const callback = place.startsWith('/.') ? returnOf() : await toCallback(upstream, provider)
      let isCancelled = false
      provider.change = async (path) =>
        path === place
          ? new Response(
              new ReadableStream({
                pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024).fill(32)),
                cancel: () => {
                  isCancelled = true
                },
              }),
            )
          : undefined

      const failure = await failureOf(upstream.exchange(callback))

      expect(failure).toMatchObject({ code: 'upstream_unavailable', fault: 'answer_invalid' })
      expect(isCancelled).toBe(true)
    },
  )

  it('a socket that hangs with the real fetch → an end in time, and the connection is closed', async () => {
    let onClose: () => void = () => {}
    const closed = new Promise<void>((resolve) => {
      onClose = resolve
    })
    const http = createServer((request) => void request.once('close', onClose))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    const upstream = oidc({ issuer, ...CLIENT, timeoutMs: 200 })

    expect(await failureOf(upstream.authorizeUrl(startOf()))).toMatchObject({ fault: 'unreachable' })
    await closed
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })

  it.each<[string, object]>([
    ['of another issuer', { issuer: 'https://evil.example' }],
    ['whose token endpoint is not https', { token_endpoint: 'http://evil.example/token' }],
    ['whose keys are a file', { jwks_uri: 'file:///etc/passwd' }],
    ['without an authorization endpoint', { authorization_endpoint: undefined }],
    ['whose authorization endpoint is a script', { authorization_endpoint: 'javascript:alert(1)' }],
  ])('metadata %s → not used', async (_what, members) => {
    provider.change = async (_path, own) =>
      Response.json({ ...((await (await own()).json()) as object), ...members })

    expect(await failureOf(upstreamOf().authorizeUrl(startOf()))).toMatchObject({
      code: 'upstream_unavailable',
      fault: 'answer_invalid',
    })
  })

  it('metadata that cannot be fetched again → the known one is used', async () => {
    const upstream = upstreamOf()
    await upstream.authorizeUrl(startOf())
    const now = Date.now
    Date.now = () => now() + 11 * 60_000
    try {
      provider.change = async () => new Response('', { status: 500 })
      expect(await upstream.authorizeUrl(startOf())).toContain(`${provider.issuer}/auth?`)
      expect(provider.asked.filter((path) => path.includes('well-known'))).toHaveLength(2)
    } finally {
      Date.now = now
    }
  })
})

describe('options', () => {
  const good = { issuer: 'https://login.example', clientId: 'a', clientSecret: 'b' }
  it.each<[string, object, string]>([
    ['a misspelt one', { ...good, isuer: 'https://a.example' }, 'did you mean "issuer"'],
    ['none', {}, 'needs "issuer"'],
    ['an empty secret', { ...good, clientSecret: '' }, '"clientSecret" of oidc is empty'],
    ['an issuer without https', { ...good, issuer: 'http://login.example' }, 'https URL'],
    ['an issuer with a query', { ...good, issuer: 'https://login.example?a' }, 'https URL'],
    ['a parameter of sign-in’s own', { ...good, parameters: { redirect_uri: 'a' } }, '"redirect_uri"'],
    ['a parameter that is no string', { ...good, parameters: { audience: 1 } }, '"parameters.audience"'],
    ['a number as secret', { ...good, clientSecret: 12345 }, '"clientSecret" of oidc must be'],
    ['an id with a slash', { ...good, id: 'a/b' }, '"id" of oidc'],
  ])('%s → a TypeError', (_what, options, message) => {
    expect(() => oidc(options as never)).toThrow(TypeError)
    expect(() => oidc(options as never)).toThrow(message)
  })
})

function startOf(more: object = {}) {
  return {
    ...{ env: {}, redirectUri: 'https://notes.example/cb', state: 's', nonce: 'n', codeChallenge: 'c' },
    ...more,
  }
}

function returnOf(more: Partial<UpstreamReturn> = {}): UpstreamReturn {
  const parameters = new URLSearchParams({ code: 'c', state: 's', iss: provider.issuer })
  return {
    ...{ env: {}, redirectUri: 'https://notes.example/cb', code: 'c', codeVerifier: 'v'.repeat(43) },
    ...{ nonce: NONCE, parameters, ...more },
  }
}

function expectNoSecrets(
  failure: { readonly message: string; readonly operator: string; readonly whole: string },
  { code, codeVerifier }: UpstreamReturn,
  ...more: string[]
): void {
  for (const secret of [code, codeVerifier, CLIENT.clientSecret, NONCE, ...more])
    expect(failure.whole).not.toContain(secret)
}

describe('an issuer at the wrong protocol', () => {
  it('http elsewhere than on this machine → the message says where it may be', () => {
    expect(() => upstreamOf({ issuer: 'http://login.example' })).toThrow(
      '"issuer" of oidc must be an https URL without a query; only localhost, 127.0.0.1 and [::1] may have http.',
    )
  })

  it('https at a port that answers http → what to set', async () => {
    const own = createServer((_request, response) => void response.end(JSON.stringify({ issuer: 'any' })))
    await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
    const place = `127.0.0.1:${(own.address() as AddressInfo).port}`
    const upstream = oidc({ issuer: `https://${place}`, ...CLIENT })
    try {
      expect(await failureOf(upstream.exchange(returnOf()))).toMatchObject({
        code: 'upstream_unavailable',
        fault: 'misconfigured',
        operator: `https://${place} answers http, not https: set the issuer to http://${place}.`,
      })
    } finally {
      own.close()
    }
  })

  it('https at a port that answers nothing, or something else → it cannot be reached', async () => {
    const own = createServer((_request, response) => void response.end('<p>400</p>'))
    await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
    const { port } = own.address() as AddressInfo
    const upstream = oidc({ issuer: `https://127.0.0.1:${port}`, ...CLIENT })
    expect(await failureOf(upstream.exchange(returnOf()))).toMatchObject({ fault: 'unreachable' })
    await new Promise((resolve) => own.close(resolve))
    expect(await failureOf(upstream.exchange(returnOf()))).toMatchObject({ fault: 'unreachable' })
  })
})
