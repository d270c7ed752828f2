/** Where browsers are sent: only to the client, exactly as it was registered, and never for anybody who makes a link. */
import { describe, expect, it } from 'vitest'
import {
  answer,
  arrive,
  authorizeUrl,
  connected,
  createWorld,
  exchange,
  handleOf,
  LOOPBACK,
  leave,
  ORIGIN,
  registered,
  signInAs,
  type World,
} from '../_sign-in.ts'

const WEB = 'https://client.example/app/cb?tenant=1'

/** The URL that the browser is sent to, or undefined for a page. */
async function whereTo(world: World, clientId: string, redirectUri: string): Promise<string | undefined> {
  const response = await world.get(await authorizeUrl({ clientId, redirectUri }))
  if (response.status === 303) return response.headers.get('location') ?? ''
  expect([response.status, response.headers.get('location')]).toEqual([400, null])
  // Nothing on the page leads there, either.
  expect(await response.text()).not.toMatch(/<a |<form |http-equiv/)
  return undefined
}

describe('RFC 9700 §4.1: insufficient redirect URI validation', () => {
  it.each([
    ['a longer path', 'https://client.example/app/cb/evil?tenant=1'],
    ['a shorter path', 'https://client.example/app?tenant=1'],
    ['a prefix of the last name', 'https://client.example/app/cbevil?tenant=1'],
    ['no query', 'https://client.example/app/cb'],
    ['another query', 'https://client.example/app/cb?tenant=2'],
    ['more in the query', 'https://client.example/app/cb?tenant=1&next=https://evil.example'],
    ['a trailing slash', 'https://client.example/app/cb/?tenant=1'],
    ['path traversal', 'https://client.example/app/x/../cb?tenant=1'],
    ['encoded path traversal', 'https://client.example/app/x/%2e%2e/cb?tenant=1'],
    ['an encoded letter', 'https://client.example/app/%63b?tenant=1'],
    ['an encoded slash', 'https://client.example/app%2fcb?tenant=1'],
    ['upper case in the path', 'https://client.example/app/CB?tenant=1'],
    ['upper case in the host', 'https://CLIENT.example/app/cb?tenant=1'],
    ['upper case in the scheme', 'HTTPS://client.example/app/cb?tenant=1'],
    ['the default port', 'https://client.example:443/app/cb?tenant=1'],
    ['another port', 'https://client.example:8443/app/cb?tenant=1'],
    ['http', 'http://client.example/app/cb?tenant=1'],
    ['userinfo', 'https://client.example@evil.example/app/cb?tenant=1'],
    ['userinfo of the client’s host', 'https://evil@client.example/app/cb?tenant=1'],
    ['a fragment', 'https://client.example/app/cb?tenant=1#'],
    ['a fragment with text', 'https://client.example/app/cb?tenant=1#x'],
    ['a subdomain', 'https://evil.client.example/app/cb?tenant=1'],
    ['a domain that ends alike', 'https://evilclient.example/app/cb?tenant=1'],
    ['a domain that begins alike', 'https://client.example.evil.example/app/cb?tenant=1'],
    ['a dot at the end of the host', 'https://client.example./app/cb?tenant=1'],
    ['backslashes', 'https:\\\\client.example\\app\\cb?tenant=1'],
    ['a backslash before another host', 'https://evil.example\\.client.example/app/cb?tenant=1'],
    ['a space before', ` ${WEB}`],
    ['a space after', `${WEB} `],
    ['a line break', `${WEB}\r\nset-cookie: a=b`],
    ['a null', `${WEB}\0`],
    ['nothing', ''],
    ['two in one', `${WEB} https://evil.example/`],
  ])('a web client with %s → a page, and no redirect', async (_what, redirectUri) => {
    const world = createWorld()
    const clientId = await registered(world, { redirect_uris: [WEB] })
    expect(await whereTo(world, clientId, redirectUri)).toBeUndefined()
    expect(await whereTo(world, clientId, WEB)).toContain(`${ORIGIN}/oauth/authorize?consent=`)
  })

  it.each([
    ['another port', 'http://127.0.0.1:61234/cb', true],
    ['no port', 'http://127.0.0.1/cb', true],
    ['another path', 'http://127.0.0.1:5555/cb2', false],
    ['path traversal', 'http://127.0.0.1:5555/x/../cb', false],
    ['encoded path traversal', 'http://127.0.0.1:5555/x/%2e%2e/cb', false],
    ['a query', 'http://127.0.0.1:5555/cb?x=1', false],
    ['a fragment', 'http://127.0.0.1:5555/cb#', false],
    ['https', 'https://127.0.0.1:5555/cb', false],
    ['another address of loopback', 'http://127.0.0.2:5555/cb', false],
    ['its name', 'http://localhost:5555/cb', false],
    ['the address as a number', 'http://2130706433:5555/cb', false],
    ['the address in short', 'http://127.1:5555/cb', false],
    ['the address in octal', 'http://0177.0.0.1:5555/cb', false],
    ['the address in IPv6', 'http://[::ffff:127.0.0.1]:5555/cb', false],
    ['a port as userinfo', 'http://127.0.0.1:5555@evil.example/cb', false],
    ['a host that begins with it', 'http://127.0.0.1.evil.example:5555/cb', false],
    ['upper case in the scheme', 'HTTP://127.0.0.1:5555/cb', false],
    ['a port without digits', 'http://127.0.0.1:/cb', false],
    ['a space before', ' http://127.0.0.1:5555/cb', false],
    ['a backslash', 'http://127.0.0.1:5555\\cb', false],
  ])('an app on the computer with %s → %s is taken: %s', async (_what, redirectUri, isTaken) => {
    const world = createWorld()
    const clientId = await registered(world, { redirect_uris: [LOOPBACK] })
    expect((await whereTo(world, clientId, redirectUri)) !== undefined).toBe(isTaken)
  })

  it('only loopback has the exception of the port', async () => {
    const world = createWorld()
    for (const host of ['client.example', 'localhost.evil.example', '127.0.0.1.nip.example', '10.0.0.1']) {
      const uri = `https://${host}/cb`
      const clientId = await registered(world, { redirect_uris: [uri] })
      expect(await whereTo(world, clientId, `https://${host}:4444/cb`), host).toBeUndefined()
      expect(await whereTo(world, clientId, uri), host).toContain('?consent=')
    }
  })

  it('a code is exchanged only with the redirect URI that it was sent to', async () => {
    const world = createWorld()
    const clientId = await registered(world, { redirect_uris: [WEB, LOOPBACK] })
    for (const redirect_uri of [LOOPBACK, 'https://evil.example/cb', `${WEB}#`, `${WEB} `]) {
      const code = (await signInAs(world, { clientId, redirectUri: WEB })).searchParams.get('code') ?? ''
      const response = await exchange(world, code, clientId, { redirect_uri })
      expect(await response.json(), redirect_uri).toMatchObject({ error: 'invalid_grant' })
    }
  })

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://client.example/x',
    'about:blank',
    'view-source:https://client.example/',
    'http://client.example/cb',
    'http://10.0.0.1/cb',
    'http://localhost.evil.example/cb',
    '//evil.example/cb',
    '/cb',
    'https://user:pass@client.example/cb',
    'https://client.example/cb#fragment',
    'https://*.example/cb',
    '*',
  ])('registration of %j → refused, or worth nothing', async (uri) => {
    const world = createWorld()
    const response = await world.register({ redirect_uris: [uri] })
    if (response.status === 400) return
    const { client_id: clientId } = (await response.json()) as { client_id: string }
    // A wildcard is a host that nobody can have, not a pattern.
    expect(await whereTo(world, clientId, 'https://evil.example/cb')).toBeUndefined()
    expect(uri).toBe('https://*.example/cb')
  })
})

describe('RFC 9700 §4.11: open redirection', () => {
  it.each([
    ['an unknown scope', { scope: 'root' }],
    ['no PKCE', { code_challenge: undefined }],
    ['a response type that is none', { response_type: 'token' }],
    ['another resource', { resource: 'https://evil.example' }],
    ['prompt=none', { prompt: 'none' }],
  ])(
    '§4.11.2: an error of the request (%s) does not send the browser to a web client',
    async (_what, query) => {
      const world = createWorld()
      const clientId = await registered(world, { redirect_uris: ['https://phishing.example/'] })
      const visit = { clientId, redirectUri: 'https://phishing.example/', query }
      const response = await world.get(await authorizeUrl(visit))
      expect([response.status, response.headers.get('location')]).toEqual([400, null])
      const page = await response.text()
      expect(page).toMatch(/<a class=button href="https:\/\/phishing\.example\/\?error=/)
      expect(page).toContain('Return to phishing.example')
      expect(page).not.toMatch(/http-equiv|<script/)
    },
  )

  it('§4.11.2: an error of the provider does not, either', async () => {
    const world = createWorld()
    const clientId = await registered(world, { redirect_uris: ['https://phishing.example/'] })
    for (const error of ['access_denied', 'server_error', 'https://evil.example']) {
      const { jar, callback } = await leave(world, { clientId, redirectUri: 'https://phishing.example/' })
      const response = await world.get(callback({ error, error_uri: 'https://evil.example' }), jar.headers)
      expect(response.headers.get('location'), error).toBeNull()
      expect(await response.text(), error).not.toContain('evil.example')
    }
  })

  it.each([
    '/oauth/callback?redirect_uri=https://evil.example&state=x&code=y',
    '/oauth/callback?state=https://evil.example&code=y',
    '/connections?next=https://evil.example',
    '/connections?return_to=//evil.example',
    '/oauth/authorize?consent=https://evil.example',
    '/oauth/authorize?switch=//evil.example',
    '/oauth/authorize?redirect_uri=https://evil.example',
    '/oauth/authorize?client_id=x&redirect_uri=https://evil.example&error=x',
    '/.well-known/oauth-authorization-server?redirect_uri=https://evil.example',
  ])('§4.11.2: %s leads nowhere else', async (path) => {
    const response = await createWorld().get(path)
    const location = response.headers.get('location')
    if (location !== null) expect(location).toMatch(/^https:\/\/upstream\.example\//)
    expect(`${location} ${await response.text()}`).not.toContain('evil.example')
  })

  it('§4.11.1: who signs in or out on the page of connections comes back to it', async () => {
    const world = createWorld()
    const away = await world.get('/connections?next=https://evil.example')
    const state = new URL(away.headers.get('location')!).searchParams.get('state')!
    const cookie = away.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ')
    const query = new URLSearchParams({ state, code: 'anna', next: 'https://evil.example' })
    const back = await world.get(`/oauth/callback?${query}`, { cookie })
    expect(back.headers.get('location')).toBe(`${ORIGIN}/connections`)
  })
})

describe('RFC 9700 §4.12: 307 redirect', () => {
  it('each redirect is 303, so no form with an answer is sent on to anybody', async () => {
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId: await registered(world) })
    const away = await answer(world, handleOf(at), jar)
    const state = new URL(away.headers.get('location')!).searchParams.get('state')!
    const query = new URLSearchParams({ state, code: 'anna' })
    const back = await world.get(`/oauth/callback?${query}`, jar.headers)
    const denied = await arrive(world, { clientId: await registered(world) })
    const refused = await answer(world, handleOf(denied.at), denied.jar, 'deny')
    expect([at, away, back, refused].map(({ status }) => status)).toEqual([303, 303, 303, 303])
    await connected(world)
  })
})
