/**
 * An MCP server and the authorization server in front of it, in one Worker. `@cloudflare/workers-oauth-provider` registers
 * clients, issues tokens and keeps them in KV; consent.ts asks the user; Mayfly checks each call's token and its scopes.
 *
 * Try it: `cd examples/oauth-cloudflare && npx mayfly dev server.ts`. Deployed it signs nobody in until `signedInUser` in
 * consent.ts is yours.
 */
import { env } from 'cloudflare:workers'
import { OAuthAuthorizationServer } from '@cloudflare/workers-oauth-provider'
import { createTool, MCPServer } from 'mayfly-mcp'
import { bearer, VerifierUnavailableError } from 'mayfly-mcp/auth'
import { cloudflare, type ExecutionContext } from 'mayfly-mcp/cloudflare'
import * as z from 'zod'
import { authorize, type UserProps } from './consent.ts'

type Env = typeof env

const RESOURCE = `${env.ORIGIN}/mcp`

const authorizationServer = new OAuthAuthorizationServer<Env>({
  issuer: env.ORIGIN,
  resources: [RESOURCE],
  // All that can be granted; which of it a call needs is said below.
  scopesSupported: ['shop', 'refund'],
  // Both ways for clients that nobody has registered here: by the URL of their metadata, and, for older ones, by themselves.
  clientIdMetadataDocumentEnabled: true,
  clientRegistrationEndpoint: '/oauth/register',
})

const who = createTool({
  id: 'who',
  description: 'Says who calls',
  execute: (_input, ctx) => ({ user: ctx.auth?.subject, name: ctx.auth?.extra?.name }),
})

const refund = createTool({
  id: 'refund',
  description: 'Refunds an order',
  scopes: ['refund'],
  inputSchema: z.object({ orderId: z.string() }),
  execute: ({ orderId }, ctx) => `${orderId} was refunded by ${ctx.auth?.extra?.name}`,
})

/** KV refuses keys of more than 512 bytes, and a token's may be 71 longer than the token. */
const MAX_TOKEN_CHARACTERS = 400

const server = new MCPServer({
  id: 'shop',
  name: 'Shop',
  version: '1.0.0',
  tools: { who, refund },
  http: { publicUrl: RESOURCE },
  auth: bearer(
    async (token, { resource }) => {
      if (token.length > MAX_TOKEN_CHARACTERS) return undefined
      // Takes only what was issued for this very resource, and is neither expired nor revoked.
      const found = await authorizationServer
        .validateToken<UserProps>(resource, token, env)
        .catch((cause: unknown) => {
          throw new VerifierUnavailableError('The token cannot be looked up.', { cause })
        })
      if (found === null) return undefined
      const { clientId, scope, expiresAt, userId, props } = found
      // What is sealed for a caller, and how often one may call, goes by the client and `sub`.
      return { clientId, scopes: scope, expiresAt, extra: { sub: userId, ...props } }
    },
    { scopes: ['shop'], authorizationServers: [env.ORIGIN] },
  ),
})

const serveMcp = cloudflare(server)

export default {
  async fetch(request: Request, _env: Env, context: ExecutionContext): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/authorize') return authorize(request, authorizationServer.getOAuthApi(env))
    if (pathname.startsWith('/oauth/') || pathname === '/.well-known/oauth-authorization-server') {
      return authorizationServer.fetch(request, env, context)
    }
    return serveMcp(request, env, context)
  },
}
