/** Clients that register, and clients that are found by their document. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import {
  arrive,
  authorizeUrl,
  connected,
  createWorld,
  exchange,
  handleOf,
  LOOPBACK,
  ORIGIN,
  refresh,
  registered,
  signInAs,
  type Tokens,
  type World,
} from './_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('registration', () => {
  it.each([
    ['a script as redirect URI', { redirect_uris: ['javascript:alert(1)'] }, 400],
    ['http elsewhere', { redirect_uris: ['http://evil.example/cb'] }, 400],
    ['a fragment', { redirect_uris: ['https://a.example/#x'] }, 400],
    ['a user in the URI', { redirect_uris: ['https://a@b.example/'] }, 400],
    ['no redirect URI', { redirect_uris: [] }, 400],
    [
      'thirty redirect URIs',
      { redirect_uris: Array.from({ length: 30 }, (_, n) => `https://a.example/${n}`) },
      400,
    ],
    ['a long redirect URI', { redirect_uris: [`https://a.example/${'x'.repeat(3000)}`] }, 400],
    ['a long name', { client_name: 'x'.repeat(900_000) }, 413],
    ['a name that is a list', { client_name: ['x'] }, 400],
    ['a script as logo', { logo_uri: 'javascript:1' }, 400],
    ['client credentials', { grant_types: ['client_credentials'] }, 400],
    ['the password grant', { grant_types: ['password'] }, 400],
    ['an app on the computer', { redirect_uris: ['http://localhost/cb', 'http://[::1]/cb'] }, 201],
    ['an app with a scheme and loopback', { redirect_uris: ['cursor://x/cb', 'http://127.0.0.1/cb'] }, 201],
    ['a client with a secret', { token_endpoint_auth_method: 'client_secret_basic' }, 201],
  ])('%s → %s', async (_name, metadata, status) => {
    const response = await createWorld().register(metadata)
    expect(response.status).toBe(status)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })

  it.each(['', '[]', 'null', '{', '"x"', '1'])('the body %j → 400', async (body) => {
    const headers = { 'content-type': 'application/json' }
    const response = await createWorld().send(
      new Request(`${ORIGIN}/oauth/register`, { method: 'POST', headers, body }),
    )
    expect(response.status).toBe(400)
  })

  it('logos and other documents of a client are never fetched', async () => {
    const asked: unknown[] = []
    const world = createWorld({
      fetch: async (...given) => {
        asked.push(given)
        return new Response('{}')
      },
    })
    const evil = 'http://169.254.169.254/latest'
    const clientId = await registered(world, {
      logo_uri: evil,
      jwks_uri: evil,
      policy_uri: evil,
      tos_uri: evil,
      client_uri: evil,
    })
    const { at, jar } = await arrive(world, { clientId })
    const page = await (await world.get(at.headers.get('location')!, jar.headers)).text()
    expect(page).not.toContain('169.254')
    expect(asked).toEqual([])
  })

  it('a client that nobody signed in with is forgotten after a day, and one that is used is not', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    const unused = await registered(world)
    const { clientId, tokens } = await connected(world)
    vi.setSystemTime(Date.now() + 86_400_001)
    expect((await world.get(await authorizeUrl({ clientId: unused }))).status).toBe(400)
    expect((await world.get(await authorizeUrl({ clientId }))).status).toBe(303)
    expect((await refresh(world, tokens.refresh_token, clientId)).status).toBe(200)
  })

  it('a client of one server is unknown to another one with the same store', async () => {
    const store = createMemoryGrants()
    const clientId = await registered(createWorld({ store }))
    const origin = 'https://staging.example.com'
    const query = { resource: `${origin}/mcp` }
    const other = createWorld({ store, origin })
    expect((await other.get(await authorizeUrl({ clientId, query }))).status).toBe(400)
  })

  it('a secret is needed by the client that has one, and is stored as a hash', async () => {
    const world = createWorld()
    const response = await world.register({ token_endpoint_auth_method: 'client_secret_post' })
    const { client_id: clientId, client_secret: secret } = (await response.json()) as {
      [name: string]: string
    }
    const code = async () => (await signInAs(world, { clientId: clientId! })).searchParams.get('code') ?? ''
    expect((await exchange(world, await code(), clientId!)).status).toBe(401)
    expect((await exchange(world, await code(), clientId!, { client_secret: 'x' })).status).toBe(401)
    const tokens = await exchange(world, await code(), clientId!, { client_secret: secret! })
    expect(tokens.status).toBe(200)
    const { refresh_token: token } = (await tokens.json()) as Tokens
    expect((await refresh(world, token, clientId!)).status).toBe(401)
    expect((await refresh(world, token, clientId!, { client_secret: secret })).status).toBe(200)
    const { keys } = await world.store.list({ prefix: '', limit: 1000 })
    const texts = await Promise.all(keys.map(async (key) => (await world.store.read(key))?.value))
    expect(texts.join()).not.toContain(secret)
  })

  it('the secret also works in Basic, with its repeated answer', async () => {
    const world = createWorld()
    const response = await world.register({ token_endpoint_auth_method: 'client_secret_basic' })
    const { client_id: clientId, client_secret: secret } = (await response.json()) as {
      [name: string]: string
    }
    const basic = { authorization: `Basic ${btoa(`${clientId}:${secret}`)}` }
    const code = (await signInAs(world, { clientId: clientId! })).searchParams.get('code') ?? ''
    const proof = { code_verifier: 'v'.repeat(64), redirect_uri: LOOPBACK }
    const tokens = await world.form(
      '/oauth/token',
      { grant_type: 'authorization_code', code, ...proof },
      basic,
    )
    expect(tokens.status).toBe(200)
    const { refresh_token } = (await tokens.json()) as Tokens
    const again = () => world.form('/oauth/token', { grant_type: 'refresh_token', refresh_token }, basic)
    const first = await (await again()).json()
    expect(await (await again()).json()).toEqual(first)
  })
})

const ID = 'https://client.example/meta.json'
const WEB = 'https://client.example/cb'
const DOCUMENT = {
  client_id: ID,
  client_name: 'Documented',
  redirect_uris: [WEB],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
}

interface Net {
  readonly asked: string[]
  readonly answers: { [url: string]: () => Response | Promise<Response> }
}

function withNet(answers: Net['answers'], options = {}): { world: World; net: Net } {
  const net: Net = { asked: [], answers }
  const world = createWorld({
    ...options,
    fetch: async (input, init) => {
      net.asked.push(String(input))
      expect(init?.redirect).toBe('manual')
      expect(new Headers(init?.headers).has('cookie')).toBe(false)
      const answer = net.answers[String(input)]
      if (answer === undefined) throw new TypeError('fetch failed')
      return answer()
    },
  })
  return { world, net }
}

describe('a client with a document', () => {
  it('signs in, with the host of the document on the page', async () => {
    const { world } = withNet({ [ID]: () => Response.json(DOCUMENT) })
    const { at, jar } = await arrive(world, { clientId: ID, redirectUri: WEB })
    const page = await (await world.get(at.headers.get('location')!, jar.headers)).text()
    expect(page).toContain('Documented')
    expect(page).toContain('client.example')
    const url = await signInAs(world, { clientId: ID, redirectUri: WEB })
    const response = await exchange(world, url.searchParams.get('code') ?? '', ID, { redirect_uri: WEB })
    expect(response.status).toBe(200)
    const { access_token } = (await response.json()) as Tokens
    expect(await world.signIn.verify(access_token, world.context)).toMatchObject({ clientId: ID })
  })

  it('is asked for its document once in a while, also by other instances', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const store = createMemoryGrants()
    const { world, net } = withNet({ [ID]: () => Response.json(DOCUMENT) }, { store })
    await signInAs(world, { clientId: ID, redirectUri: WEB })
    const other = withNet({}, { store })
    await signInAs(other.world, { clientId: ID, redirectUri: WEB })
    expect([net.asked, other.net.asked]).toEqual([[ID], []])
    vi.setSystemTime(Date.now() + 15 * 60_000 + 1)
    await signInAs(world, { clientId: ID, redirectUri: WEB })
    expect(net.asked).toEqual([ID, ID])
  })

  it('goes on while its document cannot be reached', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { world, net } = withNet({ [ID]: () => Response.json(DOCUMENT) })
    const url = await signInAs(world, { clientId: ID, redirectUri: WEB })
    const exchanged = await exchange(world, url.searchParams.get('code') ?? '', ID, { redirect_uri: WEB })
    let tokens = (await exchanged.json()) as Tokens
    for (const down of [
      () => new Response('', { status: 503 }),
      () => Promise.reject(new TypeError('fetch failed')),
    ]) {
      net.answers[ID] = down
      vi.setSystemTime(Date.now() + 24 * 60 * 60_000)
      const response = await refresh(world, tokens.refresh_token, ID)
      expect(response.status).toBe(200)
      tokens = (await response.json()) as Tokens
    }
    vi.setSystemTime(Date.now() + 8 * 24 * 60 * 60_000)
    const late = await refresh(world, tokens.refresh_token, ID)
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '5'])
    net.answers[ID] = () => Response.json(DOCUMENT)
    vi.setSystemTime(Date.now() + 31_000)
    expect((await refresh(world, tokens.refresh_token, ID)).status).toBe(200)
  })

  it('whose document is gone is refused: 401', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { world, net } = withNet({ [ID]: () => Response.json(DOCUMENT) })
    const url = await signInAs(world, { clientId: ID, redirectUri: WEB })
    net.answers[ID] = () => new Response('', { status: 404 })
    vi.setSystemTime(Date.now() + 16 * 60_000)
    expect((await exchange(world, url.searchParams.get('code') ?? '', ID)).status).toBe(401)
  })

  it.each([
    'https://127.0.0.1/m',
    'https://10.0.0.1/m',
    'https://[::1]/m',
    'https://[fd00::1]/m',
    'https://169.254.169.254/m',
    'https://203.0.113.7/m',
    'https://2130706433/m',
    'https://0x7f.1/m',
    'https://localhost/m',
    'https://localhost./m',
    'https://intranet/m',
    'https://printer.local/m',
    'https://db.internal/m',
    'http://client.example/m',
    'https://client.example',
    'https://client.example/',
    'https://u:p@client.example/m',
    'https://client.example:8443/m',
    'https://client.example/a/../m',
    'https://client.example/a/%2e%2e/m',
    'https://client.example\\@127.0.0.1/m',
    'https://client.example/m#x',
    'https://CLIENT.example/m',
    ' https://client.example/m',
    `https://client.example/${'x'.repeat(500)}`,
  ])('%s is not fetched', async (clientId) => {
    const { world, net } = withNet({ [clientId]: () => Response.json({ ...DOCUMENT, client_id: clientId }) })
    const response = await world.get(await authorizeUrl({ clientId, redirectUri: WEB }))
    // Without a slash at its end, the URL is not the one of a document: the client is unknown.
    expect(response.status).toBe(400)
    expect(net.asked).toEqual([])
  })

  it.each([
    'http://169.254.169.254/latest',
    'https://127.0.0.1/',
    'file:///etc/passwd',
    'https://client.example:22/',
    'https://evil.example/meta.json',
    'https://client.example/other.json',
    '/other.json',
    ID,
  ])('a redirect to %s is not followed', async (target) => {
    const { world, net } = withNet({
      [ID]: () => new Response(null, { status: 302, headers: { location: target } }),
      'https://evil.example/meta.json': () => Response.json(DOCUMENT),
      'https://client.example/other.json': () => Response.json(DOCUMENT),
    })
    const response = await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))
    expect(response.status).toBe(400)
    expect(net.asked).toEqual([ID])
  })

  it.each([201, 203, 206, 300, 301, 303, 304, 307, 308])(
    'a document with status %i is refused',
    async (status) => {
      const headers = { location: 'https://client.example/other.json', 'content-type': 'application/json' }
      const { world, net } = withNet({
        [ID]: () => new Response(status === 304 ? null : JSON.stringify(DOCUMENT), { status, headers }),
        'https://client.example/other.json': () => Response.json(DOCUMENT),
      })
      const response = await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))
      expect([response.status, net.asked]).toEqual([400, [ID]])
    },
  )

  it('a document without an end is given up', async () => {
    let sent = 0
    const body = () =>
      new ReadableStream({
        pull(controller) {
          sent += 1000
          controller.enqueue(new TextEncoder().encode(' '.repeat(1000)))
        },
      })
    const headers = { 'content-type': 'application/json' }
    const { world } = withNet({ [ID]: () => new Response(body(), { headers }) })
    const response = await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))
    expect(response.status).toBe(400)
    expect(sent).toBeLessThan(20_000)
  })

  it.each([
    ['another client_id', { client_id: 'https://other.example/m' }],
    ['no name', { client_name: ' ' }],
    ['no redirect URI', { redirect_uris: [] }],
    ['a secret', { client_secret: 'x' }],
    ['a shared secret', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['no code grant', { grant_types: ['refresh_token'] }],
  ])('a document with %s is refused', async (_name, members) => {
    const { world } = withNet({ [ID]: () => Response.json({ ...DOCUMENT, ...members }) })
    const response = await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })

  it.each(['[]', 'null', '"x"', '<html>', ''])('the document %j is refused', async (text) => {
    const headers = { 'content-type': 'application/json' }
    const { world } = withNet({ [ID]: () => new Response(text, { headers }) })
    expect((await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))).status).toBe(400)
  })

  // On many hosts strangers can put a file: its host must not be named as the client's.
  it.each([
    ['text/plain', 400],
    ['text/html', 400],
    ['application/octet-stream', 400],
    ['image/svg+xml', 400],
    ['application/json-seq', 400],
    ['text/json', 400],
    ['application/json;charset=utf-16', 400],
    ['application/json, text/html', 400],
    ['', 400],
    ['application/json', 303],
    ['Application/JSON; charset=UTF-8', 303],
    ['application/client-metadata+json', 303],
  ])('a document served as %j → %i', async (type, status) => {
    const { world } = withNet({
      [ID]: () => {
        const response = new Response(JSON.stringify(DOCUMENT), { headers: { 'content-type': type } })
        if (type === '') response.headers.delete('content-type')
        return response
      },
    })
    const url = await authorizeUrl({ clientId: ID, redirectUri: WEB })
    expect((await world.get(url)).status).toBe(status)
  })

  it('a client whose methods include none is taken, and its keys are not fetched', async () => {
    const members = {
      token_endpoint_auth_method: undefined,
      token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'],
      jwks_uri: 'https://169.254.169.254/jwks',
    }
    const { world, net } = withNet({ [ID]: () => Response.json({ ...DOCUMENT, ...members }) })
    await signInAs(world, { clientId: ID, redirectUri: WEB })
    expect(net.asked).toEqual([ID])
  })

  describe('and a key', () => {
    const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

    async function withKey(members: object = {}, published: 'publicKey' | 'privateKey' = 'publicKey') {
      const pair = await generateKeyPair('ES256', { extractable: true })
      const { privateKey } = pair
      const { privateKey: other } = await generateKeyPair('ES256')
      const jwks = { keys: [{ ...(await exportJWK(pair[published])), alg: 'ES256' }] }
      const method = { token_endpoint_auth_method: 'private_key_jwt', jwks }
      const { world, net } = withNet({ [ID]: () => Response.json({ ...DOCUMENT, ...method, ...members }) })
      net.answers['https://client.example/jwks'] = () => Response.json(jwks)
      const sign = (claims: object = {}, key = privateKey): Promise<string> =>
        new SignJWT({ iss: ID, sub: ID, aud: ORIGIN, jti: crypto.randomUUID(), exp: now() + 60, ...claims })
          .setProtectedHeader({ alg: 'ES256' })
          .sign(key)
      const code = (await signInAs(world, { clientId: ID, redirectUri: WEB })).searchParams.get('code') ?? ''
      const ask = (fields: { readonly [name: string]: string }) =>
        world.form('/oauth/token', {
          grant_type: 'authorization_code',
          code,
          code_verifier: 'v'.repeat(64),
          redirect_uri: WEB,
          ...fields,
        })
      return { world, net, sign, ask, other }
    }
    const now = (): number => Math.floor(Date.now() / 1000)

    it.each([
      ['in its document', {}],
      ['at a URL', { jwks: undefined, jwks_uri: 'https://client.example/jwks' }],
    ])('%s gets tokens with a proof, once for each', async (_name, members) => {
      const { world, sign, ask } = await withKey(members)
      const proof = { client_assertion_type: TYPE, client_assertion: await sign() }
      const response = await ask(proof)
      expect(response.status).toBe(200)
      const { refresh_token } = (await response.json()) as Tokens
      const fields = { grant_type: 'refresh_token', refresh_token }
      expect((await world.form('/oauth/token', { ...fields, ...proof })).status).toBe(401)
      const next = { client_assertion_type: TYPE, client_assertion: await sign() }
      expect((await world.form('/oauth/token', { ...fields, ...next })).status).toBe(200)
    })

    it.each([
      ['in its document', {}],
      ['at a URL', { jwks: undefined, jwks_uri: 'https://client.example/jwks' }],
    ])('%s whose private part is published proves nothing', async (_name, members) => {
      const { sign, ask } = await withKey(members, 'privateKey')
      const response = await ask({ client_assertion_type: TYPE, client_assertion: await sign() })
      expect(response.status).toBe(401)
    })

    it('is refused without a proof, and with one that is not its own, not for this server or not current', async () => {
      const { ask, sign, other } = await withKey()
      expect((await ask({ client_id: ID })).status).toBe(401)
      const wrong = await Promise.all([
        sign({}, other),
        sign({ aud: 'https://other.example' }),
        sign({ aud: `${ORIGIN}/oauth/token` }),
        sign({ aud: [ORIGIN, 'https://other.example'] }),
        sign({ sub: 'https://other.example/m' }),
        sign({ exp: now() - 60 }),
        sign({ exp: now() + 86_400 }),
        sign({ jti: undefined }),
        'x.y.z',
        '',
      ])
      for (const client_assertion of wrong)
        expect((await ask({ client_id: ID, client_assertion_type: TYPE, client_assertion })).status).toBe(401)
      const another = { client_assertion_type: 'other', client_assertion: await sign() }
      expect((await ask(another)).status).toBe(401)
      expect((await ask({ client_assertion_type: TYPE, client_assertion: await sign() })).status).toBe(200)
    })

    it('whose URL does not answer now → 503, and whose URL is not public → refused', async () => {
      const { ask, net, sign } = await withKey({ jwks: undefined, jwks_uri: 'https://client.example/jwks' })
      net.answers['https://client.example/jwks'] = () => new Response('', { status: 503 })
      const proof = { client_assertion_type: TYPE, client_assertion: await sign() }
      expect((await ask(proof)).status).toBe(503)
      const inner = {
        ...DOCUMENT,
        token_endpoint_auth_method: 'private_key_jwt',
        jwks_uri: 'https://169.254.169.254/jwks',
      }
      const { world, net: other } = withNet({ [ID]: () => Response.json(inner) })
      expect((await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))).status).toBe(400)
      expect(other.asked).toEqual([ID])
    })
  })

  it('a redirect URI that the document does not list is refused', async () => {
    const { world } = withNet({ [ID]: () => Response.json(DOCUMENT) })
    const response = await world.get(
      await authorizeUrl({ clientId: ID, redirectUri: 'https://evil.example/cb' }),
    )
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    expect(handleOf(response)).toBe('')
  })
})

describe('a registration', () => {
  it.each([
    [30, [29, 29, 29, 29]],
    [90, [44, 89, 89]],
    [365, [10, 80, 100, 364, 364]],
  ])('lasts as long as a connection that may be unused for %i days', async (unusedDays, days) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld({ unusedDays })
    const { clientId, tokens } = await connected(world)
    let last = tokens
    for (const more of days) {
      vi.setSystemTime(Date.now() + more * 86_400_000)
      const response = await refresh(world, last.refresh_token, clientId)
      expect([more, response.status]).toEqual([more, 200])
      last = (await response.json()) as Tokens
    }
  })
})
