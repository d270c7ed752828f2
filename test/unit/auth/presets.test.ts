import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, it } from 'vitest'
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
  readonly claims?: object
  readonly header?: string
}

const common = (fetch: typeof globalThis.fetch) => ({ audience: AUDIENCE, fetch })

const PRESETS: { readonly [name: string]: Preset } = {
  auth0: {
    create: (fetch) => auth0({ ...common(fetch), domain: 'shop.eu.auth0.com' }),
    issuer: 'https://shop.eu.auth0.com/',
    keys: 'https://shop.eu.auth0.com/.well-known/jwks.json',
  },
  workos: {
    create: (fetch) => workos({ ...common(fetch), domain: 'shop.authkit.app' }),
    issuer: 'https://shop.authkit.app',
    keys: 'https://shop.authkit.app/oauth2/jwks',
  },
  clerk: {
    create: (fetch) => clerk({ ...common(fetch), domain: 'clerk.shop.example' }),
    issuer: 'https://clerk.shop.example',
    keys: 'https://clerk.shop.example/.well-known/jwks.json',
  },
  stytch: {
    create: (fetch) => stytch({ ...common(fetch), domain: 'shop.customers.stytch.dev' }),
    issuer: 'https://shop.customers.stytch.dev',
    keys: 'https://shop.customers.stytch.dev/.well-known/jwks.json',
  },
  keycloak: {
    create: (fetch) => keycloak({ ...common(fetch), url: 'https://login.shop.example/', realm: 'staff' }),
    issuer: 'https://login.shop.example/realms/staff',
    keys: 'https://login.shop.example/realms/staff/protocol/openid-connect/certs',
  },
  supabaseAuth: {
    create: (fetch) => supabaseAuth({ fetch, projectUrl: 'https://ref.supabase.co' }),
    issuer: 'https://ref.supabase.co/auth/v1',
    keys: 'https://ref.supabase.co/auth/v1/.well-known/jwks.json',
    claims: { aud: 'authenticated' },
  },
  cloudflareAccess: {
    create: (fetch) => cloudflareAccess({ ...common(fetch), team: 'shop' }),
    issuer: 'https://shop.cloudflareaccess.com',
    keys: 'https://shop.cloudflareaccess.com/cdn-cgi/access/certs',
    header: 'cf-access-jwt-assertion',
  },
  cognito: {
    create: (fetch) => cognito({ ...common(fetch), region: 'eu-central-1', userPoolId: 'eu-central-1_abc' }),
    issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc',
    keys: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc/.well-known/jwks.json',
    claims: { aud: undefined, client_id: AUDIENCE, token_use: 'access' },
  },
  entra: {
    create: (fetch) => entra({ ...common(fetch), tenantId: 'tenant' }),
    issuer: 'https://login.microsoftonline.com/tenant/v2.0',
    keys: 'https://login.microsoftonline.com/tenant/discovery/v2.0/keys',
  },
}

it.each(Object.entries(PRESETS))(
  '%s takes a token of its issuer for us, and none for others or of others [auth.presets]',
  async (_name, { create, issuer, keys, claims = {}, header = 'authorization' }) => {
    const { privateKey, publicKey } = await generateKeyPair('RS256')
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }
    // Stands in for the provider's address alone: keys, signatures and checks are real.
    const fetchKeys: typeof fetch = async (input) =>
      String(input) === keys ? Response.json({ keys: [jwk] }) : new Response(null, { status: 404 })
    const statusOf = async (changes: object): Promise<number> => {
      const token = await new SignJWT({ iss: issuer, aud: AUDIENCE, sub: 'ann', ...claims, ...changes })
        .setProtectedHeader({ alg: 'RS256', kid: 'k' })
        .setExpirationTime('1m')
        .sign(privateKey)
      const value = header === 'authorization' ? `Bearer ${token}` : token
      return (
        await discover(createServer({ auth: create(fetchKeys) }), undefined, { headers: { [header]: value } })
      ).status
    }

    expect(await statusOf({})).toBe(200)
    expect(await statusOf({ iss: 'https://evil.example' })).toBe(401)
    expect(await statusOf({ aud: 'other', client_id: 'other' })).toBe(401)
  },
)

it('cognito takes no id tokens [auth.presets]', async () => {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }
  const auth = PRESETS.cognito!.create(async () => Response.json({ keys: [jwk] }))
  const token = await new SignJWT({ iss: PRESETS.cognito!.issuer, client_id: AUDIENCE, token_use: 'id' })
    .setProtectedHeader({ alg: 'RS256', kid: 'k' })
    .setExpirationTime('1m')
    .sign(privateKey)
  expect((await discover(createServer({ auth }), token)).status).toBe(401)
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
