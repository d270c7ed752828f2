import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import {
  bearer,
  type HonoAuthOptions,
  type HonoAuthVariables,
  honoAuth,
  VerifierUnavailableError,
} from '../../../src/auth.ts'

const auth = bearer(
  (token) => {
    if (token === 'down') throw new VerifierUnavailableError('the issuer is down: secret-host:1')
    return token === 'bad' ? undefined : { clientId: 'tester', scopes: token.split('.') }
  },
  { scopes: ['shop'], authorizationServers: ['https://login.example'] },
)

function createApp(options: HonoAuthOptions = {}): Hono<{ Variables: HonoAuthVariables }> {
  const app = new Hono<{ Variables: HonoAuthVariables }>()
  const protect = honoAuth(auth, options)
  app.use('/.well-known/oauth-protected-resource/*', protect)
  app.use('/mcp', protect)
  app.all('/mcp', (c) => c.json(c.get('auth')?.clientId ?? 'nobody'))
  app.get('/open', (c) => c.text('open'))
  return app
}

const call = (token?: string, headers: Record<string, string> = {}, options?: HonoAuthOptions) =>
  createApp(options).request('https://mcp.example/mcp', {
    method: 'POST',
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
  })

describe('honoAuth', () => {
  it('a good token → the route, which knows the caller', async () => {
    const response = await call('shop')
    expect(response.status).toBe(200)
    expect(await response.json()).toBe('tester')
  })

  it('none → 401 with the way to one; the route is not run [auth.challenge]', async () => {
    const response = await call()
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(
      'Bearer scope="shop", resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"',
    )
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
  })

  it('a bad one → 401, one without the scope → 403, both readable by a page', async () => {
    const origin = { origin: 'https://app.example' }
    for (const [token, status, error] of [
      ['bad', 401, 'invalid_token'],
      ['read', 403, 'insufficient_scope'],
    ] as const) {
      const response = await call(token, origin)
      expect(response.status).toBe(status)
      expect(response.headers.get('www-authenticate')).toContain(`error="${error}"`)
      expect(response.headers.get('access-control-expose-headers')).toContain('www-authenticate')
    }
  })

  it('a verifier that cannot ask → 503, and only the hook is told why', async () => {
    const errors: unknown[] = []
    const response = await call('down', {}, { onError: (error) => errors.push(error) })
    expect(response.status).toBe(503)
    expect(await response.text()).not.toContain('secret-host')
    expect(errors).toHaveLength(1)
  })

  it('answers the metadata, which follows publicUrl', async () => {
    const metadata = async (options?: HonoAuthOptions) =>
      (
        await createApp(options).request('https://mcp.example/.well-known/oauth-protected-resource/mcp')
      ).json()
    expect(await metadata()).toMatchObject({
      resource: 'https://mcp.example/mcp',
      authorization_servers: ['https://login.example'],
    })
    expect(await metadata({ publicUrl: 'https://shop.example/mcp' })).toMatchObject({
      resource: 'https://shop.example/mcp',
    })
  })

  it('a forwarded host changes the metadata only where the proxy is trusted', async () => {
    const seen = async (trustProxy: boolean) => {
      const response = await call(undefined, { 'x-forwarded-host': 'evil.example' }, { trustProxy })
      return response.headers.get('www-authenticate')
    }
    expect(await seen(false)).toContain('https://mcp.example/')
    expect(await seen(true)).toContain('https://evil.example/')
  })

  it('a preflight and other routes pass', async () => {
    const app = createApp()
    expect((await app.request('https://mcp.example/mcp', { method: 'OPTIONS' })).status).toBe(200)
    expect((await app.request('https://mcp.example/open')).status).toBe(200)
  })
})
