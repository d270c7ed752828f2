/** Codes that the provider refused, at the callback: which of its answers count. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { github } from '../../../../src/sign-in/github.ts'
import { oidc } from '../../../../src/sign-in/oidc.ts'
import { createMemoryGrants } from '../../../../src/sign-in/store/memory.ts'
import { type Upstream, UpstreamRefusedError } from '../../../../src/sign-in/upstream/upstream.ts'
import { slow } from '../_faulty.ts'
import { createWorld, type FakeUpstream, Jar, type World } from '../_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

const ISSUER = 'https://login.example.com'
const CLIENT = { clientId: 'client', clientSecret: 'secret of the client' }
type Answering = (answer: () => Response, clientSecret?: string) => Upstream

const PROVIDERS: { readonly [name: string]: Answering } = {
  github: (answer) => github({ ...CLIENT, fetch: async () => answer() }),
  oidc: (answer, clientSecret = CLIENT.clientSecret) =>
    oidc({
      ...CLIENT,
      clientSecret,
      issuer: ISSUER,
      fetch: async (url) =>
        String(url).includes('.well-known')
          ? Response.json({
              issuer: ISSUER,
              authorization_endpoint: `${ISSUER}/authorize`,
              token_endpoint: `${ISSUER}/token`,
              jwks_uri: `${ISSUER}/keys`,
            })
          : answer(),
    }),
}

const ANSWERS: readonly [string, () => Response, boolean][] = [
  ['invalid_grant', () => Response.json({ error: 'invalid_grant' }, { status: 400 }), true],
  ['400 in HTML', () => new Response('<p>no', { status: 400 }), true],
  ['403 without content', () => new Response(null, { status: 403 }), true],
  ['500', () => Response.json({ error: 'server_error' }, { status: 500 }), false],
  ['503 in HTML', () => new Response('<p>later', { status: 503 }), false],
]

/** A sign-in of nobody in particular that is at the provider. */
async function begun(world: World) {
  const jar = new Jar()
  const away = jar.take(await world.get('/connections'))
  const state = new URL(away.headers.get('location')!).searchParams.get('state')!
  return async (code: string): Promise<number> =>
    (await world.get(`/oauth/callback?${new URLSearchParams({ state, code })}`, jar.headers)).status
}

const countersOf = async ({ store }: World): Promise<number[]> => {
  const { keys } = await store.list({ prefix: '', limit: 1000 })
  const counters = keys.filter((key) => key.includes(':refused:'))
  return Promise.all(counters.map(async (key) => Number((await store.read(key))?.value)))
}

describe.each(Object.entries(PROVIDERS))('an answer of %s', (_name, provider) => {
  it.each(ANSWERS)('%s → whether it counts against the caller', async (_what, answer, isCounted) => {
    const upstream: FakeUpstream = { ...provider(answer), exchanged: [], refreshed: [] }
    const world = createWorld({ address: '203.0.113.1', upstream })
    expect(await (await begun(world))('x')).toBeGreaterThanOrEqual(400)
    expect((await countersOf(world)).some((count) => count > 0)).toBe(isCounted)
  })
})

describe('many callbacks at once, from one address', () => {
  const at = async (count: number, upstream: Partial<FakeUpstream> = {}) => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 })
    const world = createWorld({ address: '203.0.113.1', store: slow(createMemoryGrants()) })
    Object.assign(world.upstream, upstream)
    return { world, all: await Promise.all(Array.from({ length: count }, () => begun(world))) }
  }

  it('60 with wrong codes → at most 30 requests to the provider', async () => {
    const { world, all } = await at(60, {
      exchangeWith: async () => Promise.reject(new UpstreamRefusedError('A wrong code.')),
    })
    const statuses = await Promise.all(all.map((come) => come('x')))
    expect(world.upstream.exchanged.length).toBeLessThanOrEqual(30)
    expect(new Set(statuses)).not.toContain(303)
    for (const come of all) await come('x')
    expect(world.upstream.exchanged).toHaveLength(30)
  })

  it('15 with right codes → all are signed in, and nothing stays counted', async () => {
    const { world, all } = await at(15)
    expect(new Set(await Promise.all(all.map((come) => come('anna'))))).toEqual(new Set([303]))
    expect(new Set(await countersOf(world))).toEqual(new Set([0]))
    expect(world.reports).toEqual([])
  })

  it('40 people one after another, in a minute → all are signed in', async () => {
    const { all } = await at(40)
    for (const come of all) expect(await come('anna')).toBe(303)
  })
})

it('a provider that repeats the request, encoded: the log does not have the secret', async () => {
  const clientSecret = 'a secret/with+signs=of:the operator!'
  const spellings = [
    new URLSearchParams({ s: clientSecret }).toString().slice(2),
    encodeURIComponent(clientSecret),
    clientSecret,
  ]
  const answer = (): Response =>
    Response.json({ error: 'invalid_grant', error_description: spellings.join(' ') }, { status: 400 })
  const upstream = PROVIDERS.oidc!(answer, clientSecret) as FakeUpstream
  const world = createWorld({ upstream: { ...upstream, exchanged: [], refreshed: [] } })
  await (await begun(world))('wrong')
  const log = world.reports.map(String).join()
  expect(log).toContain('… … …')
  for (const part of ['secret/', 'with+', 'secret%2F', 'with%2B']) expect(log).not.toContain(part)
})

it('50 callbacks with an error that strangers made up → one line in the log a minute of each known code', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 })
  const world = createWorld()
  const come = async (error: string): Promise<void> => {
    const jar = new Jar()
    const away = jar.take(await world.get('/connections'))
    const state = new URL(away.headers.get('location')!).searchParams.get('state')!
    const query = new URLSearchParams({ state, error, error_description: crypto.randomUUID() })
    expect((await world.get(`/oauth/callback?${query}`, jar.headers)).status).toBe(502)
  }
  for (let count = 0; count < 25; count++) {
    await come(`made-up-${count}`)
    await come('invalid_scope')
  }
  expect(world.reports).toHaveLength(2)
  vi.setSystemTime(1_800_000_060_000)
  await come('invalid_scope')
  expect(world.reports).toHaveLength(3)
})
