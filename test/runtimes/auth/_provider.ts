/** A real authorization server, `oidc-provider`, on loopback. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string
  /** Seconds that an access token lasts; read when one is issued. */
  accessTokenSeconds: number
}

/** @param documents Metadata documents of clients by URL, as if they were fetched. */
export async function startAuthorizationServer(
  documents: { readonly [url: string]: object } = {},
): Promise<AuthorizationServer> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'first', alg: 'ES256', use: 'sig' }
  const http: Server = createServer(async (request, response) => {
    if (request.method === 'POST' && request.url === '/reg')
      Object.assign(request, { body: await openScope(request) })
    await handle(request, response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const server: AuthorizationServer = {
    issuer,
    accessTokenSeconds: 600,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    fetch: async (url) => Response.json(documents[String(url)] ?? {}),
    scopes: ['openid', 'offline_access', 'shop', 'refund'],
    clientAuthMethods: ['none'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    pkce: { required: () => true },
    cookies: { keys: ['of-no-value-outside-these-tests'] },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      ...(Object.keys(documents).length > 0 && { clientIdMetadataDocument: { enabled: true } }),
      resourceIndicators: {
        enabled: true,
        useGrantedResource: async () => true,
        // RFC 8707: a token is for the resource that was asked for, and for no other.
        getResourceServerInfo: async (_context, indicator) => ({
          scope: 'shop refund',
          audience: indicator.includes('/other') ? 'mcp-other' : 'mcp-shop',
          accessTokenFormat: 'jwt' as const,
          accessTokenTTL: server.accessTokenSeconds,
          jwt: { sign: { alg: 'ES256' as const } },
        }),
      },
    },
  })
  const handle = provider.callback()
  return server
}

/** Clients register with the scopes that they know of; a provider that held them to those could never step them up. */
async function openScope(request: IncomingMessage): Promise<object> {
  let text = ''
  for await (const chunk of request) text += chunk
  const { scope: _scope, ...metadata } = JSON.parse(text) as { scope?: string }
  return metadata
}
