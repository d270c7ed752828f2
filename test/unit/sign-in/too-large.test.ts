/** What a provider sends about a person, of any size: it is stored, or the person and the operator learn that it does not fit. */
import { describe, expect, it } from 'vitest'
import {
  answer,
  arrive,
  authorizeUrl,
  createWorld,
  handleOf,
  Jar,
  registered,
  throughUpstream,
  type World,
} from './_sign-in.ts'

const WEB = 'https://client.example/cb'

type Sent = { accessToken: string; refreshToken?: string; name?: string; email?: string; claims?: object }

const SENT: { readonly [what: string]: (size: number) => Sent } = {
  'an access token': (size) => ({ accessToken: 'a'.repeat(size) }),
  'a refresh token': (size) => ({ accessToken: 'a', refreshToken: 'r'.repeat(size) }),
  'both tokens': (size) => ({ accessToken: 'a'.repeat(size / 2), refreshToken: 'r'.repeat(size / 2) }),
  'a name': (size) => ({ accessToken: 'a', name: 'n'.repeat(size) }),
  'an email': (size) => ({ accessToken: 'a', email: 'e'.repeat(size) }),
  'claims of three bytes a character, and a token': (size) => ({
    ...{ accessToken: 'a'.repeat(size - 8000), claims: { about: '語'.repeat(Math.min(size, 8000)) } },
  }),
}

function sending(world: World, { name = 'Anna', email, claims = {}, ...tokens }: Sent): void {
  world.upstream.exchangeWith = async (subject) => ({
    ...{ issuer: 'https://upstream.example', subject, name, claims: { ...claims }, tokens },
    ...(email !== undefined && { email }),
  })
}

/** The ways from the provider: with an answer just given, with one of before, and to a second question. */
const WAYS: { readonly [way: string]: (world: World, sent: Sent) => Promise<Response> } = {
  async agreed(world, sent) {
    const clientId = await registered(world, { redirect_uris: [WEB] })
    const { at, jar } = await arrive(world, { clientId, redirectUri: WEB })
    sending(world, sent)
    return throughUpstream(world, await answer(world, handleOf(at), jar), jar)
  },
  async remembered(world, sent) {
    const jar = new Jar()
    const visit = { clientId: await registered(world, { redirect_uris: [WEB] }), redirectUri: WEB, jar }
    const { at } = await arrive(world, visit)
    await throughUpstream(world, await answer(world, handleOf(at), jar), jar)
    sending(world, sent)
    return throughUpstream(world, jar.take(await world.get(await authorizeUrl(visit), jar.headers)), jar)
  },
  async 'asked again'(world, sent) {
    const jar = new Jar()
    const visit = { clientId: await registered(world, { redirect_uris: [WEB] }), redirectUri: WEB, jar }
    const first = await arrive(world, visit)
    await throughUpstream(world, await answer(world, handleOf(first.at), jar), jar)
    const other = { ...visit, clientId: await registered(world, { redirect_uris: [WEB] }) }
    const { at } = await arrive(world, other)
    sending(world, sent)
    return throughUpstream(world, await answer(world, handleOf(at), jar), jar, 'bert')
  },
}

const cases = Object.keys(WAYS).flatMap((way) => Object.keys(SENT).map((what) => [way, what] as const))

describe('what the provider sends', () => {
  it.each(cases)('%s: %s of 100 000 characters → a page and a line that say so', async (way, what) => {
    const world = createWorld()
    const response = await WAYS[way]!(world, SENT[what]!(100_000))
    const page = await response.text()
    expect([response.status, response.headers.get('retry-after')]).toEqual([502, null])
    expect(page).toContain('Fake sent too much')
    expect(page).toContain('To try again does not help')
    expect(world.reports.map(String)).toEqual([
      expect.stringMatching(
        /^UpstreamFault: Fake sent an access token of \d+ characters, a refresh token of \d+, .*: \d{6} bytes to store, of which 65536 fit\. Let it/,
      ),
    ])
    expect(String(world.reports)).not.toMatch(/a{20}|r{20}|n{20}|e{20}|語/)
    const { keys } = await world.store.list({ prefix: '', limit: 1000 })
    expect(keys.filter((key) => /:upstream:/.test(key)).length).toBeLessThanOrEqual(1)
  })

  it.each(cases)('%s: %s of any size → stored, or too large, and never “try again”', async (way, what) => {
    for (const size of [16_000, 30_000, 36_000, 44_000, 48_000, 49_000, 50_000, 75_000]) {
      const world = createWorld()
      const { status } = await WAYS[way]!(world, SENT[what]!(size))
      expect([size, status]).toEqual([
        size,
        size > 60_000 ? 502 : expect.toSatisfy((is) => [303, 502].includes(is)),
      ])
      if (size <= 16_000) expect(status).toBe(303)
    }
  })
})
