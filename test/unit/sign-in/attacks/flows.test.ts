/** Sign-ins under way: what strangers begin is in their own browser, and the store has almost none of it. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryGrants } from '../../../../src/sign-in/store/memory.ts'
import type { GrantStore } from '../../../../src/sign-in/store/store.ts'
import {
  UpstreamFault,
  type UpstreamFaultCode,
  UpstreamRefusedError,
  UpstreamUnavailableError,
} from '../../../../src/sign-in/upstream/upstream.ts'
import { secretOf } from '../../../_secrets.ts'
import { slow } from '../_faulty.ts'
import {
  answer,
  arrive,
  authorizeUrl,
  connected,
  createWorld,
  decide,
  handleOf,
  Jar,
  leave,
  ORIGIN,
  registered,
  SECRET,
  s256,
  signInAs,
  type World,
} from '../_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

const NOW = 1_800_000_000_000
const LONG = 'x'.repeat(6000)

/** A store that says what was written. */
function counted(store: GrantStore = createMemoryGrants()) {
  const written = { commits: 0, bytes: 0 }
  const asked = { reads: 0 }
  const counting: GrantStore = {
    ...store,
    read(key) {
      asked.reads++
      return store.read(key)
    },
    async commit(version, writes) {
      written.commits++
      for (const { key, value = '' } of writes) written.bytes += key.length + value.length
      return store.commit(version, writes)
    },
  }
  return { store: counting, written, asked }
}

const keysOf = async ({ store }: World, part: string): Promise<string[]> =>
  (await store.list({ prefix: '', limit: 1000 })).keys.filter((key) => key.includes(part))

describe('requests to sign in of a stranger', () => {
  it('500 of them, and of the page of connections → nothing is stored', async () => {
    const { store, written } = counted()
    const world = createWorld({ store, address: '203.0.113.1' })
    const clientId = await registered(world)
    const before = { ...written }
    for (const state of ['short', 'x'.repeat(2000)])
      for (let count = 0; count < 500; count++) {
        const url = await authorizeUrl({ clientId, query: { state } })
        const response = await world.get(url)
        expect(response.status).toBe(303)
        const { cookies } = new Jar()
        for (const cookie of response.headers.getSetCookie()) cookies.set(cookie, '')
        if (count === 0) await world.get(response.headers.get('location')!)
      }
    for (let count = 0; count < 500; count++) expect((await world.get('/connections')).status).toBe(303)
    expect(written).toEqual(before)
  })

  it('that answer the question, and come back with a wrong code → under 100 bytes each, for 11 minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { store, written } = counted()
    const world = createWorld({ store })
    world.upstream.exchangeWith = async () => Promise.reject(new UpstreamRefusedError('An unknown code.'))
    const clientId = await registered(world)
    const before = written.bytes
    for (let count = 0; count < 100; count++) {
      // More in a minute are not asked about.
      vi.setSystemTime(NOW + count * 2000)
      const { jar, callback } = await leave(world, { clientId, query: { state: 'x'.repeat(1500) } })
      expect((await world.get(callback(), jar.headers)).status).toBe(403)
    }
    // With what counts them.
    expect(written.bytes - before).toBeLessThan(100 * 3 * 100)
    vi.setSystemTime(NOW + 200_000 + 661_000)
    expect(await keysOf(world, ':done:')).toEqual([])
  })

  it('that are too long for a cookie are stored within a share, and take nothing of the others', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const store = createMemoryGrants()
    const [one, other] = ['203.0.113.1', '192.0.2.1'].map((address) => createWorld({ store, address }))
    const clientId = await registered(one!)
    const begin = async (world: World, state: string) =>
      world.get(await authorizeUrl({ clientId, query: { state } }))
    for (let count = 0; count < 30; count++) expect((await begin(one!, LONG)).status).toBe(303)
    for (let count = 0; count < 30; count++) {
      const refused = await begin(one!, LONG)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    }
    expect(await keysOf(one!, ':flow:')).toHaveLength(30)
    expect((await begin(one!, 'short')).status).toBe(303)
    expect((await signInAs(other!, { clientId, query: { state: LONG } })).searchParams.get('state')).toBe(
      LONG,
    )
    vi.setSystemTime(NOW + 600_001)
    expect(await keysOf(one!, ':flow:')).toEqual([])
  })
})

describe('callers at the return address', () => {
  const refusing = (code: string) => async (): Promise<never> => {
    throw new UpstreamRefusedError('The code is not accepted.', {
      cause: new UpstreamFault('grant_refused', `${code} is unknown`),
    })
  }

  const unavailable = (code: UpstreamFaultCode, status?: number) => async (): Promise<never> => {
    const cause = new UpstreamFault(code, 'It cannot be used', status)
    throw new UpstreamUnavailableError('It cannot be used.', { cause })
  }

  it.each([
    ['none', '', ''],
    ['of the wrong form', 'state', ''],
    ['of nobody', 'a'.repeat(43), ''],
    ['with a cookie that was made up', 'a'.repeat(43), 'b'.repeat(43)],
    ['with a long cookie that was made up', 'a'.repeat(43), 'b.c.d'.repeat(700)],
  ])('a state: %s → at most one read, and no request to the provider', async (_kind, state, value) => {
    const { store, written, asked } = counted()
    const world = createWorld({ store, address: '203.0.113.1' })
    const cookie = `__Host-mayfly-flow-${(await s256(state)).slice(0, 16)}=${value}`
    const before = { ...written }
    asked.reads = 0
    const response = await world.get(`/oauth/callback?${new URLSearchParams({ state, code: 'x' })}`, {
      cookie,
    })
    expect(response.status).toBe(400)
    expect(asked.reads).toBeLessThanOrEqual(1)
    expect([world.upstream.exchanged, written]).toEqual([[], before])
  })

  it.each([
    ['refuses them', refusing('this one'), 403],
    ['says that something else is wrong', unavailable('misconfigured'), 503],
    ['answers a status of 403', unavailable('answer_invalid', 403), 503],
  ])(
    '100 sign-ins of one address with wrong codes, where the provider %s → 30 requests to it in a minute',
    async (_what, answer, status) => {
      vi.useFakeTimers({ toFake: ['Date'], now: NOW })
      const store = createMemoryGrants()
      const world = createWorld({ store, address: '203.0.113.1' })
      world.upstream.exchangeWith = answer
      const clientId = await registered(world)
      const statuses: number[] = []
      for (let count = 0; count < 100; count++) {
        const { jar, callback } = await leave(world, { clientId })
        statuses.push((await world.get(callback(), jar.headers)).status)
      }
      expect(world.upstream.exchanged).toHaveLength(30)
      expect(statuses).toEqual([...Array(30).fill(status), ...Array(70).fill(429)])

      const { jar, callback } = await leave(world, { clientId })
      delete world.upstream.exchangeWith
      const limited = await world.get(callback(), jar.headers)
      expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60'])
      // Others sign in, and so does the person, who loads the same page again a minute later.
      const elsewhere = createWorld({ store, address: '198.51.100.1' })
      expect((await signInAs(elsewhere, { clientId })).searchParams.get('code')).toBeTruthy()
      vi.setSystemTime(NOW + 60_000)
      expect((await world.get(callback(), jar.headers)).status).toBe(303)
    },
  )

  it.each([
    ['does not answer', unavailable('unreachable')],
    ['answers a status of 503', unavailable('answer_invalid', 503)],
    ['answers what is not a token', unavailable('answer_invalid')],
    ['is one of somebody’s own that throws what fetch throws', () => Promise.reject(new TypeError('failed'))],
  ])('an outage counts against nobody: the provider %s', async (_what, answer) => {
    const world = createWorld({ address: '203.0.113.1' })
    const clientId = await registered(world)
    world.upstream.exchangeWith = answer
    for (let count = 0; count < 35; count++) {
      const { jar, callback } = await leave(world, { clientId })
      await world.get(callback(), jar.headers)
    }
    expect(world.upstream.exchanged).toHaveLength(35)
    delete world.upstream.exchangeWith
    expect((await signInAs(world, { clientId })).searchParams.get('code')).toBeTruthy()
  })
})

describe('a flow in the browser', () => {
  it.each(['short', 'x'.repeat(2000), '€'.repeat(500)])(
    'fits into cookies as browsers take them: state %#',
    async (state) => {
      const world = createWorld()
      const jar = new Jar()
      const clientId = await registered(world)
      const took = async (response: Response): Promise<Response> => {
        for (const cookie of response.headers.getSetCookie()) expect(cookie.length).toBeLessThanOrEqual(4096)
        return jar.take(response)
      }
      const at = await took(await world.get(await authorizeUrl({ clientId, query: { state } })))
      await took(await answer(world, handleOf(at), jar))
    },
  )

  it('goes on in another process, and is used once by all of them', async () => {
    const store = slow(createMemoryGrants())
    const worlds = Array.from({ length: 4 }, () => createWorld({ store, secrets: [SECRET] }))
    const { jar, callback } = await leave(worlds[0]!, { clientId: await registered(worlds[1]!) })
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, index) => worlds[index % 4]!.get(callback(), jar.headers)),
    )
    expect(all.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(400)])
    expect(worlds.flatMap(({ upstream }) => upstream.exchanged)).toHaveLength(1)
  })

  it('is opened after the secret was replaced, and by nobody without it', async () => {
    const store = createMemoryGrants()
    const world = createWorld({ store, secrets: [SECRET] })
    const { at, jar } = await arrive(world, { clientId: await registered(world) })
    const shown = async (secrets: readonly string[]): Promise<number> =>
      (await createWorld({ store, secrets }).get(at.headers.get('location')!, jar.headers)).status
    expect(await shown([secretOf('n')])).toBe(400)
    expect(await shown([secretOf('n'), SECRET])).toBe(200)
  })

  it('is of one server, also of two at one host with one secret', async () => {
    const store = createMemoryGrants()
    const [a, b] = ['a', 'b'].map((path) =>
      createWorld({ store, origin: `${ORIGIN}/${path}`, resource: `${ORIGIN}/${path}/mcp` }),
    )
    const serve = async ({ signIn, context }: World, path: string, headers: HeadersInit = {}) =>
      (await signIn.serve(new Request(ORIGIN + path, { headers }), path.split('?')[0]!, context))!
    const jar = new Jar()
    jar.take(await serve(a!, '/a/connections'))
    const state = new URL((await serve(a!, '/a/connections')).headers.get('location')!).searchParams
    expect(state.get('redirectUri')).toBe(`${ORIGIN}/a/oauth/callback`)
    const away = await serve(a!, '/a/connections')
    const own = new Jar()
    own.take(away)
    const query = new URLSearchParams({
      state: new URL(away.headers.get('location')!).searchParams.get('state')!,
      code: 'anna',
    })
    expect((await serve(b!, `/b/oauth/callback?${query}`, own.headers)).status).toBe(400)
    expect((await serve(a!, `/a/oauth/callback?${query}`, own.headers)).status).toBe(303)
  })

  it('has what a provider says of a person in the store alone', async () => {
    const world = createWorld()
    const clientId = await registered(world, { redirect_uris: ['https://client.example/cb'] })
    const visit = { clientId, redirectUri: 'https://client.example/cb', jar: new Jar() }
    await signInAs(world, visit)
    // Another person than the question was about.
    const { at, jar } = await arrive(world, { ...visit, person: 'bert', query: { scope: 'notes:write' } })
    const again = await decide(world, handleOf(at), jar, 'approve', 'bert')
    const flows = [...jar.cookies].filter(([name]) => name.includes('flow'))
    expect(flows.map(([, value]) => value)).toEqual([expect.stringMatching(/^[\w-]{43}$/)])
    expect(await keysOf(world, ':flow:')).toHaveLength(1)
    expect((await decide(world, handleOf(again), jar)).headers.get('location')).toContain('code=')
    expect(await keysOf(world, ':flow:')).toEqual([])
  })
})

describe('flows that another website begins in a browser', () => {
  it.each([
    ['short', 40],
    ['x'.repeat(2000), 40],
  ])('state %#: the cookies stay below what servers take, and the last one goes on', async (state, count) => {
    const world = createWorld()
    const clientId = await registered(world)
    const jar = new Jar()
    let at = new Response()
    for (let number = 0; number < count; number++) {
      at = jar.take(await world.get(await authorizeUrl({ clientId, query: { state } }), jar.headers))
      expect(jar.headers.cookie.length).toBeLessThan(7000)
    }
    expect((await decide(world, handleOf(at), jar)).headers.get('location')).toContain('code=')
  })

  it('four open in tabs of one browser all end well', async () => {
    const world = createWorld()
    const jar = new Jar()
    const clientId = await registered(world)
    const handles: string[] = []
    for (let tab = 0; tab < 4; tab++) handles.push(handleOf((await arrive(world, { clientId, jar })).at))
    for (const handle of handles.reverse())
      expect((await decide(world, handle, jar)).headers.get('location')).toContain('code=')
  })

  it('names of cookies that are not ours are not sent back', async () => {
    const world = createWorld()
    const names = ['mayfly-flow-', 'mayfly-flow-x; Domain', `mayfly-flow-${'a'.repeat(17)}`, 'other']
    const cookie = names.map((name) => `__Host-${name}=${'x'.repeat(4000)}`).join('; ')
    const response = await world.get('/connections', { cookie })
    expect(response.headers.getSetCookie()).toHaveLength(1)
  })
})

it('a client that was let in before goes to the provider without anything stored', async () => {
  const { store, written } = counted()
  const world = createWorld({ store })
  const jar = new Jar()
  const redirectUri = 'https://client.example/cb'
  const clientId = await registered(world, { redirect_uris: [redirectUri] })
  await signInAs(world, { clientId, redirectUri, jar })
  await connected(world)
  const { commits } = written
  for (let count = 0; count < 50; count++)
    expect((await world.get(await authorizeUrl({ clientId, redirectUri }), jar.headers)).status).toBe(303)
  expect(written.commits).toBe(commits)
})
