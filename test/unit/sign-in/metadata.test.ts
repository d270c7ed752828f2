/** A provider whose metadata does not come: whoever signs in meanwhile learns it at once, and the provider is not asked by everybody. */
import { afterEach, expect, it, vi } from 'vitest'
import { oidc } from '../../../src/sign-in/oidc.ts'
import type { Upstream } from '../../../src/sign-in/upstream/upstream.ts'

afterEach(() => {
  vi.useRealTimers()
})

const ISSUER = 'https://login.example'
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/keys`,
}

function providerThat(answer: () => Promise<Response>) {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  const provider = { answer, asked: 0 }
  const upstream = oidc({
    ...{ issuer: ISSUER, clientId: 'the-id', clientSecret: 'the-secret', timeoutMs: 4000 },
    fetch: async () => {
      provider.asked++
      return provider.answer()
    },
  })
  return { provider, upstream }
}

const never = (): Promise<Response> => new Promise(() => {})
const down = async (): Promise<Response> => new Response('', { status: 500 })
const right = async (): Promise<Response> => Response.json(METADATA)

/** What each of several people gets, and after how many milliseconds. */
function come(upstream: Upstream, count = 1): { readonly outcomes: [outcome: string, ms: number][] } {
  const outcomes: [string, number][] = []
  const start = Date.now()
  const request = { env: {}, redirectUri: 'https://a.example/cb', state: 's', nonce: 'n', codeChallenge: 'c' }
  for (let number = 0; number < count; number++)
    void upstream.authorizeUrl(request).then(
      () => outcomes.push(['away', Date.now() - start]),
      ({ code }) => outcomes.push([code, Date.now() - start]),
    )
  return { outcomes }
}

it('metadata that hangs → all who come together learn it with the first, and later ones at once', async () => {
  const { provider, upstream } = providerThat(never)
  const first = come(upstream, 50)
  await vi.advanceTimersByTimeAsync(4100)
  expect(first.outcomes.length).toBeGreaterThanOrEqual(47)
  expect(first.outcomes.every(([code]) => code === 'upstream_unavailable')).toBe(true)
  // One a second joins in, since the one that asks may have ended with its client.
  expect(provider.asked).toBeLessThanOrEqual(5)
  await vi.advanceTimersByTimeAsync(4000)
  const asked = provider.asked
  const later = come(upstream, 50)
  await vi.advanceTimersByTimeAsync(0)
  expect(later.outcomes).toEqual(Array(50).fill(['upstream_unavailable', 0]))
  expect(provider.asked).toBe(asked)
})

it.each([
  ['hangs', never],
  ['is down', down],
])(
  'a provider that %s is asked again after 10 seconds, by one, and the others do not wait',
  async (_what, how) => {
    const { provider, upstream } = providerThat(how)
    come(upstream)
    await vi.advanceTimersByTimeAsync(4100)
    provider.answer = never
    await vi.advanceTimersByTimeAsync(10_000)
    const asked = provider.asked
    const again = come(upstream, 50)
    await vi.advanceTimersByTimeAsync(0)
    expect(again.outcomes).toEqual(Array(49).fill(['upstream_unavailable', 0]))
    expect(provider.asked).toBe(asked + 1)
  },
)

it('a provider that is back → everybody goes on', async () => {
  const { provider, upstream } = providerThat(down)
  come(upstream)
  await vi.advanceTimersByTimeAsync(0)
  provider.answer = right
  await vi.advanceTimersByTimeAsync(10_001)
  const { outcomes } = come(upstream)
  await vi.advanceTimersByTimeAsync(0)
  const others = come(upstream, 10)
  await vi.advanceTimersByTimeAsync(0)
  expect([...outcomes, ...others.outcomes]).toEqual(Array(11).fill(['away', 0]))
  expect(provider.asked).toBe(2)
})

it('metadata that takes a moment is asked for once, by all who come together', async () => {
  const { provider, upstream } = providerThat(async () => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    return right()
  })
  const { outcomes } = come(upstream, 50)
  await vi.advanceTimersByTimeAsync(600)
  expect([provider.asked, outcomes.map(([outcome]) => outcome)]).toEqual([1, Array(50).fill('away')])
})

it('metadata that was known is used while it hangs: only the one that asks waits', async () => {
  const { provider, upstream } = providerThat(right)
  come(upstream)
  await vi.advanceTimersByTimeAsync(0)
  provider.answer = never
  await vi.advanceTimersByTimeAsync(3_600_000)
  const { outcomes } = come(upstream, 20)
  await vi.advanceTimersByTimeAsync(0)
  expect(outcomes).toEqual(Array(19).fill(['away', 0]))
  await vi.advanceTimersByTimeAsync(4100)
  expect(outcomes[19]?.[0]).toBe('away')
})
