/** What attackers try with a browser (RFC 9700; MCP 2026-07-28, "Security Best Practices"). */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { UpstreamRefusedError, UpstreamUnavailableError } from '../../../src/sign-in/upstream/upstream.ts'
import {
  answer,
  arrive,
  authorizeUrl,
  connected,
  createWorld,
  decide,
  exchange,
  fakeUpstream,
  handleOf,
  Jar,
  LOOPBACK,
  leave,
  ORIGIN,
  personOf,
  registered,
  signInAs,
  type Tokens,
  throughUpstream,
  type Visit,
} from './_sign-in.ts'

const WEB = 'https://client.example/cb'

afterEach(() => {
  vi.useRealTimers()
})

describe('confused deputy', () => {
  it('a person who is signed in at the provider is asked before another client gets a code', async () => {
    const world = createWorld()
    const jar = new Jar()
    await signInAs(world, { clientId: await registered(world), jar })
    const evil = await registered(world, { client_name: 'Evil', redirect_uris: ['https://evil.example/cb'] })
    const { at } = await arrive(world, { clientId: evil, redirectUri: 'https://evil.example/cb', jar })
    expect(at.headers.get('location')).toContain(`${ORIGIN}/oauth/authorize?consent=`)
  })

  it('the answer is remembered for one client, redirect URI and person, and for no further scope', async () => {
    const world = createWorld()
    const jar = new Jar()
    const uris = { redirect_uris: [WEB, `${WEB}2`] }
    const clientId = await registered(world, uris)
    const visit = { clientId, redirectUri: WEB, jar }
    await signInAs(world, visit)
    const again = await arrive(world, visit)
    expect(again.at.headers.get('location')).toMatch(/^https:\/\/client\.example\/cb\?code=/)
    const others: Visit[] = [
      { ...visit, query: { scope: 'notes:read notes:write' } },
      { ...visit, redirectUri: `${WEB}2` },
      { ...visit, person: 'bert' },
      { ...visit, clientId: await registered(world, uris) },
    ]
    for (const other of others) {
      const { at } = await arrive(world, other)
      expect(at.headers.get('location'), JSON.stringify(other.query ?? other.person ?? '')).toContain(
        '?consent=',
      )
    }
  })

  it('an app on the computer is asked about each time', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    await signInAs(world, { clientId })
    const { at } = await arrive(world, { clientId })
    expect(at.headers.get('location')).toContain('?consent=')
  })

  it('nothing is stored of the provider before the answer, except sealed', async () => {
    const world = createWorld()
    await arrive(world, { clientId: await registered(world) })
    const { keys } = await world.store.list({ prefix: '', limit: 1000 })
    const texts = await Promise.all(keys.map(async (key) => key + (await world.store.read(key))?.value))
    expect(texts.join('\n')).not.toMatch(/upstream-access|anna/)
    expect(keys.filter((key) => /grant:|upstream:|consent:/.test(key))).toEqual([])
  })
})

describe('the browser', () => {
  it('the callback works only in the browser that began, and once', async () => {
    const world = createWorld()
    const { jar, callback } = await leave(world, { clientId: await registered(world) })
    const url = callback()
    const other = await leave(world, { clientId: await registered(world) })
    expect((await world.get(url)).status).toBe(400)
    expect((await world.get(url, other.jar.headers)).status).toBe(400)
    expect(world.upstream.exchanged).toEqual([])
    expect((await world.get(url, jar.headers)).status).toBe(303)
    expect((await world.get(url, jar.headers)).status).toBe(400)
    expect(world.upstream.exchanged).toEqual(['anna'])
  })

  it('the question is answered only by the browser that was asked, and once', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const { at, jar } = await arrive(world, { clientId })
    const handle = handleOf(at)
    expect((await decide(world, handle, new Jar())).status).toBe(400)
    const another = await arrive(world, { clientId })
    expect((await decide(world, handle, another.jar)).status).toBe(400)
    const copy = { ...jar.headers, origin: ORIGIN }
    expect((await decide(world, handle, jar)).status).toBe(303)
    expect(
      (await world.form('/oauth/authorize', { consent: handle, decision: 'approve' }, copy)).status,
    ).toBe(400)
  })

  it('two answers at once give one code', async () => {
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId: await registered(world) })
    const headers = { ...jar.headers, origin: ORIGIN }
    const fields = { consent: handleOf(at), decision: 'approve' }
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => world.form('/oauth/authorize', fields, headers)),
    )
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
  })

  it('a form of another website is refused', async () => {
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId: await registered(world) })
    const fields = { consent: handleOf(at), decision: 'approve' }
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      const response = await world.form('/oauth/authorize', fields, {
        ...jar.headers,
        ...(headers as object),
      })
      expect(response.status).toBe(403)
    }
  })

  it.each([
    ['another value', (name: string) => `${name}=${'x'.repeat(43)}`],
    ['no value', (name: string) => `${name}=`],
    ['two of the name', (name: string, value: string) => `${name}=${value}; ${name}=${'x'.repeat(43)}`],
    ['two of the name, the other first', (name: string, value: string) => `${name}=x; ${name}=${value}`],
  ])('a cookie with %s counts as none: another host of the domain may have set it', async (_name, toss) => {
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId: await registered(world) })
    const tossed = (): HeadersInit => {
      const [name, value] = [...jar.cookies].find(([one]) => one.includes('flow'))!
      return { cookie: toss(name, value), origin: ORIGIN }
    }
    const fields = { consent: handleOf(at), decision: 'approve' }
    expect((await world.get(`/oauth/authorize?consent=${fields.consent}`, tossed())).status).toBe(400)
    expect((await world.form('/oauth/authorize', fields, tossed())).status).toBe(400)
    const away = await answer(world, fields.consent, jar)
    const state = new URL(away.headers.get('location')!).searchParams.get('state')!
    const url = `/oauth/callback?${new URLSearchParams({ state, code: 'anna' })}`
    expect((await world.get(url, tossed())).status).toBe(400)
    expect((await world.get(url, jar.headers)).status).toBe(303)
  })

  it('the question is over after ten minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId: await registered(world) })
    vi.setSystemTime(Date.now() + 600_001)
    expect((await decide(world, handleOf(at), jar)).status).toBe(400)
  })

  it('cookies are limited to the host, hidden from scripts, and plain only over http on loopback', async () => {
    const secure = await createWorld().get(await authorizeUrl({ clientId: await registered(createWorld()) }))
    expect(secure.headers.getSetCookie()).toEqual([])
    const world = createWorld()
    const response = await world.get(await authorizeUrl({ clientId: await registered(world) }))
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-mayfly-flow-[\w-]{16}=[\w.-]{200,3900}; Path=\/; HttpOnly; Secure; SameSite=Lax; Max-Age=600$/,
      ),
    ])
    const local = createWorld({ origin: 'http://127.0.0.1:8787' })
    const query = { resource: 'http://127.0.0.1:8787/mcp' }
    const answer = await local.get(await authorizeUrl({ clientId: await registered(local), query }))
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^mayfly-flow-(?!.*Secure)/)])
  })

  it('pages cannot be framed, have no scripts, and send forms only here and to the client', async () => {
    const world = createWorld()
    const redirect = { clientId: await registered(world, { redirect_uris: [WEB] }), redirectUri: WEB }
    const { at, jar } = await arrive(world, redirect)
    const page = await world.get(at.headers.get('location')!, jar.headers)
    const policy = page.headers.get('content-security-policy') ?? ''
    for (const part of [
      "default-src 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'self' https:",
    ])
      expect(policy).toContain(part)
    expect(policy).not.toMatch(/unsafe|script-src/)
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('referrer-policy')).toBe('same-origin')
  })

  it('names of clients are text, not markup', async () => {
    const world = createWorld()
    const name = '<script>alert(1)</script>"><img src=x>'
    const { at, jar } = await arrive(world, { clientId: await registered(world, { client_name: name }) })
    const text = await (await world.get(at.headers.get('location')!, jar.headers)).text()
    expect(text).not.toContain('<script')
    expect(text).not.toContain('<img')
  })
})

describe('the authorization request', () => {
  it.each([
    ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
    ['plain', { code_challenge_method: 'plain' }],
    ['no method', { code_challenge_method: undefined }],
    ['another resource', { resource: 'https://evil.example/mcp' }],
    ['an unknown scope', { scope: 'root' }],
    ['another response type', { response_type: 'token' }],
    ['prompt=none', { prompt: 'none' }],
  ])('%s → an error for an app on the computer, with state and issuer', async (_name, query) => {
    const world = createWorld()
    const response = await world.get(await authorizeUrl({ clientId: await registered(world), query }))
    const url = new URL(response.headers.get('location')!)
    expect(url.href).toMatch(/^http:\/\/127\.0\.0\.1:5555\/cb\?error=/)
    expect(url.searchParams.get('state')).toBe('state-of-client')
    expect(url.searchParams.get('iss')).toBe(ORIGIN)
  })

  it('a client that is to be sent an error at another URL is linked to: the server redirects nobody unasked', async () => {
    const world = createWorld()
    const visit = { clientId: await registered(world, { redirect_uris: [WEB] }), redirectUri: WEB }
    const response = await world.get(await authorizeUrl({ ...visit, query: { scope: 'root' } }))
    expect(response.status).toBe(400)
    expect(response.headers.get('location')).toBeNull()
    expect(await response.text()).toContain('https://client.example/cb?error=invalid_scope')
  })

  it.each([
    ['another redirect URI', { redirect_uri: 'https://evil.example/cb' }],
    ['another host of loopback', { redirect_uri: 'http://localhost:5555/cb' }],
    ['another path', { redirect_uri: 'http://127.0.0.1:5555/cb/../evil' }],
    ['an unknown client', { client_id: 'nobody' }],
    ['no client', { client_id: undefined }],
    ['no redirect URI', { redirect_uri: undefined }],
    ['a script', { redirect_uri: 'javascript:alert(1)' }],
  ])('%s → a page, and no redirect', async (_name, query) => {
    const world = createWorld()
    const response = await world.get(await authorizeUrl({ clientId: await registered(world), query }))
    expect(response.status).toBe(400)
    expect(response.headers.get('location')).toBeNull()
  })

  it('a repeated parameter → a page', async () => {
    const world = createWorld()
    const url = await authorizeUrl({ clientId: await registered(world) })
    expect((await world.get(`${url}&redirect_uri=${encodeURIComponent(LOOPBACK)}`)).status).toBe(400)
  })

  it('any port of the registered loopback address is accepted (RFC 8252 §7.3)', async () => {
    const world = createWorld()
    const response = await world.get(
      await authorizeUrl({ clientId: await registered(world), redirectUri: 'http://127.0.0.1:61234/cb' }),
    )
    expect(response.status).toBe(303)
  })

  it('without a scope the person is asked for all, and unknown ones are left out', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    for (const [scope, granted] of [
      [undefined, 'notes:read notes:write'],
      ['notes:write root offline_access', 'notes:write'],
    ] as const) {
      const code = (await signInAs(world, { clientId, query: { scope } })).searchParams.get('code')!
      expect(await (await exchange(world, code, clientId)).json()).toMatchObject({ scope: granted })
    }
  })
})

describe('the provider', () => {
  it('a person who is refused reads why', async () => {
    const world = createWorld()
    world.upstream.exchangeWith = async () => Promise.reject(new UpstreamRefusedError('Only example.com.'))
    const { jar, callback } = await leave(world, { clientId: await registered(world) })
    const at = await world.get(callback(), jar.headers)
    expect(at.status).toBe(403)
    expect(await at.text()).toContain('Only example.com.')
  })

  it('a provider that is down → 503, and the log has the reason', async () => {
    const world = createWorld()
    const error = new UpstreamUnavailableError('No answer.')
    world.upstream.exchangeWith = async () => Promise.reject(error)
    const { jar, callback } = await leave(world, { clientId: await registered(world) })
    expect((await world.get(callback(), jar.headers)).status).toBe(503)
    expect(world.reports).toEqual([error])
  })

  it.each([undefined, '', null, {}])(
    'an identity with the subject %j → 503, and nobody is signed in',
    async (subject) => {
      const world = createWorld()
      const identity = {
        issuer: 'https://upstream.example',
        subject,
        claims: {},
        tokens: { accessToken: 'a' },
      }
      world.upstream.exchangeWith = async () => identity as never
      const { jar, callback } = await leave(world, { clientId: await registered(world) })
      const at = await world.get(callback(), jar.headers)
      expect([at.status, at.headers.get('location')]).toEqual([503, null])
      expect(String((world.reports[0] as Error).cause ?? world.reports[0])).toContain('"subject"')
    },
  )

  it('a provider that is not set up → 503 before the person is asked, and the log says what to set', async () => {
    const upstream = Object.assign(fakeUpstream(), { faultIn: () => 'set FAKE_ID.' })
    const world = createWorld({ upstream })
    const { at } = await arrive(world, { clientId: await registered(world) })
    expect(at.status).toBe(503)
    expect(await at.text()).toContain('Sign-in with Fake is not set up correctly.')
    expect(String((world.reports[0] as Error).cause)).toContain('set FAKE_ID.')
  })

  it('claims for which there is no room are left out, which the log says once; name and email never are', async () => {
    const world = createWorld()
    const claims = { groups: 'g'.repeat(9000), hd: 'example.com', name: 'Anna', email: 'anna@example.com' }
    world.upstream.exchangeWith = async (subject) => ({
      ...{ issuer: 'https://upstream.example', subject, name: 'Anna', email: 'anna@example.com', claims },
      tokens: { accessToken: 'a' },
    })
    for (const person of ['anna', 'bert']) {
      const { tokens } = await connected(world, { person })
      const { extra, claims: own } = await personOf(world, tokens.access_token)
      const { groups: _, ...kept } = claims
      expect(extra).toMatchObject({ sub: expect.any(String), name: 'Anna', email: 'anna@example.com' })
      expect(own).toEqual(kept)
    }
    expect(world.reports.map(String)).toEqual([
      expect.stringMatching(/8192 characters.*without: groups\. Let/),
    ])
  })

  it('a provider that never answers → 503', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const world = createWorld()
    world.upstream.exchangeWith = () => new Promise(() => {})
    const { jar, callback } = await leave(world, { clientId: await registered(world) })
    const arriving = world.get(callback(), jar.headers)
    await vi.waitFor(() => expect(world.upstream.exchanged).toHaveLength(1))
    await vi.advanceTimersByTimeAsync(12_000)
    expect((await arriving).status).toBe(503)
  })

  it('who cancels there is sent back to an app on the computer with access_denied', async () => {
    const world = createWorld()
    const { jar, callback } = await leave(world, { clientId: await registered(world) })
    const response = await world.get(callback({ error: 'access_denied' }), jar.headers)
    expect(response.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:5555\/cb\?error=access_denied/)
  })

  it('an error of the provider is reported to the operator, on one line', async () => {
    const world = createWorld()
    const { jar, callback } = await leave(world, { clientId: await registered(world) })
    const said = { error: 'invalid_scope', error_description: 'No such scope:\n"mail"' }

    await world.get(callback(said), jar.headers)

    expect(world.reports.map(String)).toEqual([
      expect.stringMatching(
        /^UpstreamFault: Fake sent a person back .* invalid_scope: No such scope: "mail"\. /,
      ),
    ])
  })

  it('who says no sends the client access_denied, and is asked again', async () => {
    const world = createWorld()
    const visit = { clientId: await registered(world, { redirect_uris: [WEB] }), redirectUri: WEB }
    const { at, jar } = await arrive(world, visit)
    const denied = await decide(world, handleOf(at), jar, 'deny')
    expect(denied.headers.get('location')).toMatch(
      /^https:\/\/client\.example\/cb\?error=access_denied&state=/,
    )
    expect((await arrive(world, visit)).at.headers.get('location')).toContain('?consent=')
  })

  it('who is somebody else is asked anew, and goes to the provider for another account', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const jar = new Jar()
    await signInAs(world, { clientId, jar })
    const { at } = await arrive(world, { clientId, jar })
    const page = await (await world.get(at.headers.get('location')!, jar.headers)).text()
    expect(page).toContain('anna@example.com')
    expect(page).toContain('?switch=')
    const url = `/oauth/authorize?switch=${handleOf(at)}`
    expect((await world.get(url)).status).toBe(400)
    const anew = jar.take(await world.get(url, jar.headers))
    expect(await (await world.get(anew.headers.get('location')!, jar.headers)).text()).not.toContain('anna@')
    expect((await decide(world, handleOf(at), jar)).status).toBe(400)
    const away = await answer(world, handleOf(anew), jar)
    expect(new URL(away.headers.get('location')!).searchParams.get('isSwitching')).toBe('true')
    const final = await throughUpstream(world, away, jar, 'bert')
    const code = new URL(final.headers.get('location')!).searchParams.get('code')!
    const { access_token } = (await (await exchange(world, code, clientId)).json()) as Tokens
    const { extra } = await personOf(world, access_token)
    expect(extra.email).toBe('bert@example.com')
  })

  it('somebody else than the question named is asked before the client gets a code', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const jar = new Jar()
    await signInAs(world, { clientId, jar })
    const { at } = await arrive(world, { clientId, jar })
    const back = await decide(world, handleOf(at), jar, 'approve', 'bert')
    expect(back.headers.get('location')).toContain('?consent=')
    const page = await (await world.get(back.headers.get('location')!, jar.headers)).text()
    expect(page).toContain('bert@example.com')
    expect((await decide(world, handleOf(back), jar)).headers.get('location')).toContain('?code=')
    expect(world.upstream.exchanged).toEqual(['anna', 'bert'])
  })

  it('one person is the same at each sign-in, and two are not', async () => {
    const world = createWorld()
    const subOf = async (person: string) => {
      const { tokens } = await connected(world, { person })
      return (await world.signIn.verify(tokens.access_token, world.context)).extra.sub
    }
    const anna = await subOf('anna')
    expect(await subOf('anna')).toBe(anna)
    expect(await subOf('bert')).not.toBe(anna)
  })
})
