/** The options of sign-in and its providers. */
import { createMemoryGrants, oidc, signIn } from 'mayfly-mcp/sign-in'
import { cognito } from 'mayfly-mcp/sign-in/cognito'
import { entra } from 'mayfly-mcp/sign-in/entra'
import { github } from 'mayfly-mcp/sign-in/github'
import { google } from 'mayfly-mcp/sign-in/google'
import type { Taker, Takers } from './_walk.ts'

const PROVIDER = {
  clientId: 'an-id',
  clientSecret: 'a-secret',
  scopes: ['openid'],
  offlineAccess: true,
  timeoutMs: 5000,
  fetch: globalThis.fetch,
}
const { offlineAccess: _, ...LASTING } = PROVIDER
const provider = (call: (options: never) => unknown, own: object): Taker => ({
  call,
  options: { ...PROVIDER, ...own },
  ...('parameters' in own && { open: { parameters: 'names of the provider' } }),
})
const upstream = oidc({ issuer: 'https://login.example', clientId: 'an-id', clientSecret: 'a-secret' })

export const SIGN_IN: { readonly [entry: string]: Takers } = {
  'mayfly-mcp/sign-in': {
    UpstreamFault: 'an error: a code and a message',
    UpstreamRefusedError: 'an error: a message, and the options of Error',
    UpstreamSignInError: 'an error: a message, and the options of Error',
    UpstreamUnavailableError: 'an error: a message, and the options of Error',
    createMemoryGrants: 'takes nothing',
    oidc: provider(oidc, {
      issuer: 'https://login.example',
      name: 'Login',
      id: 'login',
      clientAuth: 'basic',
      parameters: { audience: 'a' },
      check: () => undefined,
    }),
    signIn: {
      call: signIn,
      options: {
        upstream,
        store: createMemoryGrants(),
        scopes: { 'notes:read': 'Read your notes' },
        secrets: ['a secret of thirty-two characters or more'],
        accessTokenSeconds: 3600,
        unusedDays: 30,
        cacheMs: 5000,
        machines: {
          report: { scopes: ['notes:read'], secret: 'a secret of thirty-two characters or more' },
          deploy: { scopes: [], publicKeys: { keys: [{ kty: 'EC', crv: 'P-256', x: 'a', y: 'b' }] } },
          backup: { scopes: [], jwksUri: 'https://keys.example/jwks' },
        },
        fetch: globalThis.fetch,
        required: ['notes:read'],
        initialScopes: ['notes:read'],
        anonymous: { tools: ['greet'], prompts: ['review'], resources: ['docs://a'] },
      },
      open: {
        upstream: 'a provider, which may be the user’s own',
        store: 'a store, which may be the user’s own',
        scopes: 'names of scopes',
        machines: 'names of machines',
        'machines.deploy.publicKeys.keys': 'members of a JWK (RFC 7517)',
      },
    },
  },
  'mayfly-mcp/sign-in/cognito': {
    cognito: {
      call: cognito,
      options: {
        ...LASTING,
        region: 'eu-west-1',
        userPoolId: 'eu-west-1_abc',
        name: 'Shop',
        groups: ['staff'],
      },
    },
  },
  'mayfly-mcp/sign-in/entra': {
    entra: provider(entra, {
      tenant: '11111111-2222-3333-4444-555555555555',
      allowedTenants: ['11111111-2222-3333-4444-555555555555'],
      groups: ['staff'],
    }),
  },
  'mayfly-mcp/sign-in/github': { github: { call: github, options: { ...LASTING, organization: 'shop' } } },
  'mayfly-mcp/sign-in/google': { google: provider(google, { hostedDomain: 'shop.example' }) },
}
