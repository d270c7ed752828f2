/** Google, Entra and Cognito: each is the real `oidc-provider` under the provider's own issuer URL, with its claims. */
import { describe, expect, it } from 'vitest'
import { cognito } from '../../../src/sign-in/cognito.ts'
import { type EntraOptions, entra } from '../../../src/sign-in/entra.ts'
import { type GoogleOptions, google } from '../../../src/sign-in/google.ts'
import { oidc } from '../../../src/sign-in/oidc.ts'
import type { Upstream } from '../../../src/sign-in/upstream/upstream.ts'
import { failureOf } from './_failure.ts'
import { ADA, CLIENT, type OpenIdProvider, startOpenIdProvider, toCallback } from './_provider.ts'

const START = { env: {}, redirectUri: 'https://notes.example/cb', state: 's', nonce: 'n', codeChallenge: 'c' }
const signIn = async (upstream: Upstream, provider: OpenIdProvider, env?: object) =>
  upstream.exchange(await toCallback(upstream, provider, env))

describe('google', () => {
  const ISSUER = 'https://accounts.google.com'
  const googleOf = (provider: OpenIdProvider, more: Partial<GoogleOptions> = {}): Upstream =>
    google({ ...CLIENT, fetch: provider.fetch, hostedDomain: 'notes.example', ...more })

  it('a member of the domain → signed in, with what Google calls offline access', async () => {
    await using provider = await startOpenIdProvider({
      issuer: ISSUER,
      claims: { ...ADA, hd: 'notes.example' },
    })
    const upstream = googleOf(provider)

    const url = new URL(await upstream.authorizeUrl(START))
    const identity = await signIn(upstream, provider)

    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      hd: 'notes.example',
      access_type: 'offline',
      prompt: 'consent',
      scope: 'openid profile email',
    })
    expect(identity).toMatchObject({ issuer: ISSUER, subject: 'ada', claims: { hd: 'notes.example' } })
  })

  it.each([
    ['has none', {}],
    ['is another', { hd: 'evil.example' }],
    ['ends alike', { hd: 'evil-notes.example' }],
    ['is a list', { hd: ['notes.example'] }],
  ])('`hd` of the ID token %s → turned away, whatever was asked for', async (_what, claims) => {
    await using provider = await startOpenIdProvider({ issuer: ISSUER, claims: { ...ADA, ...claims } })

    expect(await failureOf(signIn(googleOf(provider), provider))).toMatchObject({
      code: 'upstream_refused',
      fault: 'not_allowed',
      message: 'Only accounts of notes.example may sign in here.',
    })
  })

  it('`hd` is compared without the case of ASCII letters alone', async () => {
    const of = async (hd: string) => {
      await using provider = await startOpenIdProvider({ issuer: ISSUER, claims: { ...ADA, hd } })
      return await signIn(googleOf(provider, { hostedDomain: 'Kiosk.example' }), provider)
    }

    expect((await of('kiosk.EXAMPLE')).subject).toBe('ada')
    expect(await failureOf(of('\u212aiosk.example'))).toMatchObject({ fault: 'not_allowed' })
  })

  it('a domain of the environment that is not set → nobody is let in', async () => {
    await using provider = await startOpenIdProvider({
      issuer: ISSUER,
      claims: { ...ADA, hd: 'notes.example' },
    })
    const upstream = googleOf(provider, { hostedDomain: (env) => env.DOMAIN })

    expect((await signIn(upstream, provider, { DOMAIN: 'Notes.example' })).subject).toBe('ada')
    expect(await failureOf(upstream.authorizeUrl(START))).toMatchObject({ fault: 'misconfigured' })
    expect(upstream.faultIn?.({})).toContain('"hostedDomain" of google is not set')
  })

  it('without offline access → no consent; another account → a choice', async () => {
    await using provider = await startOpenIdProvider({ issuer: ISSUER })
    const upstream = google({ ...CLIENT, fetch: provider.fetch, offlineAccess: false })

    const { searchParams } = new URL(await upstream.authorizeUrl({ ...START, isSwitching: true }))

    expect(searchParams.get('prompt')).toBe('select_account')
    expect(searchParams.has('access_type')).toBe(false)
    expect(searchParams.has('hd')).toBe(false)
  })

  it.each<[object, string]>([
    [{ hostedDomain: '' }, '"hostedDomain" of google is empty'],
    [{ hostedDomain: '*' }, 'must be a domain'],
    [{ hostedDomain: 'https://notes.example' }, 'must be a domain'],
    [{ hostedDomains: 'notes.example' }, 'did you mean "hostedDomain"'],
    [{ issuer: 'https://evil.example' }, 'has no option "issuer"'],
  ])('%j → a TypeError', (options, message) => {
    expect(() => google({ ...CLIENT, ...options })).toThrow(TypeError)
    expect(() => google({ ...CLIENT, ...options })).toThrow(message)
  })
})

describe('entra', () => {
  const TENANT = '11111111-2222-3333-4444-555555555555'
  const OTHER = '99999999-8888-7777-6666-555555555555'
  const issuerOf = (tenant: string): string => `https://login.microsoftonline.com/${tenant}/v2.0`
  const entraOf = (provider: OpenIdProvider, more: Partial<EntraOptions> = {}): Upstream =>
    entra({ ...CLIENT, tenant: TENANT, fetch: provider.fetch, ...more })
  const one = (claims: object = {}) =>
    startOpenIdProvider({ issuer: issuerOf(TENANT), claims: { ...ADA, tid: TENANT, ...claims } })

  /** The metadata that all tenants share: its issuer is a template, and its tokens are those of the tenant `tid`. */
  const shared = async (claims: { readonly tid?: unknown }, key: object = {}): Promise<OpenIdProvider> => {
    const issuer = issuerOf('organizations')
    const provider = await startOpenIdProvider({ issuer, claims: { ...ADA, ...claims } })
    provider.change = async (path, own) => {
      if (path.endsWith('/.well-known/openid-configuration')) {
        const metadata = (await (await own()).json()) as object
        const members = {
          issuer: issuerOf('{tenantid}'),
          authorization_response_iss_parameter_supported: false,
        }
        return Response.json({ ...metadata, ...members })
      }
      if (path.endsWith('/jwks')) {
        const { keys } = (await (await own()).json()) as { keys: object[] }
        return Response.json({ keys: keys.map((each) => ({ ...each, ...key })) })
      }
      if (!path.endsWith('/token')) return undefined
      const answer = (await (await own()).json()) as { id_token: string }
      const given = JSON.parse(Buffer.from(answer.id_token.split('.')[1]!, 'base64url').toString())
      const token = await provider.sign({ ...given, iss: issuerOf(String(given.iss_tid ?? given.tid)) })
      return Response.json({ ...answer, id_token: token })
    }
    return provider
  }
  const sharedSignIn = async (upstream: Upstream, provider: OpenIdProvider) => {
    const callback = await toCallback(upstream, provider)
    callback.parameters.delete('iss')
    return upstream.exchange(callback)
  }

  it('a person of the tenant → signed in; the email counts with xms_edov alone', async () => {
    await using provider = await one()
    await using verified = await one({ xms_edov: true })

    const identity = await signIn(entraOf(provider), provider)

    expect(identity).toMatchObject({ issuer: issuerOf(TENANT), subject: 'ada', claims: { tid: TENANT } })
    expect(identity).not.toHaveProperty('email')
    expect(identity.claims).not.toHaveProperty('email')
    expect((await signIn(entraOf(verified), verified)).email).toBe('ada@notes.example')
    const url = new URL(await entraOf(provider).authorizeUrl(START))
    expect(url.searchParams.get('scope')).toBe('openid profile email offline_access')
  })

  it.each([
    ['another', OTHER],
    ['none', undefined],
  ])('`tid` of the ID token is %s → turned away', async (_what, tid) => {
    await using provider = await one({ tid: tid ?? null })

    expect(await failureOf(signIn(entraOf(provider), provider))).toMatchObject({ fault: 'not_allowed' })
  })

  it('several tenants: an allowed one → signed in, with its own issuer', async () => {
    await using provider = await shared({ tid: TENANT })
    const upstream = entraOf(provider, {
      tenant: 'organizations',
      allowedTenants: [OTHER, TENANT.toUpperCase()],
    })

    expect(await sharedSignIn(upstream, provider)).toMatchObject({ issuer: issuerOf(TENANT), subject: 'ada' })
  })

  it('several tenants: one that is not allowed → turned away; with "any" → signed in', async () => {
    await using provider = await shared({ tid: OTHER })

    const upstream = entraOf(provider, { tenant: 'organizations', allowedTenants: [TENANT] })
    expect(await failureOf(sharedSignIn(upstream, provider))).toMatchObject({ fault: 'not_allowed' })
    const open = entraOf(provider, { tenant: 'organizations', allowedTenants: 'any' })
    expect(await sharedSignIn(open, provider)).toMatchObject({ issuer: issuerOf(OTHER) })
  })

  it.each<[string, object, object]>([
    ['whose issuer is another tenant than its `tid`', { tid: TENANT, iss_tid: OTHER }, {}],
    ['whose `tid` is no tenant', { tid: '../evil' }, {}],
    ['whose `tid` is missing', { iss_tid: TENANT }, {}],
    ['whose issuer is the template', { iss_tid: '{tenantid}' }, {}],
    ['signed with the key of another tenant', { tid: TENANT }, { issuer: issuerOf(OTHER) }],
  ])('several tenants: a token %s → nobody is signed in', async (_what, claims, key) => {
    await using provider = await shared(claims, key)
    const upstream = entraOf(provider, { tenant: 'organizations', allowedTenants: 'any' })

    expect(await failureOf(sharedSignIn(upstream, provider))).toMatchObject({ fault: 'id_token_invalid' })
  })

  it('several tenants: a key that is for all of them, or for this one → signed in', async () => {
    for (const issuer of [issuerOf('{tenantid}'), issuerOf(TENANT)]) {
      await using provider = await shared({ tid: TENANT }, { issuer })
      const upstream = entraOf(provider, { tenant: 'organizations', allowedTenants: 'any' })
      expect((await sharedSignIn(upstream, provider)).subject).toBe('ada')
    }
  })

  it.each<[string, object, string | undefined]>([
    ['in one of the groups', { groups: ['g1', 'g2'] }, undefined],
    ['in another', { groups: ['g3'] }, 'none of "groups"'],
    ['without the claim', {}, 'has no "groups"'],
    ['in too many', { _claim_names: { groups: 'src1' } }, 'too many groups'],
  ])('groups: a person %s', async (_what, claims, reason) => {
    await using provider = await one(claims)
    const upstream = entraOf(provider, { groups: ['g2'] })

    if (reason === undefined) expect((await signIn(upstream, provider)).subject).toBe('ada')
    else {
      const failure = await failureOf(signIn(upstream, provider))
      expect(failure.fault).toBe('not_allowed')
      expect(failure.operator).toContain(reason)
    }
  })

  it.each<[object, string]>([
    [{ tenant: 'contoso.com' }, 'directory (tenant) ID'],
    [{ tenant: 'common' }, 'needs "allowedTenants"'],
    [{ tenant: TENANT, allowedTenants: [OTHER] }, 'remove it'],
    [{ tenant: 'common', allowedTenants: [] }, '"allowedTenants" of entra must be'],
    [{ tenant: 'common', allowedTenants: ['contoso.com'] }, '"allowedTenants" of entra must be'],
    [{ tenant: TENANT, groups: [] }, '"groups" of entra is empty'],
    [{ tenantId: TENANT }, 'did you mean "tenant"'],
  ])('%j → a TypeError', (options, message) => {
    expect(() => entra({ ...CLIENT, ...options } as never)).toThrow(TypeError)
    expect(() => entra({ ...CLIENT, ...options } as never)).toThrow(message)
  })

  it('a tenant of the environment is checked there', () => {
    const upstream = entra({ ...CLIENT, tenant: (env) => env.TENANT })
    expect(upstream.faultIn?.({ TENANT: 'common' })).toContain('needs "allowedTenants"')
    expect(upstream.faultIn?.({})).toContain('"tenant" of entra is not set')
    expect(upstream.faultIn?.({ TENANT })).toBeUndefined()
  })
})

describe('cognito', () => {
  const POOL = { region: 'eu-west-1', userPoolId: 'eu-west-1_AbCdEf123' }
  const ISSUER = 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEf123'
  const pool = (claims: object) => startOpenIdProvider({ issuer: ISSUER, claims: { ...ADA, ...claims } })

  it('a person of the pool → signed in', async () => {
    await using provider = await pool({ token_use: 'id', email_verified: 'true' })

    expect(await signIn(cognito({ ...CLIENT, ...POOL, fetch: provider.fetch }), provider)).toMatchObject({
      issuer: ISSUER,
      subject: 'ada',
      email: 'ada@notes.example',
    })
  })

  it.each<[string, object]>([
    ['an access token', { token_use: 'access' }],
    ['a person of another group', { token_use: 'id', 'cognito:groups': ['readers'] }],
    ['a person of no group', { token_use: 'id' }],
  ])('%s → turned away', async (_what, claims) => {
    await using provider = await pool(claims)
    const upstream = cognito({ ...CLIENT, ...POOL, fetch: provider.fetch, groups: ['writers'] })

    expect(await failureOf(signIn(upstream, provider))).toMatchObject({ fault: 'not_allowed' })
  })

  it.each<[object, string]>([
    [{ ...POOL, region: 'us-east-1' }, '"region" and "userPoolId"'],
    [{ ...POOL, userPoolId: 'eu-west-1_a/../b' }, '"region" and "userPoolId"'],
    [{ ...POOL, region: 'evil.example/' }, '"region" and "userPoolId"'],
    [{ ...POOL, groups: [] }, '"groups" of cognito is empty'],
    [{ region: 'eu-west-1' }, 'needs "userPoolId"'],
  ])('%j → a TypeError', (options, message) => {
    expect(() => cognito({ ...CLIENT, ...options } as never)).toThrow(TypeError)
    expect(() => cognito({ ...CLIENT, ...options } as never)).toThrow(message)
  })
})

describe('a refresh that answers with an ID token', () => {
  const TENANT = '11111111-2222-3333-4444-555555555555'
  const POOL = { region: 'eu-west-1', userPoolId: 'eu-west-1_AbC' }
  type Case = [string, string, object, object, (provider: OpenIdProvider) => Upstream]

  it.each<Case>([
    [
      'google: the domain',
      'https://accounts.google.com',
      { hd: 'notes.example' },
      { hd: 'other.example' },
      ({ fetch }) => google({ ...CLIENT, fetch, hostedDomain: 'notes.example' }),
    ],
    [
      'entra: a group',
      `https://login.microsoftonline.com/${TENANT}/v2.0`,
      { tid: TENANT, groups: ['staff'] },
      { groups: [] },
      ({ fetch }) => entra({ ...CLIENT, tenant: TENANT, fetch, groups: ['staff'] }),
    ],
    [
      'cognito: a group',
      'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbC',
      { token_use: 'id', 'cognito:groups': ['staff'] },
      { 'cognito:groups': ['other'] },
      ({ fetch }) => cognito({ ...CLIENT, ...POOL, fetch, groups: ['staff'] }),
    ],
    [
      'oidc: what "check" says',
      'https://login.notes.example',
      { department: 'orders' },
      { department: 'sales' },
      ({ fetch }) =>
        oidc({
          ...{ ...CLIENT, fetch, issuer: 'https://login.notes.example' },
          check: ({ department }) => (department === 'orders' ? undefined : 'Only Orders.'),
        }),
    ],
  ])('%s that the person has left → refused', async (_what, issuer, claims, later, make) => {
    await using provider = await startOpenIdProvider({ issuer, claims: { ...ADA, ...claims } })
    const upstream = make(provider)
    await signIn(upstream, provider)
    const again = () => upstream.refresh!({ env: {}, refreshToken: 'r' })
    const answering = (changed: object | undefined) => {
      provider.change = async (path) => {
        if (!path.endsWith('/token')) return undefined
        const now = Math.floor(Date.now() / 1000)
        const own = { iss: issuer, sub: 'ada', aud: CLIENT.clientId, iat: now, exp: now + 60 }
        const id_token = changed && (await provider.sign({ ...own, ...claims, ...changed }))
        return Response.json({ access_token: 'fresh', token_type: 'bearer', expires_in: 60, id_token })
      }
    }
    answering({})
    expect(await again()).toMatchObject({ accessToken: 'fresh', issuer, subject: 'ada' })
    answering(undefined)
    expect(await again()).not.toHaveProperty('subject')
    answering(later)
    expect(await failureOf(again())).toMatchObject({ code: 'upstream_refused', fault: 'not_allowed' })
    answering({ aud: 'another-client' })
    expect(await failureOf(again())).toMatchObject({ code: 'upstream_refused', fault: 'id_token_invalid' })
  })
})
