/** The page of connections, and the provider's tokens. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import type { GrantStore } from '../../../src/sign-in/store/store.ts'
import { UpstreamRefusedError, UpstreamUnavailableError } from '../../../src/sign-in/upstream/upstream.ts'
import { slow } from './_faulty.ts'
import {
  arrive,
  connected,
  createWorld,
  exchange,
  fakeUpstream,
  Jar,
  leave,
  ORIGIN,
  personOf,
  refresh,
  registered,
  SECRET,
  signInAs,
  type Tokens,
  type World,
} from './_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

const WEB = 'https://client.example/cb'

/** The page, after the way to the provider if it is needed. */
async function openConnections(world: World, jar: Jar, person = 'anna'): Promise<string> {
  const response = jar.take(await world.get('/connections', jar.headers))
  if (response.status === 200) return response.text()
  const state = new URL(response.headers.get('location')!).searchParams.get('state')!
  const back = jar.take(
    await world.get(`/oauth/callback?${new URLSearchParams({ state, code: person })}`, jar.headers),
  )
  expect(back.headers.get('location')).toBe(`${ORIGIN}/connections`)
  return (await world.get('/connections', jar.headers)).text()
}

const tokenIn = (page: string): string => /name="?form"? value="?([^"> ]+)/.exec(page)?.[1] ?? ''

describe('the page of connections', () => {
  it('asks who it is, and shows what this person has let in', async () => {
    const world = createWorld()
    await connected(world, { clientId: await registered(world, { client_name: 'First app' }) })
    await connected(world, {
      clientId: await registered(world, { client_name: 'Second app' }),
      person: 'bert',
    })
    const page = await openConnections(world, new Jar())
    expect(page).toContain('First app')
    expect(page).toContain('anna@example.com')
    expect(page).toContain('Read your notes')
    expect(page).not.toContain('Second app')
  })

  it('removes a client with all its tokens and what was agreed to, at once', async () => {
    const world = createWorld()
    const clientId = await registered(world, { redirect_uris: [WEB, 'http://127.0.0.1/cb'] })
    const jar = new Jar()
    const visit = { clientId, redirectUri: WEB, jar }
    await signInAs(world, visit)
    const { tokens } = await connected(world, { clientId })
    const { tokens: second } = await connected(world, { clientId })
    const other = await connected(world)
    const page = await openConnections(world, jar)
    const fields = { form: tokenIn(page), revoke: clientId }
    const response = await world.form('/connections', fields, { ...jar.headers, origin: ORIGIN })
    expect(response.headers.get('location')).toBe(`${ORIGIN}/connections?removed`)
    for (const { access_token: token } of [tokens, second])
      await expect(world.signIn.verify(token, world.context)).rejects.toMatchObject({ code: 'invalid_token' })
    expect((await refresh(world, tokens.refresh_token, clientId)).status).toBe(400)
    expect((await arrive(world, visit)).at.headers.get('location')).toContain('?consent=')
    await world.signIn.verify(other.tokens.access_token, world.context)
  })

  it('removes more than one commit can hold', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const all = []
    for (let count = 0; count < 30; count++) all.push((await connected(world, { clientId })).tokens)
    const jar = new Jar()
    const fields = { form: tokenIn(await openConnections(world, jar)), revoke: clientId }
    await world.form('/connections', fields, { ...jar.headers, origin: ORIGIN })
    for (const { access_token: token } of all)
      await expect(world.signIn.verify(token, world.context)).rejects.toMatchObject({ code: 'invalid_token' })
  })

  it('a code that the client has not exchanged yet is removed, too', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    await connected(world, { clientId })
    const code = (await signInAs(world, { clientId })).searchParams.get('code') ?? ''
    const jar = new Jar()
    const fields = { form: tokenIn(await openConnections(world, jar)), revoke: clientId }
    await world.form('/connections', fields, { ...jar.headers, origin: ORIGIN })

    expect((await exchange(world, code, clientId)).status).toBe(400)
  })

  it('with more connections than a page lists → other clients are shown, and all of one are removed', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    await connected(world, { clientId })
    await connected(world, { clientId: await registered(world, { client_name: 'Last app' }) })
    const { keys } = await world.store.list({ prefix: '', limit: 100 })
    const key = keys.find((one) => one.includes(':grant:'))!
    const { value } = (await world.store.read(key))!
    const copy = JSON.stringify({ ...JSON.parse(value), clientId })
    for (let count = 0; count < 620; count++) {
      const copied = key.replace(/:[^:]+$/, `:${String(count).padStart(20, '0')}`)
      await world.store.commit(`v${count}`, [{ key: copied, value: copy }])
    }
    const jar = new Jar()
    const page = await openConnections(world, jar)
    expect(page).toContain('Last app')

    const fields = { form: tokenIn(page), revoke: clientId }
    await world.form('/connections', fields, { ...jar.headers, origin: ORIGIN })

    const left = await world.store.list({ prefix: key.replace(/:[^:]+$/, ':'), limit: 1000 })
    expect(left.keys).toHaveLength(1)
  })

  it('after signing out, a copied cookie opens nothing, and other browsers stay signed in', async () => {
    const world = createWorld()
    const [jar, elsewhere] = [new Jar(), new Jar()]
    const page = await openConnections(world, jar)
    await openConnections(world, elsewhere)
    const copy = jar.headers
    const fields = { form: tokenIn(page), sign_out: '1' }
    expect((await world.form('/connections', fields, { ...copy, origin: ORIGIN })).status).toBe(200)
    const opened = await world.get('/connections', copy)
    expect([opened.status, opened.headers.get('location')]).toEqual([
      303,
      expect.stringContaining('upstream'),
    ])
    expect((await world.form('/connections', fields, { ...copy, origin: ORIGIN })).status).toBe(403)
    expect((await world.get('/connections', elsewhere.headers)).status).toBe(200)
  })

  it.each([
    ['stays where it is', (next: string) => next],
    ['goes back', (next: string) => next.slice(0, -1)],
    ['starts again', () => ''],
  ])('a store whose list %s → an error, and no endless loop', async (_name, nextOf) => {
    const inner = createMemoryGrants()
    const world = createWorld({
      store: { ...inner, list: async ({ prefix, after }) => ({ keys: [], next: nextOf(after ?? prefix) }) },
    })
    const jar = new Jar()
    const response = jar.take(await world.get('/connections', jar.headers))
    const state = new URL(response.headers.get('location')!).searchParams.get('state')!
    jar.take(await world.get(`/oauth/callback?${new URLSearchParams({ state, code: 'anna' })}`, jar.headers))
    expect((await world.get('/connections', jar.headers)).status).toBe(503)
    expect(String(world.reports)).toContain('"next" that is after "after"')
  })

  it('a store whose list never ends → an error in the end', async () => {
    const inner = createMemoryGrants()
    const list: GrantStore['list'] = async ({ prefix, after = prefix }) => ({ keys: [], next: `${after}x` })
    const world = createWorld({ store: { ...inner, list } })
    const jar = new Jar()
    const away = jar.take(await world.get('/connections', jar.headers))
    const state = new URL(away.headers.get('location')!).searchParams.get('state')!
    jar.take(await world.get(`/oauth/callback?${new URLSearchParams({ state, code: 'anna' })}`, jar.headers))
    expect((await world.get('/connections', jar.headers)).status).toBe(503)
    expect(String(world.reports)).toContain('more than 1000 pages')
  })

  it('a form of another website, of another session or without one changes nothing', async () => {
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    const jar = new Jar()
    const form = tokenIn(await openConnections(world, jar))
    const evil = new Jar()
    const evilForm = tokenIn(await openConnections(world, evil, 'mallory'))
    const tries: [object, object][] = [
      [{ form }, { ...jar.headers, origin: 'https://evil.example' }],
      [{ form: evilForm }, { ...jar.headers, origin: ORIGIN }],
      [{ form }, { ...evil.headers, origin: ORIGIN }],
      [{}, { ...jar.headers, origin: ORIGIN }],
      [{ form }, { origin: ORIGIN }],
    ]
    for (const [fields, headers] of tries) {
      const response = await world.form(
        '/connections',
        { revoke: clientId, ...fields },
        headers as HeadersInit,
      )
      expect(response.status).toBe(403)
    }
    const own = await world.form(
      '/connections',
      { revoke: clientId, form: evilForm },
      { ...evil.headers, origin: ORIGIN },
    )
    expect(own.status).toBe(303)
    await world.signIn.verify(tokens.access_token, world.context)
  })

  it('who signs out is asked again who it is', async () => {
    const world = createWorld()
    const jar = new Jar()
    const fields = { form: tokenIn(await openConnections(world, jar)), sign_out: '1' }
    const response = jar.take(await world.form('/connections', fields, { ...jar.headers, origin: ORIGIN }))
    expect(response.status).toBe(200)
    expect((await world.get('/connections', jar.headers)).status).toBe(303)
  })

  it('a session is over after an hour, and is of one issuer', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    const jar = new Jar()
    await openConnections(world, jar)
    const other = createWorld({ origin: 'https://staging.example.com' })
    expect((await other.get('/connections', jar.headers)).status).toBe(303)
    expect((await world.get('/connections', jar.headers)).status).toBe(200)
    vi.setSystemTime(Date.now() + 3_600_001)
    expect((await world.get('/connections', jar.headers)).status).toBe(303)
  })
})

describe("the provider's token", () => {
  const HOUR = 3_600_000

  async function held(world: World) {
    const { clientId, tokens } = await connected(world)
    const { extra } = await personOf(world, tokens.access_token)
    const get = (by: World = world) => by.signIn.upstreamToken(extra.sub, extra.connection, by.context)
    return { clientId, tokens, get }
  }

  it('is what the provider gave, and refreshed before it ends', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    world.upstream.expiresIn = HOUR
    const { get } = await held(world)
    expect(await get()).toBe('upstream-access-of-anna')
    vi.setSystemTime(Date.now() + HOUR - 30_000)
    expect(await get()).toBe('upstream-access-refreshed')
    expect(await get()).toBe('upstream-access-refreshed')
    expect(world.upstream.refreshed).toEqual(['upstream-refresh-of-anna'])
    vi.setSystemTime(Date.now() + HOUR)
    await get()
    expect(world.upstream.refreshed).toEqual(['upstream-refresh-of-anna', 'upstream-refresh-of-anna+'])
  })

  it('is refreshed once, although two instances need it at the same time', async () => {
    const store = createMemoryGrants()
    const upstream = fakeUpstream()
    upstream.expiresIn = 1000
    const worlds = [
      createWorld({ store: slow(store), upstream }),
      createWorld({ store: slow(store), upstream }),
    ]
    const { get } = await held(worlds[0]!)
    const tokens = await Promise.all(Array.from({ length: 8 }, (_, index) => get(worlds[index % 2])))
    expect(new Set(tokens)).toEqual(new Set(['upstream-access-refreshed']))
    expect(upstream.refreshed).toHaveLength(1)
  })

  it('a second call waits for a refresh that is on its way', async () => {
    const world = createWorld()
    world.upstream.expiresIn = 1000
    const { get } = await held(world)
    let answer: (tokens: { accessToken: string }) => void = () => {}
    world.upstream.refreshWith = () => new Promise((resolve) => (answer = resolve))
    const first = get()
    await vi.waitFor(() => expect(world.upstream.refreshed).toHaveLength(1))
    const second = get()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(world.upstream.refreshed).toHaveLength(1)
    answer({ accessToken: 'fresh' })
    expect([await first, await second]).toEqual(['fresh', 'fresh'])
  })

  it('a process that died while it refreshed is waited for no longer than its lease', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const world = createWorld()
    world.upstream.expiresIn = 1000
    const { get } = await held(world)
    let isDead = true
    world.upstream.refreshWith = () =>
      isDead ? new Promise(() => {}) : Promise.resolve({ accessToken: 'after' })
    // It gives up after 12 seconds of its own, when the test may be over.
    get().catch(() => {})
    await vi.waitFor(() => expect(world.upstream.refreshed).toHaveLength(1))
    isDead = false
    const next = get()
    let isOver = false
    void next.finally(() => (isOver = true))
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      vi.advanceTimersByTime(1000)
    }
    expect(await next).toBe('after')
  })

  it('a provider that is down is asked again by the next call', async () => {
    const world = createWorld()
    world.upstream.expiresIn = 1000
    const { get } = await held(world)
    world.upstream.refreshWith = async () => Promise.reject(new UpstreamUnavailableError('down'))
    await expect(get()).rejects.toMatchObject({ code: 'upstream_unavailable' })
    world.upstream.refreshWith = async () => ({ accessToken: 'fresh', expiresAt: Date.now() + HOUR })
    expect(await get()).toBe('fresh')
  })

  it('a store that is away while new tokens are saved → they are saved when it is back', async () => {
    const memory = createMemoryGrants()
    let failures = 0
    const answer = <Value>(value: Promise<Value>): Promise<Value> =>
      failures-- > 0 ? Promise.reject(new Error('The store is away.')) : value
    const store = {
      ...memory,
      read: (key: string) => answer(memory.read(key)),
      commit: (...given: Parameters<typeof memory.commit>) =>
        failures > 0 ? answer(Promise.resolve(true)) : memory.commit(...given),
    }
    const world = createWorld({ store })
    world.upstream.expiresIn = 1000
    const { get } = await held(world)
    const used: string[] = []
    world.upstream.refreshWith = async (token) => {
      if (used.includes(token)) throw new UpstreamRefusedError('used before')
      used.push(token)
      failures = 6
      return { accessToken: `fresh-${used.length}`, refreshToken: `${token}+`, expiresAt: Date.now() + HOUR }
    }
    expect(await get()).toBe('fresh-1')
    expect(await get()).toBe('fresh-1')
  })

  it('another provider is in use → it gets neither tokens nor codes of the old one, whose people sign in again', async () => {
    const store = createMemoryGrants()
    const of = (issuer: string) => {
      const world = createWorld({
        store,
        upstream: Object.assign(fakeUpstream(), { metadataUrl: () => issuer }),
      })
      world.upstream.expiresIn = 1000
      return world
    }
    const [old, next] = [of('https://one.example'), of('https://two.example')]
    const { get, ...held1 } = await held(old)
    const second = await connected(old)
    const { jar, callback } = await leave(old, { clientId: held1.clientId })

    await expect(get(next)).rejects.toMatchObject({ code: 'upstream_sign_in_needed' })
    expect((await refresh(next, second.tokens.refresh_token, second.clientId)).status).toBe(400)
    expect((await refresh(old, second.tokens.refresh_token, second.clientId)).status).toBe(400)
    expect((await next.get(callback(), jar.headers)).status).toBe(400)
    expect([next.upstream.refreshed, next.upstream.exchanged]).toEqual([[], []])
  })

  it('a session that the provider ended ends the connection: the client has to sign in again', async () => {
    const world = createWorld()
    world.upstream.expiresIn = 1000
    const { clientId, tokens, get } = await held(world)
    world.upstream.refreshWith = async () => Promise.reject(new UpstreamRefusedError('revoked'))
    await expect(get()).rejects.toMatchObject({ code: 'upstream_sign_in_needed' })
    await expect(world.signIn.verify(tokens.access_token, world.context)).rejects.toMatchObject({
      code: 'invalid_token',
    })
    expect((await refresh(world, tokens.refresh_token, clientId)).status).toBe(400)
  })

  it.each([
    ['another subject', { subject: 'eve' }],
    ['another issuer', { issuer: 'https://evil.example' }],
  ])('a refresh that answers with tokens of %s ends the connection', async (_what, named) => {
    const world = createWorld()
    world.upstream.expiresIn = 1000
    const { clientId, tokens, get } = await held(world)
    const same = { issuer: 'https://upstream.example', subject: 'anna' }
    world.upstream.refreshWith = async () => ({ accessToken: 'own', expiresAt: Date.now() + 1000, ...same })
    expect([await get(), await get()]).toEqual(['own', 'own'])
    world.upstream.refreshWith = async () => ({ accessToken: 'of-eve', ...same, ...named })
    await expect(get()).rejects.toMatchObject({
      code: 'upstream_sign_in_needed',
      cause: { code: 'id_token_invalid' },
    })
    await expect(get()).rejects.toMatchObject({ code: 'upstream_sign_in_needed' })
    expect(world.upstream.refreshed).toHaveLength(3)
    await expect(world.signIn.verify(tokens.access_token, world.context)).rejects.toMatchObject({
      code: 'invalid_token',
    })
    expect((await refresh(world, tokens.refresh_token, clientId)).status).toBe(400)
  })

  it('is stored as long as the connection is used', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    const { clientId, tokens, get } = await held(world)
    let last = tokens
    for (let month = 0; month < 4; month++) {
      vi.setSystemTime(Date.now() + 25 * 86_400_000)
      last = (await (await refresh(world, last.refresh_token, clientId)).json()) as Tokens
    }
    expect(await get()).toBe('upstream-access-of-anna')
  })

  it('is stored no longer than its connection', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const held = async (world: World) => {
      const { keys } = await world.store.list({ prefix: '', limit: 1000 })
      return keys.filter((key) => key.includes(':upstream:')).length
    }
    const revoked = createWorld()
    const { clientId, tokens } = await connected(revoked)
    expect(await held(revoked)).toBe(1)
    await revoked.form('/oauth/token', { token: tokens.refresh_token, client_id: clientId })
    expect(await held(revoked)).toBe(0)
    const unused = createWorld()
    await signInAs(unused, { clientId: await registered(unused) })
    expect(await held(unused)).toBe(1)
    vi.setSystemTime(Date.now() + 600_001)
    expect(await held(unused)).toBe(0)
  })

  it('is opened with the old secret while that is in the list', async () => {
    const store = createMemoryGrants()
    const { get } = await held(createWorld({ store }))
    const fresh = 'another secret of thirty-two characters'
    expect(await get(createWorld({ store, secrets: [fresh, SECRET] }))).toBe('upstream-access-of-anna')
    await expect(get(createWorld({ store, secrets: [fresh] }))).rejects.toMatchObject({
      code: 'upstream_sign_in_needed',
    })
  })

  it('is sealed with the new secret while the connection is used: the old one can be removed', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const store = createMemoryGrants()
    const { clientId, tokens, get } = await held(createWorld({ store }))
    const fresh = 'another secret of thirty-two characters'
    const both = createWorld({ store, secrets: [fresh, SECRET] })
    let last = tokens
    // Twice the 30 days that it may be unused.
    for (let days = 0; days <= 60; days += 20) {
      last = (await (await refresh(both, last.refresh_token, clientId)).json()) as Tokens
      vi.setSystemTime(Date.now() + 20 * 86_400_000)
    }
    const after = createWorld({ store, secrets: [fresh] })
    expect(await get(after)).toBe('upstream-access-of-anna')
    expect((await refresh(after, last.refresh_token, clientId)).status).toBe(200)
  })
})
