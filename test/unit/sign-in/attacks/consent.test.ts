/** The confused deputy: a client gets no code without the answer of a person to the question about it, whatever the provider remembers. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  answer,
  arrive,
  authorizeUrl,
  createWorld,
  decide,
  handleOf,
  Jar,
  leave,
  ORIGIN,
  registered,
  signInAs,
  throughUpstream,
  type Visit,
  type World,
} from '../_sign-in.ts'

const WEB = 'https://client.example/cb'
const ATTACKER = 'https://evil.example/cb'

afterEach(() => {
  vi.useRealTimers()
})

const web = (world: World, metadata = {}): Promise<string> =>
  registered(world, { redirect_uris: [WEB], ...metadata })

async function keysOf({ store }: World): Promise<readonly string[]> {
  return (await store.list({ prefix: '', limit: 1000 })).keys
}

const isQuestion = (response: Response): boolean =>
  response.headers.get('location')?.startsWith(`${ORIGIN}/oauth/authorize?consent=`) === true

const isAway = (response: Response): boolean =>
  response.headers.get('location')?.startsWith('https://upstream.example/') === true

describe('MCP confused deputy: consent before the third-party authorization server', () => {
  it('a client that was not let in → the question, and nothing goes to the provider before the answer', async () => {
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId: await web(world), redirectUri: WEB })
    expect(isQuestion(at)).toBe(true)
    await world.get(at.headers.get('location')!, jar.headers)
    expect(world.upstream.exchanged).toEqual([])
    expect(isAway(await answer(world, handleOf(at), jar))).toBe(true)
  })

  it('the state for the provider, and its cookie, exist only after the person agreed', async () => {
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId: await web(world), redirectUri: WEB })
    const before = new Set(jar.cookies.keys())
    // What is known so far is worth nothing at the callback.
    const early = new URLSearchParams({ state: handleOf(at), code: 'anna' })
    expect((await world.get(`/oauth/callback?${early}`, jar.headers)).status).toBe(400)
    const away = await answer(world, handleOf(at), jar)
    const state = new URL(away.headers.get('location')!).searchParams.get('state')!
    expect(state).toMatch(/^[\w-]{43}$/)
    expect(state).not.toBe(handleOf(at))
    expect([...jar.cookies.keys()].filter((name) => !before.has(name))).toHaveLength(1)
  })

  it('who says no leaves nothing at the provider, and the client gets no code', async () => {
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId: await web(world), redirectUri: WEB })
    const url = new URL((await answer(world, handleOf(at), jar, 'deny')).headers.get('location')!)
    expect([url.searchParams.get('error'), url.searchParams.get('code')]).toEqual(['access_denied', null])
    expect((await keysOf(world)).filter((key) => /:(?:grant|consent|flow):/.test(key))).toEqual([])
  })

  it('a state works once, in ten minutes, and only as it is', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    const { jar, state, callback } = await leave(world, { clientId: await web(world), redirectUri: WEB })
    for (const wrong of ['', 'x', `${state}x`, state.slice(1), state.toUpperCase(), ` ${state}`]) {
      const url = `/oauth/callback?${new URLSearchParams({ state: wrong, code: 'anna' })}`
      expect((await world.get(url, jar.headers)).status, wrong).toBe(400)
    }
    expect((await world.get('/oauth/callback?code=anna', jar.headers)).status).toBe(400)
    const copy = { ...jar.headers }
    expect((await world.get(callback(), copy)).status).toBe(303)
    expect((await world.get(callback(), copy)).status).toBe(400)
    const late = await leave(world, { clientId: await web(world), redirectUri: WEB })
    vi.setSystemTime(Date.now() + 600_001)
    expect((await world.get(late.callback(), late.jar.headers)).status).toBe(400)
    expect(world.upstream.exchanged).toEqual(['anna'])
  })
})

describe('MCP confused deputy: the registry of who let in whom', () => {
  it('a client of the attacker, with the consent of the provider still standing → the question', async () => {
    const world = createWorld()
    const jar = new Jar()
    await signInAs(world, { clientId: await web(world), redirectUri: WEB, jar })
    const evil = await registered(world, { redirect_uris: [ATTACKER] })
    expect(isQuestion((await arrive(world, { clientId: evil, redirectUri: ATTACKER, jar })).at)).toBe(true)
  })

  it('is by client, redirect URI, scopes and person, and looked at before the provider is', async () => {
    const world = createWorld()
    const jar = new Jar()
    const uris = { redirect_uris: [WEB, `${WEB}2`], client_name: 'Notes app' }
    const clientId = await registered(world, uris)
    const visit: Visit = { clientId, redirectUri: WEB, jar }
    await signInAs(world, visit)
    expect(isAway(await world.get(await authorizeUrl(visit), jar.headers))).toBe(true)
    const others: readonly [string, Visit][] = [
      ['more scopes', { ...visit, query: { scope: 'notes:read notes:write' } }],
      ['all scopes', { ...visit, query: { scope: undefined } }],
      ['another redirect URI', { ...visit, redirectUri: `${WEB}2` }],
      ['another client of the name', { ...visit, clientId: await registered(world, uris) }],
    ]
    for (const [what, other] of others)
      expect(isQuestion(await world.get(await authorizeUrl(other), jar.headers)), what).toBe(true)
    expect(isQuestion(await world.get(await authorizeUrl(visit))), 'another browser').toBe(true)
  })

  it('the consent of one person is not another’s, also not in the same browser', async () => {
    const world = createWorld()
    const jar = new Jar()
    const visit = { clientId: await web(world), redirectUri: WEB, jar }
    await signInAs(world, visit)
    const away = jar.take(await world.get(await authorizeUrl(visit), jar.headers))
    const back = await throughUpstream(world, away, jar, 'mallory')
    expect(isQuestion(back)).toBe(true)
    expect(await (await world.get(back.headers.get('location')!, jar.headers)).text()).toContain('mallory@')
  })

  it('who took it back is asked again, although the browser has its cookie', async () => {
    const world = createWorld()
    const jar = new Jar()
    const visit = { clientId: await web(world), redirectUri: WEB, jar }
    await signInAs(world, visit)
    const page = await (await world.get('/connections', jar.headers)).text()
    const form = /name="form" value="([^"]+)/.exec(page)![1]!
    const headers = { ...jar.headers, origin: ORIGIN }
    expect((await world.form('/connections', { form, revoke: visit.clientId }, headers)).status).toBe(303)
    expect(isQuestion((await arrive(world, visit)).at)).toBe(true)
  })

  it.each([
    ['changed', (value: string) => `${value.slice(0, -4)}AAAA`],
    ['of another deployment', async () => (await cookieOf('https://staging.example.com')) ?? ''],
    ['empty', () => ''],
  ])('a cookie that is %s counts as none', async (_what, forge) => {
    const world = createWorld()
    const jar = new Jar()
    const visit = { clientId: await web(world), redirectUri: WEB, jar }
    await signInAs(world, visit)
    const [name, value] = [...jar.cookies].find(([one]) => one.includes('person'))!
    const headers = { cookie: `${name}=${await forge(value)}` }
    expect(isQuestion(await world.get(await authorizeUrl(visit), headers))).toBe(true)
    expect((await world.get('/connections', headers)).status).toBe(303)
  })

  it('a registration again, with another redirect URI, is another client', async () => {
    const world = createWorld()
    const jar = new Jar()
    const clientId = await web(world)
    await signInAs(world, { clientId, redirectUri: WEB, jar })
    const again = await world.register({ client_id: clientId, redirect_uris: [ATTACKER] })
    expect(((await again.json()) as { client_id: string }).client_id).not.toBe(clientId)
    const url = await authorizeUrl({ clientId, redirectUri: ATTACKER })
    expect((await world.get(url, jar.headers)).status).toBe(400)
  })
})

async function cookieOf(origin: string): Promise<string | undefined> {
  const world = createWorld({ origin })
  const jar = new Jar()
  const clientId = await web(world)
  const query = { resource: `${origin}/mcp` }
  await signInAs(world, { clientId, redirectUri: WEB, jar, query })
  return [...jar.cookies].find(([one]) => one.includes('person'))?.[1]
}

describe('MCP confused deputy: the consent page and its cookies', () => {
  it('shows the client’s name, what the provider is asked for, the scopes and the whole redirect URI', async () => {
    const world = createWorld()
    const clientId = await web(world, { client_name: 'Notes app' })
    const { at, jar } = await arrive(world, { clientId, redirectUri: WEB })
    const page = await (await world.get(at.headers.get('location')!, jar.headers)).text()
    for (const part of [
      'Notes app',
      'asks Fake for',
      'openid email',
      'Read your notes',
      WEB,
      'client.example',
    ])
      expect(page).toContain(part)
  })

  it('cookies are __Host-, Secure, HttpOnly, SameSite=Lax, and have nothing that can be read', async () => {
    const world = createWorld()
    const jar = new Jar()
    const cookies: string[] = []
    const seen = (response: Response): Response => {
      cookies.push(...response.headers.getSetCookie())
      return response
    }
    const { at } = await arrive(world, { clientId: await web(world), redirectUri: WEB, jar })
    seen(at)
    const away = seen(await answer(world, handleOf(at), jar))
    seen(await throughUpstream(world, away, jar))
    expect(cookies.length).toBeGreaterThan(3)
    for (const cookie of cookies)
      expect(cookie).toMatch(/^__Host-[\w-]+=[\w.-]*; Path=\/; HttpOnly; Secure; SameSite=Lax; Max-Age=\d+$/)
    expect(cookies.join()).not.toContain('anna')
  })
})

describe('MCP confused deputy: ways around the question', () => {
  it('prompt=none gives no code, also where the client was let in', async () => {
    const world = createWorld()
    const jar = new Jar()
    const visit = { clientId: await web(world), redirectUri: WEB, jar }
    await signInAs(world, visit)
    for (const prompt of ['none', 'none login', 'login none']) {
      const response = await world.get(await authorizeUrl({ ...visit, query: { prompt } }), jar.headers)
      expect([response.status, response.headers.get('location')], prompt).toEqual([400, null])
    }
  })

  it.each(['decision=approve', 'approve=1', 'consent_decision=approve'])(
    'the answer by GET (%s) only shows the question again',
    async (answer) => {
      const world = createWorld()
      const { at, jar } = await arrive(world, { clientId: await web(world), redirectUri: WEB })
      const response = await world.get(`${at.headers.get('location')}&${answer}`, jar.headers)
      expect([response.status, response.headers.get('location')]).toEqual([200, null])
      expect(await keysOf(world)).not.toContainEqual(expect.stringContaining(':grant:'))
    },
  )

  it('a form without an answer, or with two, agrees to nothing', async () => {
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId: await web(world), redirectUri: WEB })
    const send = (body: string) =>
      world.send(
        new Request(`${ORIGIN}/oauth/authorize`, {
          method: 'POST',
          headers: {
            ...jar.headers,
            origin: ORIGIN,
            'content-type': 'application/x-www-form-urlencoded',
          },
          body,
        }),
      )
    const handle = handleOf(at)
    for (const body of [
      `consent=${handle}`,
      `consent=${handle}&decision=`,
      `consent=${handle}&decision=yes`,
      `consent=${handle}&decision=deny&decision=approve`,
      `consent=${handle}&decision=approve&decision=deny`,
      `consent=x&consent=${handle}&decision=approve`,
      `consent=${handle}&consent=x&decision=approve`,
      `consent=&decision=approve`,
    ]) {
      const response = await send(body)
      expect([response.status, response.headers.get('location')], body).toEqual([400, null])
    }
    expect((await send(`consent=${handle}&decision=approve`)).status).toBe(303)
  })

  it('a form that is sent again, or was kept, agrees to nothing', async () => {
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId: await web(world), redirectUri: WEB })
    const headers = { ...jar.headers, origin: ORIGIN }
    const fields = { consent: handleOf(at), decision: 'approve' }
    expect((await world.form('/oauth/authorize', fields, headers)).status).toBe(303)
    expect((await world.form('/oauth/authorize', fields, headers)).status).toBe(400)
    const denied = await arrive(world, { clientId: await web(world), redirectUri: WEB })
    const kept = { ...denied.jar.headers, origin: ORIGIN }
    await decide(world, handleOf(denied.at), denied.jar, 'deny')
    const late = { consent: handleOf(denied.at), decision: 'approve' }
    expect((await world.form('/oauth/authorize', late, kept)).status).toBe(400)
  })

  it('fields of the form change neither the client nor where the code goes', async () => {
    const world = createWorld()
    const evil = await registered(world, { redirect_uris: [ATTACKER] })
    const { at, jar } = await arrive(world, { clientId: await web(world), redirectUri: WEB })
    const fields = {
      ...{ consent: handleOf(at), decision: 'approve', redirect_uri: ATTACKER, client_id: evil },
      ...{ scope: 'notes:write', state: 'evil', request: 'x' },
    }
    const away = jar.take(await world.form('/oauth/authorize', fields, { ...jar.headers, origin: ORIGIN }))
    const url = new URL((await throughUpstream(world, away, jar)).headers.get('location')!)
    expect([url.origin + url.pathname, url.searchParams.get('state')]).toEqual([WEB, 'state-of-client'])
  })

  it('a handle of one step is none of another', async () => {
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId: await web(world), redirectUri: WEB })
    const away = await leave(world, { clientId: await web(world), redirectUri: WEB, jar: new Jar() })
    const both = { cookie: `${jar.headers.cookie}; ${away.jar.headers.cookie}` }
    const asState = new URLSearchParams({ state: handleOf(at), code: 'anna' })
    expect((await world.get(`/oauth/callback?${asState}`, both)).status).toBe(400)
    const fields = { consent: away.state, decision: 'approve' }
    expect((await world.form('/oauth/authorize', fields, { ...both, origin: ORIGIN })).status).toBe(400)
    expect((await world.get(`/oauth/authorize?consent=${away.state}`, both)).status).toBe(400)
    expect((await world.get(`/oauth/authorize?switch=${away.state}`, both)).status).toBe(400)
  })
})
