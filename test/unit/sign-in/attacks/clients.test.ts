/** Clients that are found by their document: what it may say, and where the server must not go for it. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  arrive,
  authorizeUrl,
  createWorld,
  decide,
  exchange,
  handleOf,
  LOOPBACK,
  ORIGIN,
  refresh,
  registered,
  signInAs,
  type Tokens,
  type World,
} from '../_sign-in.ts'

const ID = 'https://client.example/meta.json'
const WEB = 'https://client.example/cb'
const DOCUMENT = {
  client_id: ID,
  client_name: 'Documented',
  redirect_uris: [WEB],
  token_endpoint_auth_method: 'none',
}

type Answers = { [url: string]: () => Response | Promise<Response> }

afterEach(() => {
  vi.useRealTimers()
})

/** A world whose network has these answers, and what it was asked. */
function withNet(answers: Answers): { world: World; asked: string[]; answers: Answers } {
  const asked: string[] = []
  const world = createWorld({
    fetch: async (input) => {
      asked.push(String(input))
      const answer = answers[String(input)]
      if (answer === undefined) throw new TypeError('fetch failed')
      return answer()
    },
  })
  return { world, asked, answers }
}

async function pageOf(world: World, clientId: string, redirectUri: string): Promise<string> {
  const { at, jar } = await arrive(world, { clientId, redirectUri })
  return (await world.get(at.headers.get('location')!, jar.headers)).text()
}

/** Hosts that must never be asked, as attackers write them. */
const PRIVATE = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '017700000001',
    '0177.0.0.1',
  ],
  ...['127.0.0.1.', '127.000.000.001', '%31%32%37.0.0.1', '①②⑦.0.0.1', '127。0。0。1'],
  ...['0.0.0.0', '0', '10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254', '2852039166'],
  ...[
    '0xa9fea9fe',
    '169.254.43518',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:a9fe:a9fe]',
  ],
  ...[
    '[64:ff9b::a9fe:a9fe]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[fe80::1%25eth0]',
    '[fc00::1]',
    '[2002:7f00:1::]',
  ],
  ...['8.8.8.8', '[2001:4860:4860::8888]', '255.255.255.255', '224.0.0.1'],
  ...[
    'localhost',
    'localhost.',
    'LOCALHOST',
    'a.localhost',
    'localhost.localdomain',
    'ip6-localhost',
    'loopback',
  ],
  ...[
    'metadata',
    'metadata.google.internal',
    'metadata.google.internal.',
    'instance-data',
    'instance-data.ec2.internal',
  ],
  ...['kubernetes', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', 'vault.service.consul'],
  ...[
    'intranet',
    'router.lan',
    'nas.home.arpa',
    'printer.local',
    'app.corp',
    'db.private',
    'db.intranet',
    'x.onion',
  ],
  ...[
    'server.test',
    'server.invalid',
    'client',
    'client..example',
    '.client.example',
    'cli ent.example',
    '*.example',
  ],
] as const

describe('MCP SSRF: addresses that are not public', () => {
  it.each(PRIVATE)('the document of a client at https://%s → not asked', async (host) => {
    const clientId = `https://${host}/meta.json`
    const { world, asked } = withNet({})
    const response = await world.get(await authorizeUrl({ clientId, redirectUri: WEB }))
    expect([response.status, asked]).toEqual([400, []])
  })

  it.each(PRIVATE)('a redirect of the document to https://%s → not followed', async (host) => {
    const location = `https://${host}/latest/meta-data/`
    const { world, asked } = withNet({
      [ID]: () => new Response(null, { status: 302, headers: headerOf(location) }),
    })
    const response = await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))
    expect([response.status, asked]).toEqual([400, [ID]])
  })

  it.each([
    'http://client.example/x',
    'https://client.example:22/x',
    'https://client.example:8443/x',
    'https://user@client.example/x',
    'https://user:pass@client.example/x',
    'ftp://client.example/x',
    'file:///etc/passwd',
    'data:application/json,{}',
    'gopher://127.0.0.1:6379/_x',
    '//127.0.0.1/x',
    '\\\\127.0.0.1\\x',
    'http:/127.0.0.1/x',
  ])('a redirect of the document to %s → not followed', async (location) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { world, asked } = withNet({ [ID]: () => new Response(null, { status, headers: { location } }) })
      const response = await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))
      expect([response.status, asked]).toEqual([400, [ID]])
    }
  })

  it.each(PRIVATE)('jwks_uri at https://%s → not asked', async (host) => {
    const members = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `https://${host}/jwks` }
    const { world, asked } = withNet({ [ID]: () => Response.json({ ...DOCUMENT, ...members }) })
    const response = await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))
    expect([response.status, asked]).toEqual([400, [ID]])
  })

  it('jwks_uri that redirects to a private address → not followed, and no tokens', async () => {
    const jwks = 'https://client.example/jwks'
    const members = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: jwks }
    const { world, asked } = withNet({
      [ID]: () => Response.json({ ...DOCUMENT, ...members }),
      [jwks]: () => new Response(null, { status: 302, headers: { location: 'https://169.254.169.254/' } }),
    })
    const { privateKey } = await generateKeyPair('ES256')
    const code = (await signInAs(world, { clientId: ID, redirectUri: WEB })).searchParams.get('code')!
    const response = await exchange(world, code, ID, { redirect_uri: WEB, ...(await proof(privateKey)) })
    expect([response.status, asked]).toEqual([401, [ID, jwks]])
  })

  it.each([
    'logo_uri',
    'client_uri',
    'policy_uri',
    'tos_uri',
    'sector_identifier_uri',
    'request_uris',
    'software_statement',
    'backchannel_logout_uri',
  ])('%s is neither fetched nor shown', async (name) => {
    const evil = 'https://169.254.169.254/latest/meta-data'
    const value = name === 'request_uris' ? [evil] : evil
    const { world, asked } = withNet({ [ID]: () => Response.json({ ...DOCUMENT, [name]: value }) })
    expect(await pageOf(world, ID, WEB)).not.toContain('169.254')
    expect(asked).toEqual([ID])
  })

  it('a request by reference (request, request_uri: RFC 9101) is not followed', async () => {
    const { world, asked } = withNet({ [ID]: () => Response.json(DOCUMENT) })
    const query = { request_uri: 'https://169.254.169.254/', request: 'x.y.z' }
    await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB, query }))
    await world.get(
      `/oauth/authorize?client_id=${encodeURIComponent(ID)}&request_uri=https://169.254.169.254/`,
    )
    expect(asked).toEqual([ID])
  })

  it('what an address answers is never shown, nor whether it exists', async () => {
    const texts = new Set<string>()
    for (const answer of [
      () => new Response('root:x:0:0', { status: 200 }),
      () => new Response('<b>secret</b>', { status: 200, headers: { 'content-type': 'text/html' } }),
    ]) {
      const { world } = withNet({ [ID]: answer })
      texts.add(await (await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))).text())
    }
    expect(texts.size).toBe(1)
    expect([...texts].join()).not.toMatch(/root:|secret/)
  })
})

const headerOf = (location: string): Headers => {
  // As far as it can be sent at all.
  const headers = new Headers()
  headers.set('location', encodeURI(location).replaceAll('%25', '%'))
  return headers
}

describe('MCP client ID metadata documents: a client impersonates another', () => {
  it.each([
    ['a client_id of another client', { client_id: 'https://claude.ai/meta.json' }],
    ['a client_id that differs in a slash', { client_id: `${ID}/` }],
    ['a client_id that differs in case', { client_id: ID.toUpperCase() }],
    ['a client_id with a query', { client_id: `${ID}?` }],
    ['no client_id', { client_id: undefined }],
    ['a list of client_ids', { client_id: [ID] }],
    ['no name', { client_name: undefined }],
    ['a name that is a number', { client_name: 1 }],
    ['a name of 3000 characters', { client_name: 'x'.repeat(3000) }],
    ['no redirect URIs', { redirect_uris: undefined }],
    ['redirect URIs in a text', { redirect_uris: WEB }],
    ['a redirect URI that is an object', { redirect_uris: [WEB, {}] }],
    ['21 redirect URIs', { redirect_uris: Array.from({ length: 21 }, () => WEB) }],
    ['a secret', { client_secret: 'x' }],
    ['a shared secret as its proof', { token_endpoint_auth_method: 'client_secret_post' }],
    ['keys that are missing', { token_endpoint_auth_method: 'private_key_jwt' }],
  ])('a document with %s → refused', async (_what, members) => {
    const { world } = withNet({ [ID]: () => Response.json({ ...DOCUMENT, ...members }) })
    const response = await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })

  it.each([
    ['a page', () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } })],
    ['nothing', () => new Response(null, { status: 204 })],
    ['a list', () => Response.json([DOCUMENT])],
    ['404 with the document', () => Response.json(DOCUMENT, { status: 404 })],
    ['201 with the document', () => Response.json(DOCUMENT, { status: 201 })],
    ['broken text', () => new Response(new Uint8Array([0x7b, 0xff, 0xfe]))],
    ['6 KB', () => Response.json({ ...DOCUMENT, x: 'x'.repeat(6000) })],
    ['a redirect to itself', () => new Response(null, { status: 302, headers: { location: ID } })],
    ['a redirect without a target', () => new Response(null, { status: 302 })],
  ])('an address that answers with %s → refused', async (_what, answer) => {
    const { world, asked } = withNet({ [ID]: answer })
    const response = await world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    expect(asked.length).toBeLessThanOrEqual(4)
  })

  it('an address that never answers, or never ends → given up after 5 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { world, asked } = withNet({ [ID]: () => new Promise(() => {}) })
    const asking = world.get(await authorizeUrl({ clientId: ID, redirectUri: WEB }))
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    await vi.advanceTimersByTimeAsync(5000)
    expect((await asking).status).toBe(503)
  })

  it('the page has the host of the document, which nobody else can have, beside the name', async () => {
    const { world } = withNet({ [ID]: () => Response.json({ ...DOCUMENT, client_name: 'Claude' }) })
    expect(await pageOf(world, ID, WEB)).toContain(
      'This app is from <strong><code>client.example</code></strong>',
    )
    const other = await registered(world, { client_name: 'Claude', redirect_uris: [WEB] })
    const page = await pageOf(world, other, WEB)
    expect(page).toContain('Not verified.')
    expect(page).not.toContain('This app is from')
  })

  it.each([
    ['a direction of writing', 'Claude\u202Eia.live\u202C', '\\u202e'],
    ['a letter without width', 'Cla\u200Bude', '\\u200b'],
    ['a line break', 'Claude\n\nVerified by Google', 'Claude Verified by Google'],
    ['a tag character', 'Claude\u{E0041}', '\\udb40'],
  ])('a name with %s → spelled out, and still not verified', async (_what, client_name, shown) => {
    const world = createWorld()
    const page = await pageOf(world, await registered(world, { client_name, redirect_uris: [WEB] }), WEB)
    expect(page).toContain(shown)
    expect(page).toContain('Not verified.')
    expect(page).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B]/)
  })

  it('a host that looks like another → spelled as it is looked up, with a warning', async () => {
    const id = 'https://xn--laude-0ye.ai/meta.json'
    const uri = 'https://xn--laude-0ye.ai/cb'
    const { world } = withNet({
      [id]: () => Response.json({ ...DOCUMENT, client_id: id, redirect_uris: [uri] }),
    })
    const page = await pageOf(world, id, uri)
    expect(page).toContain('xn--laude-0ye.ai')
    expect(page).toContain('letters that can look like others')
    // In the letters themselves it is another client_id, which no document may have.
    const plain = withNet({})
    const refused = await plain.world.get(await authorizeUrl({ clientId: 'https://сlaude.ai/meta.json' }))
    expect([refused.status, plain.asked]).toEqual([400, []])
  })

  it('a document that leaves out a redirect URI after the question → no code goes there', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { world, answers } = withNet({ [ID]: () => Response.json(DOCUMENT) })
    const { at, jar } = await arrive(world, { clientId: ID, redirectUri: WEB })
    answers[ID] = () => Response.json({ ...DOCUMENT, redirect_uris: ['https://client.example/new'] })
    // Its copy is used for 5 minutes or more.
    vi.setSystemTime(Date.now() + 9 * 60_000)
    answers[ID] = () =>
      Response.json(
        { ...DOCUMENT, redirect_uris: ['https://client.example/new'] },
        { headers: { 'cache-control': 'max-age=0' } },
      )
    vi.setSystemTime(Date.now() + 7 * 60_000)
    expect((await decide(world, handleOf(at), jar)).headers.get('location') ?? '').not.toContain('code=')
  })
})

describe('MCP client ID metadata documents: localhost redirect URI risks', () => {
  it('an app on the computer with the document of another: a warning, the whole address, and the question each time', async () => {
    const { world } = withNet({ [ID]: () => Response.json({ ...DOCUMENT, redirect_uris: [LOOPBACK] }) })
    for (let time = 0; time < 2; time++) {
      const { at, jar } = await arrive(world, { clientId: ID })
      const page = await (await world.get(at.headers.get('location')!, jar.headers)).text()
      expect(page).toContain('That is a program on this computer. Go on only if you have just started it.')
      for (const part of ['<code>127.0.0.1:5555</code>', `<code>${LOOPBACK}</code>`])
        expect(page).toContain(part)
      expect((await decide(world, handleOf(at), jar)).headers.get('location')).toContain(LOOPBACK)
    }
  })
})

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

async function proof(key: CryptoKey | Uint8Array, header: object = {}): Promise<{ [name: string]: string }> {
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: ID, sub: ID, aud: ORIGIN, jti: crypto.randomUUID(), exp: now + 60 }
  const client_assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', ...header }).sign(key)
  return { client_assertion_type: TYPE, client_assertion }
}

describe('MCP client ID metadata documents: the proof of another', () => {
  it('a key in the proof itself, none, or the public key as a secret → 401', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const evil = await generateKeyPair('ES256', { extractable: true })
    const jwk = await exportJWK(publicKey)
    const members = {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...jwk, alg: 'ES256' }] },
    }
    const { world, asked } = withNet({ [ID]: () => Response.json({ ...DOCUMENT, ...members }) })
    const code = (await signInAs(world, { clientId: ID, redirectUri: WEB })).searchParams.get('code')!
    const payload = (await proof(privateKey)).client_assertion!.split('.')[1]
    const none = `${btoa(JSON.stringify({ alg: 'none' })).replaceAll('=', '')}.${payload}.`
    const jku = 'https://evil.example/jwks'
    const forged = [
      await proof(evil.privateKey, { jwk: await exportJWK(evil.publicKey) }),
      await proof(evil.privateKey, { jku }),
      await proof(evil.privateKey, { x5u: jku }),
      await proof(new TextEncoder().encode(JSON.stringify(jwk)), { alg: 'HS256' }),
      { client_assertion_type: TYPE, client_assertion: none },
    ]
    for (const fields of forged)
      expect((await exchange(world, code, ID, { redirect_uri: WEB, ...fields })).status).toBe(401)
    expect(asked).toEqual([ID])
    const own = await proof(privateKey)
    expect((await exchange(world, code, ID, { redirect_uri: WEB, ...own })).status).toBe(200)
  })

  it('30 proofs of a stranger’s own client, refused or for a revocation → none is stored; one that got tokens is used up', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }
    const members = { token_endpoint_auth_method: 'private_key_jwt', jwks }
    const { world } = withNet({ [ID]: () => Response.json({ ...DOCUMENT, ...members }) })
    const code = (await signInAs(world, { clientId: ID, redirectUri: WEB })).searchParams.get('code')!
    const stored = async (): Promise<number> => {
      const { keys } = await world.store.list({ prefix: '', limit: 1000 })
      return keys.filter((key) => key.includes(':assertion:')).length
    }
    for (let count = 0; count < 10; count++) {
      const wrong = { redirect_uri: WEB, ...(await proof(privateKey)) }
      expect((await exchange(world, 'a:b:c', ID, wrong)).status).toBe(400)
      const refused = await refresh(world, 'x.y', ID, await proof(privateKey))
      expect(refused.status).toBe(400)
      const revoked = await world.form('/oauth/token', { token: 'x', ...(await proof(privateKey)) })
      expect(revoked.status).toBe(200)
    }
    expect(await stored()).toBe(0)
    const own = await proof(privateKey)
    const tokens = await exchange(world, code, ID, { redirect_uri: WEB, ...own })
    const { refresh_token } = (await tokens.json()) as Tokens
    expect(await stored()).toBe(1)
    expect((await refresh(world, refresh_token, ID, own)).status).toBe(401)
    expect((await refresh(world, refresh_token, ID, await proof(privateKey))).status).toBe(200)
  })

  it.each([
    ['no proof', (id: string) => `client_id=${id}`, {}],
    ['an empty client_id before it', (id: string) => `client_id=&client_id=${id}`, {}],
    ['an empty client_id after it', (id: string) => `client_id=${id}&client_id=`, {}],
    ['a client_id of nobody before it', (id: string) => `client_id=x&client_id=${id}`, {}],
    ['an empty proof', (id: string) => `client_id=${id}&client_assertion=`, {}],
    [
      'an empty proof of the type',
      (id: string) => `client_id=${id}&client_assertion=&client_assertion_type=${TYPE}`,
      {},
    ],
    ['only the type', (id: string) => `client_id=${id}&client_assertion_type=${TYPE}`, {}],
    ['a secret', (id: string) => `client_id=${id}&client_secret=x`, {}],
    ['an empty secret', (id: string) => `client_id=${id}&client_secret=`, {}],
    ['Basic', () => 'x=y', { authorization: `Basic ${btoa(`${encodeURIComponent(ID)}:`)}` }],
    ['Basic with a secret', () => 'x=y', { authorization: `Basic ${btoa(`${encodeURIComponent(ID)}:x`)}` }],
    [
      'Basic and its id',
      (id: string) => `client_id=${id}`,
      { authorization: `Basic ${btoa(`${encodeURIComponent(ID)}:`)}` },
    ],
    ['Bearer', (id: string) => `client_id=${id}`, { authorization: 'Bearer x' }],
  ])('a client that has to prove itself, with %s → no tokens', async (_what, fieldsOf, headers) => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }
    const members = {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks,
      grant_types: ['authorization_code', 'refresh_token'],
    }
    const { world } = withNet({ [ID]: () => Response.json({ ...DOCUMENT, ...members }) })
    const code = (await signInAs(world, { clientId: ID, redirectUri: WEB })).searchParams.get('code')!
    const own = { redirect_uri: WEB, code_verifier: 'v'.repeat(64) }
    const send = (fields: { readonly [name: string]: string }) =>
      world.send(
        new Request(`${ORIGIN}/oauth/token`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } as HeadersInit,
          body: `${new URLSearchParams(fields)}&${fieldsOf(encodeURIComponent(ID))}`,
        }),
      )
    const stolen = await send({ grant_type: 'authorization_code', code, ...own })
    expect(await stolen.text()).not.toContain('access_token')
    expect([400, 401]).toContain(stolen.status)
    const tokens = await exchange(world, code, ID, { ...own, ...(await proof(privateKey)) })
    const { refresh_token, access_token } = (await tokens.json()) as Tokens
    const refreshed = await send({ grant_type: 'refresh_token', refresh_token })
    expect(await refreshed.text()).not.toContain('access_token')
    await send({ token: refresh_token })
    await world.signIn.verify(access_token, world.context)
  })
})
