/** The provider's token is refreshed once, whatever is lost, late, repeated, or by another clock; and nobody loses a connection by it. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import type { GrantStore, GrantWrite } from '../../../src/sign-in/store/store.ts'
import { UpstreamRefusedError, UpstreamUnavailableError } from '../../../src/sign-in/upstream/upstream.ts'
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
    await new Promise((resolve) => setTimeout(resolve, 50))
    vi.advanceTimersByTime(16_001)
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
    vi.advanceTimersByTime(12_001)
    expect(await late).toMatchObject({ code: 'upstream_unavailable' })
    vi.useRealTimers()
    answer()
    expect(await get()).toBe('access-1')
    expect(upstream.refreshed).toHaveLength(1)
    expect(await isConnected()).toBe(true)
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
