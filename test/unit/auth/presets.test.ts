import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import {
  type Auth,
  auth0,
  clerk,
  cloudflareAccess,
  cognito,
  entra,
  keycloak,
  stytch,
  supabaseAuth,
  workos,
} from '../../../src/auth.ts'
import { createServer } from '../_client.ts'
import { discover } from './_issuer.ts'

const AUDIENCE = 'shop-api'

interface Preset {
  readonly create: (fetch: typeof globalThis.fetch) => Auth
  readonly issuer: string
  readonly keys: string
  /** Undefined: without `typ`. */
  readonly typ?: string
  /** What its access tokens have besides issuer, audience and subject. */
  readonly claims?: object
  /** Its other tokens, with our audience, as when a client is registered under the name of this server. */
  readonly others: { readonly [kind: string]: object }
  readonly header?: string
}

const common = (fetch: typeof globalThis.fetch) => ({ audience: AUDIENCE, fetch })

const ID = { nonce: 'n-0S6_WzA2Mj', auth_time: 1, email: 'ann@shop.example' }
const LOGOUT = { events: { 'http://schemas.openid.net/event/backchannel-logout': {} }, sid: 's' }

const PRESETS: { readonly [name: string]: Preset } = {
  auth0: {
    create: (fetch) => auth0({ ...common(fetch), domain: 'shop.eu.auth0.com' }),
    issuer: 'https://shop.eu.auth0.com/',
    keys: 'https://shop.eu.auth0.com/.well-known/jwks.json',
    typ: 'JWT',
    claims: { aud: [AUDIENCE, 'https://shop.eu.auth0.com/userinfo'], azp: 'desk', scope: 'openid shop' },
    others: { id: ID, logout: LOGOUT },
  },
  workos: {
    create: (fetch) => workos({ ...common(fetch), domain: 'shop.authkit.app' }),
    issuer: 'https://shop.authkit.app',
    keys: 'https://shop.authkit.app/oauth2/jwks',
    claims: { client_id: 'desk', org_id: 'org', sid: 'consent', scope: 'openid' },
    others: { id: ID },
  },
  clerk: {
    create: (fetch) => clerk({ ...common(fetch), domain: 'clerk.shop.example' }),
    issuer: 'https://clerk.shop.example',
    keys: 'https://clerk.shop.example/.well-known/jwks.json',
    typ: 'JWT',
    claims: { azp: 'https://shop.example', sid: 'sess', sts: 'active', v: 2 },
    others: { id: { at_hash: '77QmUPtjPfzWtF2AnpK9RQ', auth_time: 1 } },
  },
  stytch: {
    create: (fetch) => stytch({ ...common(fetch), domain: 'shop.customers.stytch.dev' }),
    issuer: 'https://shop.customers.stytch.dev',
    keys: 'https://shop.customers.stytch.dev/.well-known/jwks.json',
    typ: 'JWT',
    claims: { aud: [AUDIENCE], client_id: 'connected-app', scope: 'openid' },
    others: { id: ID },
  },
  keycloak: {
    create: (fetch) => keycloak({ ...common(fetch), url: 'https://login.shop.example/', realm: 'staff' }),
    issuer: 'https://login.shop.example/realms/staff',
    keys: 'https://login.shop.example/realms/staff/protocol/openid-connect/certs',
    typ: 'JWT',
    // Before version 24 its access tokens repeat the nonce.
    claims: { typ: 'Bearer', azp: 'desk', sid: 's', scope: 'openid', nonce: 'n-0S6_WzA2Mj' },
    others: {
      id: { typ: 'ID', azp: AUDIENCE },
      refresh: { typ: 'Refresh', azp: 'desk', scope: 'openid' },
      offline: { typ: 'Offline', azp: 'desk' },
      logout: { ...LOGOUT, typ: 'Logout' },
      'signed userinfo': { typ: undefined, email: 'ann@shop.example' },
    },
  },
  supabaseAuth: {
    create: (fetch) => supabaseAuth({ fetch, projectUrl: 'https://ref.supabase.co' }),
    issuer: 'https://ref.supabase.co/auth/v1',
    keys: 'https://ref.supabase.co/auth/v1/.well-known/jwks.json',
    typ: 'JWT',
    claims: { aud: 'authenticated', role: 'authenticated', aal: 'aal1', session_id: 's', client_id: 'desk' },
    others: { id: ID },
  },
  cloudflareAccess: {
    create: (fetch) => cloudflareAccess({ ...common(fetch), team: 'shop' }),
    issuer: 'https://shop.cloudflareaccess.com',
    keys: 'https://shop.cloudflareaccess.com/cdn-cgi/access/certs',
    typ: 'JWT',
    claims: { aud: [AUDIENCE], type: 'app', identity_nonce: '6ei69kawdKzMIAPF', country: 'US' },
    others: { 'session of the team': { type: 'org' } },
    header: 'cf-access-jwt-assertion',
  },
  cognito: {
    create: (fetch) => cognito({ ...common(fetch), region: 'eu-central-1', userPoolId: 'eu-central-1_abc' }),
    issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc',
    keys: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc/.well-known/jwks.json',
    claims: { aud: undefined, client_id: AUDIENCE, token_use: 'access' },
    others: { id: { aud: AUDIENCE, client_id: AUDIENCE, token_use: 'id' }, untold: { token_use: undefined } },
  },
  entra: {
    create: (fetch) => entra({ ...common(fetch), tenantId: 'tenant' }),
    issuer: 'https://login.microsoftonline.com/tenant/v2.0',
    keys: 'https://login.microsoftonline.com/tenant/discovery/v2.0/keys',
    typ: 'JWT',
    claims: { azp: 'desk', azpacr: '0', scp: 'shop', ver: '2.0' },
    others: { id: { azp: undefined, scp: undefined, ver: '2.0', roles: ['admin'] } },
  },
}

/** Presents tokens of a provider, whose address alone is stood in for: keys, signatures and checks are real. */
async function startProvider({ create, issuer, keys, typ, claims, header = 'authorization' }: Preset) {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }
  const fetchKeys: typeof fetch = async (input) =>
    String(input) === keys ? Response.json({ keys: [jwk] }) : new Response(null, { status: 404 })
  return async (changes: object, type = typ): Promise<number> => {
    const token = await new SignJWT({ iss: issuer, aud: AUDIENCE, sub: 'ann', ...claims, ...changes })
      .setProtectedHeader({ alg: 'RS256', kid: 'k', ...(type !== undefined && { typ: type }) })
      .setExpirationTime('1m')
      .sign(privateKey)
    const value = header === 'authorization' ? `Bearer ${token}` : token
    const server = createServer({ auth: create(fetchKeys), onError: () => {} })
    return (await discover(server, undefined, { headers: { [header]: value } })).status
  }
}

describe.each(Object.entries(PRESETS))('%s', (_name, preset) => {
  it('takes an access token of its issuer for us, and none for others or of others [auth.presets]', async () => {
    const statusOf = await startProvider(preset)
    expect(await statusOf({})).toBe(200)
    expect(await statusOf({}, 'at+jwt')).toBe(200)
    expect(await statusOf({ iss: 'https://evil.example' })).toBe(401)
    expect(await statusOf({ aud: 'other', client_id: 'other' })).toBe(401)
  })

  it('takes no other kind of token, and none that is bound to a key [auth.kinds]', async () => {
    const statusOf = await startProvider(preset)
    for (const [kind, changes] of Object.entries(preset.others)) {
      // Without what only its access tokens have.
      const without = Object.fromEntries(Object.keys(preset.claims ?? {}).map((claim) => [claim, undefined]))
      const { aud } = { aud: AUDIENCE, ...preset.claims }
      const own = preset.header === undefined && !('token_use' in changes) ? { ...without, aud } : {}
      expect(await statusOf({ ...own, ...changes }), kind).toBe(401)
    }
    for (const type of ['logout+jwt', 'secevent+jwt', 'dpop+jwt']) {
      expect(await statusOf({}, type), type).toBe(401)
    }
    expect(await statusOf({ cnf: { jkt: 'x' } })).toBe(401)
  })
})

it('auth0: permissions of the user add nothing to the scope of the client, unless opened [auth.presets]', async () => {
  const scopesOf = async (options: { scopeClaims?: string[] }) => {
    const auth0Preset: Preset = {
      ...PRESETS.auth0!,
      create: (fetch) =>
        auth0({ ...common(fetch), domain: 'shop.eu.auth0.com', scopes: ['refund'], ...options }),
    }
    const statusOf = await startProvider(auth0Preset)
    return statusOf({ scope: 'read', permissions: ['read', 'refund'] })
  }
  expect(await scopesOf({})).toBe(403)
  expect(await scopesOf({ scopeClaims: ['permissions'] })).toBe(200)
})

it.each<[string, () => Auth]>([
  ['auth0', () => auth0({ domain: undefined as never, audience: AUDIENCE })],
  ['auth0', () => auth0({ domain: '', audience: AUDIENCE })],
  ['auth0', () => auth0({ domain: 'https://shop.eu.auth0.com', audience: AUDIENCE })],
  ['auth0', () => auth0({ domain: 'evil.example/shop.eu.auth0.com', audience: AUDIENCE })],
  ['workos', () => workos({ domain: 'evil.example#', audience: AUDIENCE })],
  ['clerk', () => clerk({ domain: 'user@evil.example', audience: AUDIENCE })],
  ['stytch', () => stytch({ domain: undefined as never, audience: AUDIENCE })],
  [
    'keycloak',
    () => keycloak({ url: 'https://login.example', realm: undefined as never, audience: AUDIENCE }),
  ],
  ['keycloak', () => keycloak({ url: undefined as never, realm: 'staff', audience: AUDIENCE })],
  ['supabaseAuth', () => supabaseAuth({ projectUrl: undefined as never })],
  ['cloudflareAccess', () => cloudflareAccess({ team: 'evil.example/', audience: AUDIENCE })],
  ['cloudflareAccess', () => cloudflareAccess({ team: undefined as never, audience: AUDIENCE })],
  ['cognito', () => cognito({ region: 'evil.example/', userPoolId: 'pool', audience: AUDIENCE })],
  ['cognito', () => cognito({ region: 'eu-central-1', userPoolId: undefined as never, audience: AUDIENCE })],
  ['entra', () => entra({ tenantId: undefined as never, audience: AUDIENCE })],
])(
  '%s without what names the tenant → TypeError, and no issuer "undefined" [auth.presets]',
  (name, create) => {
    expect(create).toThrow(TypeError)
    expect(create).toThrow(new RegExp(name))
  },
)
