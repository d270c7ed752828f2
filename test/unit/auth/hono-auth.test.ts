import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import {
  type Auth,
  type BearerOptions,
  bearer,
  type HonoAuthOptions,
  type HonoAuthVariables,
  honoAuth,
  VerifierUnavailableError,
} from '../../../src/auth.ts'
import { printsLikeNode, VALUES } from '../_thrown.ts'

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

  it('a HEAD for the metadata is a GET', async () => {
    const url = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'
    const response = await createApp().request(url, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
    const posted = await createApp().request(url, { method: 'POST' })
    expect(posted.status).toBe(401)
  })

  it('other routes pass', async () => {
    expect((await createApp().request('https://mcp.example/open')).status).toBe(200)
  })

  it('a verifier that compares with `resource` is told it by publicUrl alone [auth.resource]', async () => {
    const byResource = bearer((token, { resource }) => token === resource && { clientId: 'desk' })
    const statusOf = async (options: HonoAuthOptions, env = {}) => {
      const app = new Hono()
      app.use('/mcp', honoAuth(byResource, { onError: () => {}, ...options }))
      app.post('/mcp', (c) => c.text('in'))
      const headers = { authorization: 'Bearer https://mcp.example/mcp' }
      return (await app.request('https://mcp.example/mcp', { method: 'POST', headers }, env)).status
    }
    expect(await statusOf({})).toBe(503)
    expect(await statusOf({ publicUrl: 'https://mcp.example/mcp' })).toBe(200)
    expect(await statusOf({}, { MAYFLY_ALLOWED_HOSTS: 'mcp.example' })).toBe(200)
    expect(await statusOf({}, { MAYFLY_ALLOWED_HOSTS: 'other.example' })).toBe(503)
  })
})

describe('honoAuth and preflights', () => {
  const options = (headers: Record<string, string>) => {
    const app = createApp()
    return app.request('https://mcp.example/mcp', { method: 'OPTIONS', headers })
  }
  const ORIGIN = { origin: 'https://app.example' }

  it('answers them, for the method that is asked about, and runs no route', async () => {
    const response = await options({ ...ORIGIN, 'access-control-request-method': 'PATCH' })
    expect([response.status, await response.text()]).toEqual([204, ''])
    expect(response.headers.get('access-control-allow-methods')).toBe('PATCH')
    expect(response.headers.get('access-control-allow-headers')).toContain('authorization')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  })

  it('repeats no text that is not a method', async () => {
    const response = await options({ ...ORIGIN, 'access-control-request-method': 'GET, evil: 1' })
    expect(response.headers.get('access-control-allow-methods')).toBe('POST')
  })

  it.each([{}, ORIGIN, { 'access-control-request-method': 'POST' }])(
    'an OPTIONS that is no preflight, with %j, needs a token',
    async (headers) => {
      expect((await options(headers)).status).toBe(401)
      expect((await options({ ...headers, authorization: 'Bearer shop' })).status).toBe(200)
    },
  )

  it('another method does not pass for one', async () => {
    const headers = { ...ORIGIN, 'access-control-request-method': 'POST' }
    expect((await call(undefined, headers)).status).toBe(401)
  })
})

describe('honoAuth and an anonymous subset [auth.anonymous]', () => {
  const subset: BearerOptions = { scopes: ['shop'], anonymous: { tools: ['look'] } }
  const byScope = (options: BearerOptions) =>
    bearer((token) => (token === 'bad' ? undefined : { clientId: 'tester', scopes: [token] }), options)
  const statusOf = async (auth: Auth, options: HonoAuthOptions, token?: string) => {
    const app = new Hono<{ Variables: HonoAuthVariables }>()
    app.use('/mcp', honoAuth(auth, options))
    app.post('/mcp', (c) => c.json(c.get('auth')?.clientId ?? 'anybody'))
    const headers = {
      origin: 'https://app.example',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const response = await app.request('https://mcp.example/mcp', { method: 'POST', headers })
    const { headers: answered, status } = response
    return [status, answered.get('www-authenticate'), status === 200 ? await response.json() : undefined]
  }
  const CHALLENGE =
    'Bearer scope="shop", resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"'

  it('lets no caller in without a token: it cannot know what is called', async () => {
    for (const options of [{}, { allowAnonymous: false }])
      expect(await statusOf(byScope(subset), options)).toEqual([401, CHALLENGE, undefined])
    expect(await statusOf(byScope(subset), {}, 'shop')).toEqual([200, null, 'tester'])
    expect((await statusOf(byScope(subset), {}, ''))[0]).toBe(401)
  })

  it('unless allowAnonymous says that the route looks itself; a bad token is still refused', async () => {
    const options = { allowAnonymous: true }
    expect(await statusOf(byScope(subset), options)).toEqual([200, null, 'anybody'])
    expect((await statusOf(byScope(subset), options, 'bad'))[0]).toBe(401)
    expect((await statusOf(byScope(subset), options, 'read'))[0]).toBe(403)
  })

  it('allowAnonymous opens nothing where auth leaves nothing open', async () => {
    expect((await statusOf(byScope({}), { allowAnonymous: true }))[0]).toBe(401)
  })

  it('an auth of one’s own that lets everybody in is asked for a token, too', async () => {
    const { anonymous, metadata } = byScope(subset)
    const lax: Auth = {
      anonymous,
      metadata,
      admit: async () => ({ ok: true, auth: undefined, access: anonymous }),
    }
    const [status, challenge] = await statusOf(lax, {})
    expect([status, challenge]).toEqual([
      401,
      'Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"',
    ])
    expect((await statusOf(lax, { allowAnonymous: true }))[0]).toBe(200)
  })
})

it.each(Object.keys(VALUES))('an auth of one’s own that throws %s → 500 of the app', async (what) => {
  printsLikeNode()
  const admit = () => {
    throw VALUES[what]!()
  }
  const app = new Hono().use('/mcp', honoAuth({ ...auth, admit } as Auth))
  expect((await app.request('https://mcp.example/mcp')).status).toBe(500)
})
