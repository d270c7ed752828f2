/** Requests that no client sends: repeated, huge, by another host, for another server, or thousands of them. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  arrive,
  authorizeUrl,
  connected,
  createWorld,
  exchange,
  handleOf,
  LOOPBACK,
  leave,
  ORIGIN,
  RESOURCE,
  refresh,
  registered,
  signInAs,
  type Tokens,
} from '../_sign-in.ts'
import { createWholeServer } from './_whole-server.ts'

afterEach(() => {
  vi.useRealTimers()
})

const post = (path: string, body: string, headers: object = {}): Request =>
  new Request(`${ORIGIN}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body,
  })

describe('RFC 6749 §3.1: parameters that are repeated', () => {
  it.each([
    ...[
      'response_type',
      'client_id',
      'redirect_uri',
      'scope',
      'state',
      'code_challenge',
      'code_challenge_method',
    ],
    ...['prompt', 'nonce', 'anything'],
  ])('%s twice at the authorization endpoint → a page, and no redirect', async (name) => {
    const world = createWorld()
    const url = await authorizeUrl({ clientId: await registered(world) })
    const own = new URL(url, ORIGIN).searchParams.get(name) ?? 'none'
    for (const more of [
      [own],
      ['evil'],
      [''],
      ...(new URL(url, ORIGIN).searchParams.has(name) ? [] : [['a', 'b']]),
    ]) {
      const twice = more.map((value) => `&${name}=${encodeURIComponent(value)}`).join('')
      const isSingle = !new URL(url, ORIGIN).searchParams.has(name) && more.length === 1
      const response = await world.get(url + twice)
      if (!isSingle) expect([response.status, response.headers.get('location')]).toEqual([400, null])
    }
  })

  it.each(['grant_type', 'code', 'client_id', 'redirect_uri', 'code_verifier'])(
    '%s twice at the token endpoint, for a code → 400, and the code is still good',
    async (name) => {
      const world = createWorld()
      const clientId = await registered(world)
      const url = await signInAs(world, { clientId })
      const fields = new URLSearchParams({
        ...{ grant_type: 'authorization_code', code: url.searchParams.get('code')!, client_id: clientId },
        ...{ redirect_uri: 'http://127.0.0.1:5555/cb', code_verifier: 'v'.repeat(64) },
      })
      for (const value of [fields.get(name)!, 'evil', '']) {
        for (const body of [
          `${fields}&${name}=${encodeURIComponent(value)}`,
          `${name}=${encodeURIComponent(value)}&${fields}`,
        ])
          expect((await world.send(post('/oauth/token', body))).status).toBe(400)
      }
      expect((await world.send(post('/oauth/token', String(fields)))).status).toBe(200)
    },
  )

  it.each(['grant_type', 'refresh_token', 'client_id', 'scope'])(
    '%s twice at the token endpoint, for a refresh → 400',
    async (name) => {
      const world = createWorld()
      const { clientId, tokens } = await connected(world)
      const { refresh_token } = tokens
      const fields = { grant_type: 'refresh_token', refresh_token, client_id: clientId, scope: 'notes:read' }
      const body = `${new URLSearchParams(fields)}&${name}=${encodeURIComponent(fields[name as 'scope'])}`
      expect((await world.send(post('/oauth/token', body))).status).toBe(400)
      expect((await refresh(world, refresh_token, clientId)).status).toBe(200)
    },
  )

  it('token twice at revocation → 400, and nothing is revoked', async () => {
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    const own = encodeURIComponent(tokens.refresh_token)
    for (const body of [`token=${own}&token=${own}`, `token=x&token=${own}`, `token=${own}&token=x`])
      expect((await world.send(post('/oauth/token', `${body}&client_id=${clientId}`))).status).toBe(400)
    await world.signIn.verify(tokens.access_token, world.context)
  })

  it.each(['state', 'code', 'error', 'iss'])(
    '%s twice at the callback → 400, and the sign-in is still good',
    async (name) => {
      const world = createWorld()
      const { jar, callback } = await leave(world, { clientId: await registered(world) })
      const more = name === 'error' || name === 'iss' ? `&${name}=x&${name}=y` : `&${name}=x`
      expect((await world.get(callback() + more, jar.headers)).status).toBe(400)
      expect(world.upstream.exchanged).toEqual([])
      expect((await world.get(callback(), jar.headers)).status).toBe(303)
    },
  )
})

describe('RFC 8707: the resource of another server', () => {
  it.each([
    ['another host', 'https://evil.example/mcp'],
    ['the host of another deployment', 'https://staging.mcp.example.com/mcp'],
    ['another path', `${ORIGIN}/other`],
    ['a longer path', `${RESOURCE}/x`],
    ['only the origin', ORIGIN],
    ['a trailing slash', `${RESOURCE}/`],
    ['a fragment', `${RESOURCE}#x`],
    ['http', 'http://mcp.example.com/mcp'],
    ['userinfo', 'https://evil@mcp.example.com/mcp'],
    ['another port', 'https://mcp.example.com:8443/mcp'],
    ['upper case in the path', `${ORIGIN}/MCP`],
    ['no URL', 'mcp'],
    ['nothing', ''],
  ])('%s → invalid_target, at the authorization and the token endpoint', async (_what, resource) => {
    const world = createWorld()
    const clientId = await registered(world)
    const refused = await world.get(await authorizeUrl({ clientId, query: { resource } }))
    expect(refused.headers.get('location') ?? '').toContain('error=invalid_target')
    const code = (await signInAs(world, { clientId })).searchParams.get('code')!
    const response = await exchange(world, code, clientId, { resource })
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ error: 'invalid_target' }),
    ])
  })

  it('two of them → refused', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const url = `${await authorizeUrl({ clientId })}&resource=https%3A%2F%2Fevil.example`
    expect((await world.get(url)).headers.get('location')).toContain('error=invalid_target')
    const code = (await signInAs(world, { clientId })).searchParams.get('code')!
    const fields = new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, client_id: clientId, code_verifier: 'v'.repeat(64) },
      ...{ redirect_uri: 'http://127.0.0.1:5555/cb', resource: RESOURCE },
    })
    const response = await world.send(post('/oauth/token', `${fields}&resource=https%3A%2F%2Fevil.example`))
    expect(response.status).toBe(400)
  })

  it('the server’s own with a query → a token for the server, and for nothing else', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const query = { resource: `${RESOURCE}?tenant=evil` }
    const code = (await signInAs(world, { clientId, query })).searchParams.get('code')!
    const { access_token } = (await (await exchange(world, code, clientId)).json()) as Tokens
    await world.signIn.verify(access_token, world.context)
    const other = { ...world.context, resource: query.resource }
    await expect(world.signIn.verify(access_token, other)).rejects.toBeDefined()
  })

  it('none → the server’s own', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const code = (await signInAs(world, { clientId, query: { resource: undefined } })).searchParams.get(
      'code',
    )!
    const { access_token } = (await (await exchange(world, code, clientId)).json()) as Tokens
    await world.signIn.verify(access_token, world.context)
    const other = { ...world.context, resource: `${ORIGIN}/other` }
    await expect(world.signIn.verify(access_token, other)).rejects.toMatchObject({ code: 'invalid_token' })
  })
})

describe('requests that are too large', () => {
  it.each(['state', 'scope', 'client_id', 'redirect_uri', 'code_challenge', 'resource', 'anything'])(
    '%s of 100 000 characters at the authorization endpoint → 400',
    async (name) => {
      const world = createWorld()
      const clientId = await registered(world)
      const response = await world.get(
        await authorizeUrl({ clientId, query: { [name]: 'x'.repeat(100_000) } }),
      )
      expect([response.status, response.headers.get('location')]).toEqual([400, null])
      const { keys } = await world.store.list({ prefix: '', limit: 1000 })
      expect(keys.filter((key) => key.includes(':flow:'))).toEqual([])
    },
  )

  it('forms of a megabyte, with a million fields, or by another type → 4xx', async () => {
    const { world } = createWholeServer()
    for (const path of ['/oauth/authorize', '/oauth/token', '/connections'])
      for (const body of ['x'.repeat(1_000_000), 'a&'.repeat(200_000), `consent=${'x'.repeat(70_000)}`]) {
        const response = await world.send(post(path, body))
        expect(response.status, path).toBeGreaterThanOrEqual(400)
        expect(response.status, path).toBeLessThan(500)
      }
    const { status } = await world.send(post('/oauth/register', `{"client_name":"${'x'.repeat(1_000_000)}"}`))
    expect(status).toBe(413)
  })

  it('1000 cookies, and one of 100 000 characters → as none', async () => {
    const world = createWorld()
    const many = Array.from({ length: 1000 }, (_, index) => `__Host-mayfly-flow-${index}=x`).join('; ')
    for (const cookie of [
      many,
      `__Host-mayfly-person=${'x'.repeat(100_000)}`,
      '='.repeat(5000),
      ';'.repeat(5000),
    ]) {
      expect((await world.get('/connections', { cookie })).status).toBe(303)
      expect((await world.get('/oauth/callback?state=x&code=y', { cookie })).status).toBe(400)
    }
  })
})

const REBOUND: readonly { readonly [header: string]: string }[] = [
  { host: 'evil.example' },
  { 'x-forwarded-host': 'evil.example' },
  { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' },
  { forwarded: 'host=evil.example;proto=http' },
  { 'x-original-host': 'evil.example' },
  { 'x-forwarded-prefix': '/evil' },
  { 'x-original-url': '/evil' },
  { 'x-forwarded-port': '8443' },
  { 'x-forwarded-server': 'evil.example' },
]

describe('RFC 9700 §4.13 and DNS rebinding: headers that proxies add, from a stranger', () => {
  it.each(REBOUND)('%j changes neither issuer nor endpoints nor where browsers go', async (headers) => {
    const { world } = createWholeServer()
    const metadata = await world.get('/.well-known/oauth-authorization-server', headers)
    // Refused is as good: nothing of the header is in any answer.
    if (metadata.status === 200)
      expect(await metadata.json()).toMatchObject({ issuer: ORIGIN, token_endpoint: `${ORIGIN}/oauth/token` })
    const url = await authorizeUrl({ clientId: await registered(world) })
    for (const path of [
      url,
      '/connections',
      '/oauth/callback?state=x',
      '/.well-known/oauth-protected-resource/mcp',
    ]) {
      const response = await world.get(path, headers)
      expect(`${response.headers.get('location')} ${await response.text()}`, path).not.toMatch(/evil|8443/)
    }
  })

  it('a server that does not know its URL names no URL of the caller’s', async () => {
    const { server } = createWholeServer({}, {})
    for (const host of ['evil.example', 'mcp.example.com.evil.example', '127.0.0.1.evil.example'])
      for (const path of [
        '/.well-known/oauth-authorization-server',
        '/oauth/authorize',
        '/connections',
        '/oauth/token',
      ]) {
        const response = await server.handle(new Request(`https://${host}${path}`, { headers: { host } }), {})
        expect(response.status, path).toBeGreaterThanOrEqual(400)
        expect(response.headers.get('location')).toBeNull()
        expect(await response.text()).not.toContain(`${host}/oauth`)
      }
  })

  it('headers of a client’s certificate or name are not read', async () => {
    const world = createWorld()
    const response = await world.register({ token_endpoint_auth_method: 'client_secret_post' })
    const { client_id: clientId } = (await response.json()) as { client_id: string }
    const code = (await signInAs(world, { clientId })).searchParams.get('code')!
    const fields = {
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      code_verifier: 'v'.repeat(64),
      redirect_uri: LOOPBACK,
    }
    const headers = {
      ...{
        'x-client-cert': 'x',
        'x-ssl-client-verify': 'SUCCESS',
        'x-forwarded-client-cert': `By=x;Subject="CN=${clientId}"`,
      },
      ...{ 'x-forwarded-user': clientId, 'x-remote-user': clientId, 'client-cert': ':x:' },
    }
    expect((await world.form('/oauth/token', fields, headers)).status).toBe(401)
  })
})

describe('scopes', () => {
  it('those that the server does not have are never given, also not by names of objects', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    for (const scope of [
      'constructor',
      '__proto__',
      'toString',
      'notes:*',
      'NOTES:READ',
      '*',
      'openid',
      'admin',
    ]) {
      const response = await world.get(await authorizeUrl({ clientId, query: { scope } }))
      expect(response.headers.get('location'), scope).toContain('error=invalid_scope')
      const code = (
        await signInAs(world, { clientId, query: { scope: `notes:read ${scope}` } })
      ).searchParams.get('code')!
      expect(await (await exchange(world, code, clientId)).json()).toMatchObject({
        scope: 'notes:read',
      })
    }
  })

  it('the question shows each that is given', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    for (const [scope, isShown] of [
      [undefined, true],
      ['notes:read', false],
      ['notes:read notes:read notes:write', true],
    ] as const) {
      const { at, jar } = await arrive(world, { clientId, query: { scope } })
      expect(handleOf(at)).not.toBe('')
      const page = await (await world.get(at.headers.get('location')!, jar.headers)).text()
      expect(page.includes('Change your notes'), String(scope)).toBe(isShown)
    }
  })
})
