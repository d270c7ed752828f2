/** A real authorization server, `oidc-provider`, on loopback, and the browser of a user who signs in there. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string
  /** Seconds that an access token lasts; read when one is issued. */
  accessTokenSeconds: number
}

export async function startAuthorizationServer(): Promise<AuthorizationServer> {
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

/** Signs in and consents, following every redirect until one leaves for the client; resolves with that URL. */
export async function signIn(start: URL, redirectUrl: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let next: { url: URL; form?: URLSearchParams } = { url: start }
  for (let step = 0; step < 20; step++) {
    if (next.url.href.startsWith(redirectUrl)) return next.url
    const { url, form } = next
    const response: Response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = response.headers.get('location')
    const page = await response.text()
    if (location !== null) next = { url: new URL(location, url) }
    else next = fillIn(page, url)
  }
  throw new Error('The sign-in goes round in circles.')
}

/** Whatever form the page shows: a name for the sign-in, a click for the consent. */
function fillIn(page: string, base: URL): { url: URL; form: URLSearchParams } {
  const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]
  if (action === undefined)
    throw new Error(`No form to fill in: ${page.replaceAll(/<style>[\s\S]*<\/style>|<[^>]+>|\s+/g, ' ')}`)
  const form = new URLSearchParams()
  for (const [input] of page.matchAll(/<input[^>]*>/g)) {
    const name = /name="([^"]+)"/.exec(input)?.[1]
    if (name !== undefined) form.set(name, /value="([^"]*)"/.exec(input)?.[1] ?? '')
  }
  if (form.has('login')) form.set('login', 'ann')
  if (form.has('password')) form.set('password', 'any')
  return { url: new URL(action, base), form }
}
