/** A shop that people sign in to with an OpenID provider: what its entries share. */
import { createTool, type MCPServer, MCPServer as Server } from 'mayfly-mcp'
import type { Auth } from 'mayfly-mcp/auth'
import { type GrantStore, oidc, type SignInAuth, signIn } from 'mayfly-mcp/sign-in'

interface Env {
  readonly ISSUER?: string
  /** The metadata document of a client, which is at any URL. */
  readonly DOCUMENT?: string
}

const annotations = { readOnlyHint: true, destructiveHint: false, openWorldHint: false }

const who = createTool({
  id: 'who',
  description: 'Says who calls',
  mcp: { annotations },
  execute: (_input, { auth }) => ({
    caller: auth?.extra?.name ?? auth?.clientId,
    realm: auth?.realm,
    scopes: auth?.scopes,
  }),
})

const refund = createTool({
  id: 'refund',
  description: 'Refunds, for those who may',
  scopes: ['refund'],
  mcp: { annotations: { ...annotations, readOnlyHint: false, destructiveHint: true } },
  execute: () => 'refunded',
})

export function createShop(auth: Auth): MCPServer {
  return new Server({ id: 'shop', name: 'Shop', version: '1.0.0', tools: { who, refund }, auth })
}

/** `given`: where the documents of clients are read. */
export function shopSignIn(
  store: GrantStore | ((env: { readonly [name: string]: unknown }) => GrantStore),
  given: Env = {},
): SignInAuth {
  return signIn({
    upstream: oidc({
      issuer: (env) => env.ISSUER as string,
      clientId: 'mayfly',
      clientSecret: 'a secret: with+signs/and=characters%',
      name: 'Example',
    }),
    store,
    scopes: { shop: 'See the shop', refund: 'Refund orders' },
    initialScopes: ['shop'],
    required: ['shop'],
    secrets: ['of-no-value-outside-these-tests-1'],
    fetch: async () => new Response(given.DOCUMENT, { headers: { 'content-type': 'application/json' } }),
  })
}
