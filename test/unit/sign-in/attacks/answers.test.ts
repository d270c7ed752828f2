/** What each page, redirect and error tells others: nothing, by its headers; and nothing but text of strangers. */
import { describe, expect, it } from 'vitest'
import {
  answer,
  arrive,
  authorizeUrl,
  connected,
  exchange,
  handleOf,
  Jar,
  leave,
  ORIGIN,
  refresh,
  registered,
  signInAs,
  type World,
} from '../_sign-in.ts'
import { createWholeServer } from './_whole-server.ts'

const WEB = 'https://client.example/cb'

/** One of each kind, by name. */
async function everything(world: World): Promise<ReadonlyMap<string, Response>> {
  const all = new Map<string, Response>()
  const clientId = await registered(world, { redirect_uris: [WEB] })
  const visit = { clientId, redirectUri: WEB }
  const { at, jar } = await arrive(world, visit)
  all.set('the redirect to the question', at)
  all.set('the question', await world.get(at.headers.get('location')!, jar.headers))
  all.set('a form of another website', await world.form('/oauth/authorize', { consent: handleOf(at) }))
  const headers = { ...jar.headers, origin: 'https://evil.example' }
  all.set('a form with another origin', await world.form('/oauth/authorize', {}, headers))
  all.set(
    'no form',
    await world.send(new Request(`${ORIGIN}/oauth/authorize`, { method: 'POST', body: 'x' })),
  )
  all.set('the redirect to the provider', await answer(world, handleOf(at), jar))
  const left = await leave(world, visit)
  const back = await world.get(left.callback(), left.jar.headers)
  all.set('the redirect with the code', back)
  const code = new URL(back.headers.get('location')!).searchParams.get('code')!
  all.set('the code again', await world.get(left.callback(), left.jar.headers))
  const denied = await leave(world, visit)
  all.set('an error of the provider', await world.get(denied.callback({ error: 'x' }), denied.jar.headers))
  const no = await arrive(world, visit)
  all.set('the redirect of who says no', await answer(world, handleOf(no.at), no.jar, 'deny'))
  const signedIn = new Jar()
  await signInAs(world, { ...visit, jar: signedIn })
  all.set('the connections', await world.get('/connections', signedIn.headers))
  all.set('the connections of nobody', await world.get('/connections'))
  all.set('a form of no session', await world.form('/connections', { revoke: clientId }))
  all.set('an unknown client', await world.get(await authorizeUrl({ clientId: 'x' })))
  const query = { scope: 'root' }
  all.set('an error of the client', await world.get(await authorizeUrl({ ...visit, query })))
  all.set('too long', await world.get(await authorizeUrl({ ...visit, query: { state: 'x'.repeat(9000) } })))
  for (const path of [
    '/oauth/authorize',
    '/oauth/callback',
    '/connections',
    '/oauth/token',
    '/oauth/register',
  ])
    all.set(`PUT ${path}`, await world.send(new Request(ORIGIN + path, { method: 'PUT' })))
  all.set('tokens', await exchange(world, code, clientId, { redirect_uri: WEB }))
  all.set('no tokens', await exchange(world, code, clientId))
  all.set('no refresh', await refresh(world, 'x', clientId))
  all.set('a revocation', await world.form('/oauth/token', { token: 'x', client_id: clientId }))
  all.set('a registration', await world.register())
  all.set('no registration', await world.register({ redirect_uris: [] }))
  return all
}

const isPage = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/html') === true

describe('RFC 9700 §4.2: credential leakage via Referer headers', () => {
  it('no answer lets its URL be told to another origin', async () => {
    for (const [what, response] of await everything(createWholeServer().world)) {
      const isForApps = /tokens|refresh|revocation|registration|\/oauth\/(?:token|register)/.test(what)
      if (!isForApps)
        expect(response.headers.get('referrer-policy'), what).toMatch(/^(?:no-referrer|same-origin)$/)
    }
  })

  it('no page loads anything, so nobody is asked with its URL', async () => {
    for (const [what, response] of await everything(createWholeServer().world)) {
      if (!isPage(response)) continue
      expect(response.headers.get('content-security-policy'), what).toMatch(
        /^default-src 'none'; style-src 'sha/,
      )
      expect(await response.text(), what).not.toMatch(
        /<(?:script|img|iframe|object|embed|audio|video)|@import|url\(/,
      )
    }
  })

  it('links to other hosts tell nothing', async () => {
    for (const [what, response] of await everything(createWholeServer().world)) {
      if (!isPage(response)) continue
      for (const [link] of (await response.text()).matchAll(/<a [^>]*href="https?:[^>]*>/g))
        expect(link.includes(`href="${ORIGIN}/`) || link.includes('rel=noreferrer'), `${what}: ${link}`).toBe(
          true,
        )
    }
  })
})

describe('RFC 9700 §4.3: credential leakage via browser history', () => {
  it('no answer is stored, and no token is ever in a URL', async () => {
    for (const [what, response] of await everything(createWholeServer().world)) {
      expect(response.headers.get('cache-control'), what).toBe('no-store')
      expect(response.headers.get('location') ?? '', what).not.toMatch(
        /[?&#](?:access_token|refresh_token|token)=/,
      )
    }
  })

  it('a token in the query is none (RFC 6750 §2.3)', async () => {
    const { world, server } = createWholeServer()
    const { tokens } = await connected(world)
    const url = `${ORIGIN}/mcp?access_token=${encodeURIComponent(tokens.access_token)}`
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect((await server.handle(new Request(url, { method: 'POST', headers, body }), {})).status).toBe(401)
    const form = await world.form('/mcp', { access_token: tokens.access_token })
    expect(form.status).toBeGreaterThanOrEqual(400)
  })
})

describe('RFC 9700 §4.16: clickjacking', () => {
  it('no page can be framed', async () => {
    const pages = [...(await everything(createWholeServer().world))].filter(([, one]) => isPage(one))
    expect(pages.length).toBeGreaterThan(10)
    for (const [what, response] of pages) {
      expect(response.headers.get('content-security-policy'), what).toContain("frame-ancestors 'none'")
      expect(response.headers.get('x-frame-options'), what).toBe('DENY')
    }
  })
})

describe('RFC 9700 §4.17: attacks on in-browser communication flows', () => {
  it('no answer has a script, and none can run: codes go by redirect alone', async () => {
    for (const [what, response] of await everything(createWholeServer().world)) {
      const policy = response.headers.get('content-security-policy')
      if (isPage(response)) expect(policy, what).not.toMatch(/script-src|unsafe/)
      expect(await response.text(), what).not.toMatch(/<script|postMessage|\son\w+=/i)
    }
  })

  it('no page or redirect can be read by another website', async () => {
    const { world } = createWholeServer(
      {},
      { publicUrl: 'https://mcp.example.com/mcp', allowedOrigins: ['https://evil.example'] },
    )
    for (const [what, response] of await everything(world))
      if (isPage(response) || response.status === 303)
        expect(response.headers.get('access-control-allow-origin'), what).toBeNull()
  })
})

it('every answer is what its type says (nosniff)', async () => {
  const { world } = createWholeServer()
  const all = new Map(await everything(world))
  all.set('metadata', await world.get('/.well-known/oauth-authorization-server'))
  for (const [what, response] of all)
    expect(response.headers.get('x-content-type-options'), what).toBe('nosniff')
})

const MARKUP = `"'></title></style><script>alert(1)</script><img src=x onerror=alert(1)>`

describe('markup and line breaks in what strangers send', () => {
  it.each([
    'client_id',
    'redirect_uri',
    'state',
    'scope',
    'resource',
    'response_type',
    'code_challenge_method',
    'prompt',
    MARKUP,
  ])('in the parameter %s → text', async (name) => {
    const { world } = createWholeServer()
    const visit = { clientId: await registered(world, { redirect_uris: [WEB] }), redirectUri: WEB }
    const response = await world.get(await authorizeUrl({ ...visit, query: { [name]: MARKUP } }))
    expect(await response.text()).not.toMatch(/<script|<img/)
    const twice = await world.get(
      `${await authorizeUrl(visit)}&${new URLSearchParams([
        [name, MARKUP],
        [name, ''],
      ])}`,
    )
    expect([twice.status, /<script|<img/.test(await twice.text())]).toEqual([400, false])
  })

  it('in names, addresses and errors of the provider → text, on every page', async () => {
    const { world } = createWholeServer()
    const upstream = world.upstream
    upstream.exchangeWith = async () => ({
      issuer: 'https://upstream.example',
      subject: MARKUP,
      name: MARKUP,
      email: MARKUP,
      claims: { [MARKUP]: MARKUP },
      tokens: { accessToken: 'a' },
    })
    const redirectUri = `https://client.example/?x=${encodeURIComponent(MARKUP)}`
    const clientId = await registered(world, { client_name: MARKUP, redirect_uris: [redirectUri] })
    const jar = new Jar()
    await signInAs(world, { clientId, redirectUri, jar })
    const { at } = await arrive(world, { clientId, redirectUri, jar, query: { scope: 'notes:write' } })
    const pages = [
      await world.get('/connections', jar.headers),
      await world.get(at.headers.get('location')!, jar.headers),
      await world.get(
        `/oauth/callback?${new URLSearchParams({ state: MARKUP, error: MARKUP })}`,
        jar.headers,
      ),
    ]
    const texts = await Promise.all(pages.map((page) => page.text()))
    for (const text of texts) expect(text).not.toMatch(/<script|<img/)
    expect(texts[0]).toContain('&lt;script')
  })

  it.each([
    'x\r\nset-cookie: evil=1',
    'x\nlocation: https://evil.example',
    'x\u2028\u0000y',
    '\u560d\u560aset-cookie:x',
  ])('response splitting by %j → no header of it', async (evil) => {
    const { world } = createWholeServer()
    const clientId = await registered(world, { client_name: evil })
    const { at } = await arrive(world, { clientId, query: { state: evil, scope: 'root' } })
    const url = await signInAs(world, { clientId, query: { state: evil } })
    expect(url.searchParams.get('state')).toBe(evil)
    for (const [name, value] of at.headers)
      expect(`${name}: ${value}`).not.toMatch(/evil=1|^location: https:\/\/evil/)
    expect(at.headers.get('location')).not.toMatch(/[\r\n]/)
  })
})
