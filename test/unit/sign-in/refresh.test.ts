/** The provider's token is refreshed once, whatever is lost, late, repeated, or by another clock; and nobody loses a connection by it. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { cognito } from '../../../src/sign-in/cognito.ts'
import { entra } from '../../../src/sign-in/entra.ts'
import { github } from '../../../src/sign-in/github.ts'
import { google } from '../../../src/sign-in/google.ts'
import { oidc } from '../../../src/sign-in/oidc.ts'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import type { GrantStore, GrantWrite } from '../../../src/sign-in/store/store.ts'
import {
  type Upstream,
  UpstreamRefusedError,
  UpstreamUnavailableError,
} from '../../../src/sign-in/upstream/upstream.ts'
import {
  connected,
  createWorld,
  type FakeUpstream,
  fakeUpstream,
  personOf,
  refresh,
  SECRET,
  type World,
} from './_sign-in.ts'

afterEach(() => vi.useRealTimers())

const HOUR = 3_600_000
const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const

/** Until it is so, without any time. */
async function turns(isSo: () => boolean): Promise<void> {
  for (let count = 0; count < 20_000 && !isSo(); count++) await settle()
}

/** What others encrypt is done by threads, in its order: what is asked for now is done after it. */
async function settle(): Promise<void> {
  await crypto.subtle.digest('SHA-256', new Uint8Array(1))
  await new Promise((resolve) => setImmediate(resolve))
}

/** Fake seconds, in which what waits for nothing but the processor goes on. */
async function pass(seconds: number): Promise<void> {
  for (let tenths = Math.round(seconds * 10); tenths > 0; tenths--) {
    for (let turns = 0; turns < 3; turns++) await settle()
    await vi.advanceTimersByTimeAsync(100)
  }
}

/** A provider that accepts each refresh token once, and its answers. */
function rotating(answered: () => Promise<unknown> = async () => {}): FakeUpstream {
  const upstream = fakeUpstream()
  const used = new Set<string>()
  upstream.expiresIn = 1000
  upstream.refreshWith = async (refreshToken) => {
    if (used.has(refreshToken)) throw new UpstreamRefusedError('used twice')
    used.add(refreshToken)
    await answered()
    return {
      accessToken: `access-${used.size}`,
      refreshToken: `${refreshToken}+`,
      expiresAt: Date.now() + HOUR,
    }
  }
  return upstream
}

async function held(world: World) {
  const { clientId, tokens } = await connected(world)
  const { extra } = await personOf(world, tokens.access_token)
  const get = (by: World = world) => by.signIn.upstreamToken(extra.sub, extra.connection, by.context)
  const isConnected = async () => (await refresh(world, tokens.refresh_token, clientId)).status === 200
  return { get, isConnected }
}

/** What happens to the writes of a commit, from now on. */
type Fate = (made: () => Promise<boolean>, number: number) => Promise<boolean>

function withFate(store: GrantStore): GrantStore & { fate: Fate } {
  let number = 0
  const faulty = {
    ...store,
    fate: (made: () => Promise<boolean>) => made(),
    commit: (version: string, writes: readonly GrantWrite[]) =>
      faulty.fate(() => store.commit(version, writes), ++number),
  } as GrantStore & { fate: Fate }
  return faulty
}

const FATES: { readonly [name: string]: (at: number) => Fate } = {
  rejected: (at) => async (made, number) => (number === at ? Promise.reject(new Error('down')) : made()),
  'rejected, also when it is repeated': (at) => async (made, number) =>
    number === at || number === at + 1 ? Promise.reject(new Error('down')) : made(),
  lost: (at) => async (made, number) => {
    const answer = await made()
    if (number === at) throw new Error('lost')
    return answer
  },
  'lost, also when it is repeated': (at) => async (made, number) => {
    const answer = await made()
    if (number === at || number === at + 1) throw new Error('lost')
    return answer
  },
  repeated: (at) => async (made, number) => {
    const answer = await made()
    return number === at ? made() : answer
  },
  delayed: (at) => async (made, number) => {
    if (number === at) await new Promise((resolve) => setTimeout(resolve, 300))
    return made()
  },
}

describe('a refresh of the provider’s token', () => {
  const cases = Object.keys(FATES).flatMap((fate) => [1, 2, 3].map((at) => [at, fate] as const))

  it.each(cases)(
    'write %d is %s → the refresh token is used once, and the connection lasts',
    async (at, fate) => {
      const store = withFate(createMemoryGrants())
      const upstream = rotating()
      const worlds = [createWorld({ store, upstream }), createWorld({ store, upstream })] as const
      const { get, isConnected } = await held(worlds[0])
      let commits = 0
      const chosen = FATES[fate]!(at)
      store.fate = (made) => chosen(made, ++commits)
      const [one, other] = await Promise.all([get(), get(worlds[1])])
      expect([one, other]).toEqual(['access-1', 'access-1'])
      expect(await get()).toBe('access-1')
      expect(upstream.refreshed).toEqual(['upstream-refresh-of-anna'])
      expect(await isConnected()).toBe(true)
    },
  )

  it('new tokens are stored although the store is away for a second when they come', async () => {
    const store = withFate(createMemoryGrants())
    const upstream = rotating(async () => {
      store.fate = async () => Promise.reject(new Error('down'))
      setTimeout(() => (store.fate = (made) => made()), 1000)
    })
    const world = createWorld({ store, upstream })
    const { get, isConnected } = await held(world)
    expect([await get(), await get()]).toEqual(['access-1', 'access-1'])
    expect(await isConnected()).toBe(true)
  })

  it.each([
    [0, 300_000],
    [300_000, 0],
    [-300_000, 0],
  ])('machines %d and %d ms ahead: the second waits for the first', async (first, second) => {
    const store = createMemoryGrants()
    let answer = (): void => {}
    const upstream = rotating(() => new Promise<void>((resolve) => (answer = resolve)))
    upstream.expiresIn = -HOUR
    const worlds = [createWorld({ store, upstream }), createWorld({ store, upstream })] as const
    const { get, isConnected } = await held(worlds[0])
    vi.useFakeTimers({ toFake: ['Date'] })
    const real = Date.now()
    vi.setSystemTime(real + first)
    const one = get()
    await vi.waitFor(() => expect(upstream.refreshed).toHaveLength(1))
    vi.setSystemTime(real + second)
    const other = get(worlds[1])
    await new Promise((resolve) => setTimeout(resolve, 500))
    answer()
    expect([await one, await other]).toEqual(['access-1', 'access-1'])
    expect(upstream.refreshed).toHaveLength(1)
    vi.setSystemTime(real)
    expect(await isConnected()).toBe(true)
  })

  it('a refusal of a token that another process has replaced meanwhile ends nothing', async () => {
    const store = createMemoryGrants()
    const slow = rotating()
    const fast = rotating()
    const worlds = [createWorld({ store, upstream: slow }), createWorld({ store, upstream: fast })] as const
    const { get, isConnected } = await held(worlds[0])
    let refuse = (_error: Error): void => {}
    slow.refreshWith = () => new Promise((_resolve, reject) => (refuse = reject))
    vi.useFakeTimers({ toFake: ['performance'] })
    const one = get()
    await vi.waitFor(() => expect(slow.refreshed).toHaveLength(1))
    // A machine that was paused: its lease is over for others.
    const other = get(worlds[1])
    let isOver = false
    void other.finally(() => (isOver = true))
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      vi.advanceTimersByTime(1000)
    }
    expect(await other).toBe('access-1')
    refuse(new UpstreamRefusedError('used twice'))
    expect(await one).toBe('access-1')
    expect(await isConnected()).toBe(true)
  })

  it('a write of the lease that took too long is not relied on: the provider is not asked', async () => {
    const store = withFate(createMemoryGrants())
    const upstream = rotating()
    const world = createWorld({ store, upstream })
    const { get, isConnected } = await held(world)
    vi.useFakeTimers({ toFake: ['performance'] })
    store.fate = async (made) => {
      const answer = await made()
      vi.advanceTimersByTime(4000)
      return answer
    }
    await expect(get()).rejects.toMatchObject({ code: 'upstream_unavailable' })
    expect(upstream.refreshed).toEqual([])
    store.fate = (made) => made()
    expect(await get()).toBe('access-1')
    expect(await isConnected()).toBe(true)
  })

  it('a provider that answers after its time: the tokens are stored, and used', async () => {
    let answer = (): void => {}
    const upstream = rotating(() => new Promise<void>((resolve) => (answer = resolve)))
    const world = createWorld({ upstream })
    const { get, isConnected } = await held(world)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const late = get().catch((error: unknown) => error)
    await vi.waitFor(() => expect(upstream.refreshed).toHaveLength(1))
    vi.advanceTimersByTime(29_001)
    expect(await late).toMatchObject({ code: 'upstream_unavailable' })
    vi.useRealTimers()
    answer()
    expect(await get()).toBe('access-1')
    expect(upstream.refreshed).toHaveLength(1)
    expect(await isConnected()).toBe(true)
  })

  it('a provider that needs 40 seconds is asked once, by all instances, and its answer counts', async () => {
    const store = createMemoryGrants()
    let answer = (): void => {}
    const upstream = rotating(() => new Promise<void>((resolve) => (answer = resolve)))
    const worlds = [createWorld({ store, upstream }), createWorld({ store, upstream })] as const
    const kept: Promise<unknown>[] = []
    const { extra } = await personOf(worlds[0], (await connected(worlds[0])).tokens.access_token)
    const get = ({ signIn, context }: World) =>
      signIn
        .upstreamToken(extra.sub, extra.connection, { ...context, waitUntil: (work) => kept.push(work) })
        .catch(({ code }) => code)
    vi.useFakeTimers({ toFake: [...TIMERS, 'performance'] })
    const outcomes: unknown[] = []
    const note = (outcome: unknown) => void outcomes.push(outcome)
    void get(worlds[0]).then(note)
    await turns(() => upstream.refreshed.length === 1)
    await pass(10)
    void get(worlds[1]).then(note)
    await pass(18)
    expect(outcomes).toEqual([])
    await pass(2)
    await turns(() => outcomes.length === 1)
    expect(outcomes).toEqual(['upstream_unavailable'])
    for (let seconds = 0; seconds < 15 && outcomes.length < 2; seconds++) await pass(1)
    expect(outcomes).toEqual(['upstream_unavailable', 'upstream_unavailable'])
    void get(worlds[1]).then(note)
    await pass(1)
    expect([upstream.refreshed.length, kept.length]).toEqual([1, 1])
    answer()
    await kept[0]
    while (outcomes.length < 3) await pass(0.1)
    expect(outcomes[2]).toBe('access-1')
    expect(upstream.refreshed).toHaveLength(1)
  })

  it('a provider that never answers does not hold others up for ever: beats end after 65 seconds', async () => {
    const store = withFate(createMemoryGrants())
    const upstream = fakeUpstream()
    upstream.expiresIn = 1000
    upstream.refreshWith = () => new Promise(() => {})
    const { get } = await held(createWorld({ store, upstream }))
    let beats = 0
    store.fate = (made) => {
      beats++
      return made()
    }
    vi.useFakeTimers({ toFake: [...TIMERS] })
    get().catch(() => {})
    await turns(() => upstream.refreshed.length === 1)
    beats = 0
    await pass(60)
    expect(beats).toBeGreaterThanOrEqual(12)
    await pass(10)
    beats = 0
    await pass(30)
    expect(beats).toBe(0)
  })

  it('a token that is still valid is used after 12 seconds, and the late answer counts', async () => {
    let answer = (): void => {}
    const upstream = rotating(() => new Promise<void>((resolve) => (answer = resolve)))
    upstream.expiresIn = 50_000
    const world = createWorld({ upstream })
    const { get } = await held(world)
    vi.useFakeTimers({ toFake: [...TIMERS, 'performance'] })
    const outcome = vi.fn()
    void get().then(outcome)
    await turns(() => upstream.refreshed.length === 1)
    await pass(11)
    expect(outcome).not.toHaveBeenCalled()
    await pass(2)
    await turns(() => outcome.mock.calls.length > 0)
    expect(outcome).toHaveBeenCalledExactlyOnceWith('upstream-access-of-anna')
    answer()
    vi.useRealTimers()
    expect(await get()).toBe('access-1')
    expect(upstream.refreshed).toHaveLength(1)
  })

  it('is over within 30 seconds, however slow the store is', async () => {
    const store = withFate(createMemoryGrants())
    const world = createWorld({ store, upstream: rotating() })
    const { get } = await held(world)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    store.fate = () => new Promise(() => {})
    const over = vi.fn()
    const asked = get().then(over, over)
    for (let second = 0; second < 30; second++) {
      await new Promise((resolve) => setImmediate(resolve))
      await vi.advanceTimersByTimeAsync(1000)
    }
    await asked
    expect(over).toHaveBeenCalledOnce()
  })

  it('a token that is still valid is used while the provider is down', async () => {
    const world = createWorld()
    world.upstream.expiresIn = 40_000
    const { get, isConnected } = await held(world)
    world.upstream.refreshWith = async () => Promise.reject(new UpstreamUnavailableError('down'))
    expect(await get()).toBe('upstream-access-of-anna')
    expect(world.upstream.refreshed).toHaveLength(1)
    world.upstream.refreshWith = undefined as never
    expect(await get()).toBe('upstream-access-refreshed')
    expect(await isConnected()).toBe(true)
  })

  it('tokens that last a second are refreshed once for all who wait', async () => {
    const world = createWorld()
    world.upstream.expiresIn = 1000
    const { get } = await held(world)
    let number = 0
    world.upstream.refreshWith = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return { accessToken: `short-${++number}`, expiresAt: Date.now() + 1000 }
    }
    const all = await Promise.all(Array.from({ length: 12 }, () => get()))
    expect(new Set(all)).toEqual(new Set(['short-1']))
    expect(world.upstream.refreshed).toHaveLength(1)
  })

  it('tokens that last 30 seconds are refreshed after half of them', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    world.upstream.expiresIn = 1000
    const { get } = await held(world)
    let number = 0
    world.upstream.refreshWith = async () => ({
      accessToken: `short-${++number}`,
      expiresAt: Date.now() + 30_000,
    })
    expect([await get(), await get()]).toEqual(['short-1', 'short-1'])
    vi.setSystemTime(Date.now() + 14_000)
    expect(await get()).toBe('short-1')
    vi.setSystemTime(Date.now() + 2000)
    expect(await get()).toBe('short-2')
  })

  it('an access token that is too long to be stored is asked for each time', async () => {
    const world = createWorld()
    world.upstream.expiresIn = 1000
    const { get, isConnected } = await held(world)
    const long = 'a'.repeat(60_000)
    world.upstream.refreshWith = async (before) => ({ accessToken: long, refreshToken: `${before}+` })
    expect(await get()).toBe(long)
    expect(await get()).toBe(long)
    expect(world.upstream.refreshed).toEqual(['upstream-refresh-of-anna', 'upstream-refresh-of-anna+'])
    expect(await isConnected()).toBe(true)
  })

  it('tokens that no secret opens any more end the connection, so that the client signs in again', async () => {
    const store = createMemoryGrants()
    const before = await held(createWorld({ store, secrets: [SECRET] }))
    const after = createWorld({ store, secrets: ['another secret of thirty-two characters or more'] })
    await expect(before.get(after)).rejects.toMatchObject({ code: 'upstream_sign_in_needed' })
    expect(await before.isConnected()).toBe(false)
  })
})

describe('the request for new tokens', () => {
  const ISSUER = 'https://login.example'
  const client = { clientId: 'the-id', clientSecret: 'the-secret', timeoutMs: 1000 }
  const PROVIDERS: { readonly [name: string]: (fetch: typeof globalThis.fetch) => Upstream } = {
    oidc: (fetch) => oidc({ ...client, issuer: ISSUER, fetch }),
    google: (fetch) => google({ ...client, fetch }),
    github: (fetch) => github({ ...client, fetch }),
    entra: (fetch) => entra({ ...client, tenant: '0f0f0f0f-1111-2222-3333-444444444444', fetch }),
    cognito: (fetch) => cognito({ ...client, region: 'eu-west-1', userPoolId: 'eu-west-1_AbC', fetch }),
  }

  it.each(Object.keys(PROVIDERS))(
    'of %s has a minute, whatever timeoutMs is: its answer counts',
    async (name) => {
      let signal: AbortSignal | undefined
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const url = String(input)
        if (!url.includes('.well-known')) {
          signal = init!.signal!
          return new Promise<Response>(() => {})
        }
        const issuer = url.replace('/.well-known/openid-configuration', '')
        const ends = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].map((one) => [
          one,
          `${issuer}/${one}`,
        ])
        return Response.json({ issuer, ...Object.fromEntries(ends) })
      }
      vi.useFakeTimers({ toFake: [...TIMERS] })
      const asked = PROVIDERS[name]!(fetch).refresh!({ env: {}, refreshToken: 'r' }).catch(
        (error: unknown) => error,
      )
      await pass(59)
      expect(signal?.aborted).toBe(false)
      await pass(2)
      expect(signal?.aborted).toBe(true)
      expect(await asked).toMatchObject({ code: 'upstream_unavailable' })
    },
  )

  it('is known for each provider that there is', async () => {
    const { default: manifest } = await import('../../../package.json', { with: { type: 'json' } })
    const entries = Object.keys(manifest.exports).flatMap((one) => /^\.\/sign-in\/(.+)/.exec(one)?.[1] ?? [])
    expect(Object.keys(PROVIDERS).sort()).toEqual([...entries, 'oidc'].sort())
  })
})
