/** The options of verifiers. */
import {
  auth0,
  bearer,
  clerk,
  cloudflareAccess,
  cognito,
  createGate,
  entra,
  honoAuth,
  introspection,
  jwt,
  keycloak,
  staticTokens,
  stytch,
  supabaseAuth,
  workos,
} from 'mayfly-mcp/auth'
import type { Taker, Takers } from './_walk.ts'

export const GATE = {
  scopes: ['shop'],
  scopeHints: ['shop'],
  scopesSupported: ['shop'],
  anonymous: { tools: ['greet'], prompts: ['review'], resources: ['docs://a'] },
  authorizationServers: ['https://login.example'],
  documentationUrl: 'https://shop.example/docs',
  resourceName: 'Shop',
}
const ISSUER = { issuer: 'https://login.example', audience: 'https://shop.example/mcp' }
const TOKEN = {
  token: 'a-token-of-thirty-two-characters',
  clientId: 'ci',
  scopes: ['shop'],
  extra: { plan: 1 },
}
const verifier = { verify: async () => undefined, authorizationServers: [] }
const preset = (call: (options: never) => unknown, own: object): Taker => ({
  call,
  options: { ...GATE, audience: 'shop', ...own },
})

export const AUTH: Takers = {
  InvalidTokenError: 'an error: a message, and the options of Error',
  VerifierMisconfiguredError: 'an error: a message, and the options of Error',
  VerifierUnavailableError: 'an error: a message, and the options of Error',
  anyOf: 'a list of what checks tokens, without options',
  auth0: preset(auth0, { domain: 'shop.auth0.example' }),
  bearer: { call: (options) => bearer(() => undefined, options), options: GATE },
  clerk: preset(clerk, { domain: 'clerk.shop.example' }),
  cloudflareAccess: preset(cloudflareAccess, { team: 'shop' }),
  cognito: preset(cognito, { region: 'eu-west-1', userPoolId: 'eu-west-1_abc' }),
  createGate: { call: (options) => createGate(verifier, options), options: GATE },
  entra: preset(entra, { tenantId: 'abc' }),
  honoAuth: {
    call: (options) => honoAuth(staticTokens([TOKEN]), options),
    options: {
      publicUrl: 'https://shop.example/mcp',
      trustProxy: false,
      allowAnonymous: false,
      onError() {},
    },
  },
  introspection: {
    call: introspection,
    options: { ...GATE, ...ISSUER, endpoint: 'https://login.example/i', clientId: 'shop', clientSecret: 's' },
  },
  jwt: { call: jwt, options: { ...GATE, ...ISSUER, algorithms: ['RS256'], scopeClaims: ['scope'] } },
  keycloak: preset(keycloak, { url: 'https://login.example', realm: 'shop' }),
  staticTokens: [
    { call: (options) => staticTokens([TOKEN], options), options: GATE },
    {
      call: ({ list }: { list: [] }) => staticTokens(list),
      options: { list: [TOKEN] },
      open: { '': 'the test’s own', 'list.extra': 'becomes `ctx.auth.extra`' },
    },
  ],
  stytch: preset(stytch, { domain: 'shop.stytch.example' }),
  supabaseAuth: preset(supabaseAuth, { projectUrl: 'https://ref.supabase.example' }),
  workos: preset(workos, { domain: 'shop.authkit.example' }),
}
