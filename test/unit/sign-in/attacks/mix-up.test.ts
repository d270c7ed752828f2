/** Mix-up: a code or an answer of one server is given to another. */
import { describe, expect, it } from 'vitest'
import { oidc } from '../../../../src/sign-in/oidc.ts'
import { failureOf } from '../_failure.ts'
import { CLIENT, REDIRECT, startOpenIdProvider } from '../_provider.ts'
import {
  answer,
  arrive,
  authorizeUrl,
  connected,
  createWorld,
  fakeUpstream,
  handleOf,
  leave,
  ORIGIN,
  refresh,
  registered,
  signInAs,
  type World,
} from '../_sign-in.ts'

const issOf = (response: Response): string | null =>
  new URL(response.headers.get('location') ?? '').searchParams.get('iss')

describe('RFC 9700 §4.4: mix-up of our answers to clients (RFC 9207)', () => {
  it('a code and each error for the client have our issuer', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    expect((await signInAs(world, { clientId })).searchParams.get('iss')).toBe(ORIGIN)
    for (const query of [
      { scope: 'root' },
      { code_challenge: undefined },
      { prompt: 'none' },
      { resource: 'x' },
    ])
      expect(issOf(await world.get(await authorizeUrl({ clientId, query })))).toBe(ORIGIN)
    const { at, jar } = await arrive(world, { clientId })
    expect(issOf(await answer(world, handleOf(at), jar, 'deny'))).toBe(ORIGIN)
    const { jar: other, callback } = await leave(world, { clientId })
    expect(issOf(await world.get(callback({ error: 'access_denied' }), other.headers))).toBe(ORIGIN)
  })

  it('the client’s own `iss`, `code` and `error` in its redirect URI are replaced', async () => {
    const world = createWorld()
    const redirectUri = 'https://client.example/cb?iss=https%3A%2F%2Fevil.example&code=x&state=y'
    const clientId = await registered(world, { redirect_uris: [redirectUri] })
    const { searchParams } = await signInAs(world, { clientId, redirectUri })
    expect(searchParams.getAll('iss')).toEqual([ORIGIN])
    expect(searchParams.getAll('state')).toEqual(['state-of-client'])
    expect(searchParams.getAll('code')).toEqual([expect.stringMatching(/^[\w-]{32}:[\w-]{16}:/)])
  })

  it('the issuer is that of the metadata, which says that it comes', async () => {
    const world = createWorld({ resource: `${ORIGIN}/a/mcp` })
    const metadata = (await (await world.get('/.well-known/oauth-authorization-server/a')).json()) as object
    expect(metadata).toMatchObject({
      issuer: `${ORIGIN}/a`,
      authorization_response_iss_parameter_supported: true,
    })
  })
})

describe('RFC 9700 §4.4: mix-up of the provider’s answers to us', () => {
  async function withProvider(): Promise<{
    provider: Awaited<ReturnType<typeof startOpenIdProvider>>
    world: World
  }> {
    const origin = new URL(REDIRECT).origin
    const provider = await startOpenIdProvider({ redirectUri: `${origin}/oauth/callback` })
    const upstream = oidc({ issuer: provider.issuer, ...CLIENT, fetch: provider.fetch, name: 'Example' })
    const world = createWorld({ origin, upstream: { ...fakeUpstream(), ...upstream } })
    return { provider, world }
  }

  it.each([
    ['of another issuer', (iss: string) => ({ iss: iss.replace('://', '://evil.') })],
    ['of none', () => ({})],
    ['with a slash more', (iss: string) => ({ iss: `${iss}/` })],
    ['in upper case', (iss: string) => ({ iss: iss.toUpperCase() })],
  ])('a callback %s → nobody is signed in, and the code is sent nowhere', async (_what, change) => {
    const { provider, world } = await withProvider()
    await using _provider = provider
    const query = { resource: world.context.resource }
    const { at, jar } = await arrive(world, { clientId: await registered(world), query })
    const away = await answer(world, handleOf(at), jar)
    const state = new URL(away.headers.get('location')!).searchParams.get('state')!
    provider.asked.length = 0
    const back = new URLSearchParams({ state, code: 'of-the-honest-provider', ...change(provider.issuer) })
    const response = await world.get(`/oauth/callback?${back}`, jar.headers)
    expect(response.status).toBe(403)
    expect(provider.asked).toEqual([])
    expect(response.headers.getSetCookie()).toEqual([])
  })

  it('a sign-in that began at one provider is not ended at another', async () => {
    const first = createWorld()
    const { jar, callback } = await leave(first, { clientId: await registered(first) })
    const upstream = { ...fakeUpstream(), id: 'other', exchanged: [] }
    const second = createWorld({ store: first.store, upstream })
    expect((await second.get(callback(), jar.headers)).status).toBe(400)
    expect(upstream.exchanged).toEqual([])
  })

  it('tokens of people of one provider end with it, on every path, and those of the new one are not the old one’s', async () => {
    const old = createWorld({ cacheMs: 0 })
    const one = await connected(old)
    const upstream = { ...fakeUpstream(), id: 'other' }
    const next = createWorld({ store: old.store, upstream, cacheMs: 0 })
    const other = await connected(next)
    const check = ({ signIn, context }: World, token: string) =>
      signIn.verify(token, context).then(
        () => 'let in',
        ({ code, message }) => `${code}: ${message}`,
      )
    const refused = 'invalid_token: This server has another identity provider now: sign in again.'
    expect(await check(old, one.tokens.access_token)).toBe('let in')
    expect(await check(next, one.tokens.access_token)).toBe(refused)
    expect(await check(next, other.tokens.access_token)).toBe('let in')
    // An instance that was not replaced yet.
    expect(await check(old, other.tokens.access_token)).toBe(refused)
    expect((await refresh(next, one.tokens.refresh_token, one.clientId)).status).toBe(400)
    expect(await check(old, one.tokens.access_token)).toContain('invalid_token')
    // A new secret of the same provider, or none yet, is not another one.
    const unset = {
      ...upstream,
      metadataUrl: () => {
        throw new Error('not set')
      },
    }
    const later = createWorld({ store: old.store, upstream: unset, cacheMs: 0 })
    expect(await check(later, other.tokens.access_token)).toBe('let in')
  })

  it('a code with the verifier of another sign-in → refused by the provider', async () => {
    const { provider } = await withProvider()
    await using _provider = provider
    const upstream = oidc({ issuer: provider.issuer, ...CLIENT, fetch: provider.fetch })
    const parameters = new URLSearchParams({ code: 'stolen', state: 's', iss: provider.issuer })
    const given = {
      env: {},
      redirectUri: REDIRECT,
      code: 'stolen',
      codeVerifier: 'w'.repeat(43),
      nonce: 'n',
      parameters,
    }
    expect(await failureOf(upstream.exchange(given))).toMatchObject({ fault: 'grant_refused' })
  })

  it('people of two providers with the same identifier are two people', async () => {
    const world = createWorld()
    const subs = new Set<string>()
    for (const issuer of ['https://a.example', 'https://b.example', 'https://a.example/']) {
      world.upstream.exchangeWith = async () => ({
        ...{ issuer, subject: '1', name: 'Anna', email: 'anna@example.com', claims: {} },
        tokens: { accessToken: 'a' },
      })
      const url = await signInAs(world, { clientId: await registered(world) })
      subs.add(url.searchParams.get('code')!.split(':')[0]!)
    }
    expect(subs.size).toBe(3)
  })
})
