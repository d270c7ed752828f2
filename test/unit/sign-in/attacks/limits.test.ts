/** What strangers can make the server fetch, store and hold open: bounded by network and in all, however many ids and addresses they use. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryGrants } from '../../../../src/sign-in/store/memory.ts'
import type { GrantStore } from '../../../../src/sign-in/store/store.ts'
import { slow } from '../_faulty.ts'
import {
  authorizeUrl,
  createWorld,
  exchange,
  LOOPBACK,
  ORIGIN,
  refresh,
  signInAs,
  type Tokens,
  VERIFIER,
} from '../_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

const NOW = 1_800_000_000_000
const HOST = 'https://client.example'
const idOf = (number: number): string => `${HOST}/${number}.json`

function documentAt(url: string): Response {
  return Response.json({
    client_id: url,
    client_name: 'Documented',
    redirect_uris: [LOOPBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    padding: 'x'.repeat(4000),
  })
}

function serverOf(store: GrantStore, answer: (url: string) => Response | Promise<Response> = documentAt) {
  const asked: string[] = []
  const fetch: typeof globalThis.fetch = async (input) => {
    asked.push(String(input))
    return answer(String(input))
  }
  // One process for all addresses.
  const { signIn, context } = createWorld({ store, fetch })
  const from =
    (address?: string) =>
    async (path: string): Promise<number> => {
      const request = new Request(ORIGIN + path)
      return (await signIn.serve(request, new URL(request.url).pathname, { ...context, address })!).status
    }
  return { asked, from, fetch }
}

/** A server with a process of its own. */
function connectedBy(store: GrantStore, address: string) {
  const { asked, fetch } = serverOf(store)
  return { asked, world: createWorld({ store, fetch, address }) }
}

async function countOf(store: GrantStore, part: string): Promise<number> {
  const { keys } = await store.list({ prefix: '', limit: 1000 })
  let [count, after] = [keys.filter((key) => key.includes(part)).length, keys.at(-1)]
  while (after !== undefined) {
    const page = await store.list({ prefix: '', limit: 1000, after })
    count += page.keys.filter((key) => key.includes(part)).length
    after = page.next
  }
  return count
}

async function bytesIn(store: GrantStore, part: string): Promise<number> {
  const { keys } = await store.list({ prefix: '', limit: 100_000 })
  const values = await Promise.all(keys.filter((key) => key.includes(part)).map((key) => store.read(key)))
  return values.reduce((sum, entry) => sum + (entry?.value.length ?? 0), 0)
}

describe('documents of clients', () => {
  it('3000 ids from one address → 30 requests, and what is stored is small and short-lived', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const store = createMemoryGrants()
    const { asked, from } = serverOf(store)
    const get = from('203.0.113.1')
    const statuses = new Map<number, number>()
    for (let number = 0; number < 3000; number++) {
      const status = await get(await authorizeUrl({ clientId: idOf(number) }))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    expect(asked).toHaveLength(30)
    expect([...statuses]).toEqual([
      [303, 30],
      [429, 2970],
    ])
    expect(await bytesIn(store, '')).toBeLessThan(100_000)
    expect(await from('203.0.113.2')(await authorizeUrl({ clientId: idOf(3000) }))).toBe(303)
    vi.setSystemTime(NOW + 31 * 60_000)
    expect(await bytesIn(store, ':document:')).toBe(0)
  })

  it('2200 ids from a new network each → all are asked for, and 2000 are stored', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const store = createMemoryGrants()
    const { asked, from } = serverOf(store)
    for (let number = 0; number < 2200; number++)
      await from(`${(number % 200) + 20}.${number >> 8}.${number & 255}.1`)(
        await authorizeUrl({ clientId: idOf(number) }),
      )
    expect(asked).toHaveLength(2200)
    expect(await countOf(store, ':document:')).toBeLessThanOrEqual(2000)
    // Who comes now is not turned away, and is asked for once, also without the store.
    const last = connectedBy(store, '203.0.113.1')
    const code = (await signInAs(last.world, { clientId: idOf(9000) })).searchParams.get('code') ?? ''
    expect((await exchange(last.world, code, idOf(9000))).status).toBe(200)
    expect(last.asked).toEqual([idOf(9000)])
  })

  it('3000 ids from nobody knows where → 120 in a minute, and again in the next one', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { asked, from } = serverOf(createMemoryGrants())
    for (const minute of [1, 2]) {
      for (let number = 0; number < 1000; number++)
        await from()(await authorizeUrl({ clientId: idOf(1000 * minute + number) }))
      expect(asked).toHaveLength(120 * minute)
      // Who has an address is not counted with them.
      expect(await from(`203.0.113.${minute}`)(await authorizeUrl({ clientId: idOf(minute) }))).toBe(303)
      asked.pop()
      vi.setSystemTime(Date.now() + 60_000)
    }
  })

  it.each([
    ['does not exist', () => new Response('', { status: 404 }), 400],
    ['is not JSON', () => new Response('<html>'), 400],
    ['cannot be reached', () => Promise.reject(new TypeError('fetch failed')), 503],
  ])('one that %s is asked for once in 30 seconds', async (_name, answer, status) => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { asked, from } = serverOf(createMemoryGrants(), answer)
    const url = await authorizeUrl({ clientId: idOf(1) })
    for (let count = 0; count < 50; count++) expect(await from(`203.0.113.${count}`)(url)).toBe(status)
    expect(asked).toHaveLength(1)
    vi.setSystemTime(NOW + 31_000)
    await from('203.0.113.1')(url)
    expect(asked).toHaveLength(2)
  })

  it('100 requests at once for one that does not answer yet → one request, and the same answer', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const { asked, from } = serverOf(createMemoryGrants(), async (url) => {
      await released
      return documentAt(url)
    })
    const url = await authorizeUrl({ clientId: idOf(1) })
    const all = Array.from({ length: 100 }, (_, count) => from(`203.0.113.${count}`)(url))
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    release()
    expect(new Set(await Promise.all(all))).toEqual(new Set([303]))
    expect(asked).toHaveLength(1)
  })

  it('100 new ones at once from a /24, within its share → all are asked for', async () => {
    const { asked, from } = serverOf(slow(createMemoryGrants()))
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async (_, number) =>
        from(`203.0.113.${number}`)(await authorizeUrl({ clientId: idOf(number) })),
      ),
    )
    expect(statuses.filter((status) => status !== 303)).toEqual([])
    expect(asked).toHaveLength(100)
  })

  it('a caller over its limit does not take others along who wait for the same document', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { from } = serverOf(createMemoryGrants())
    for (let number = 0; number < 30; number++)
      await from('203.0.113.1')(await authorizeUrl({ clientId: idOf(number) }))
    const url = await authorizeUrl({ clientId: idOf(99) })
    const [limited, other] = await Promise.all([from('203.0.113.1')(url), from('203.0.113.2')(url)])
    expect(other).toBe(303)
    // If the other one was faster, its request is shared.
    expect([429, 303]).toContain(limited)
  })

  it.each([2, 12, 40])(
    '%i others who come among as many of a network at its limit all get the document',
    async (count) => {
      const store = slow(createMemoryGrants())
      const { asked, from } = serverOf(store)
      for (let number = 0; number < 30; number++)
        await from('203.0.113.1')(await authorizeUrl({ clientId: idOf(number) }))
      for (let round = 0; round < 5; round++) {
        const url = await authorizeUrl({ clientId: idOf(100 + round) })
        const spent = Array.from({ length: count }, () => from('203.0.113.1')(url))
        const others = Array.from({ length: count }, (_, index) => from(`198.51.${index}.1`)(url))
        expect(new Set(await Promise.all(others))).toEqual(new Set([303]))
        for (const status of await Promise.all(spent)) expect([303, 429]).toContain(status)
        expect(asked).toHaveLength(31 + round)
      }
    },
  )

  it.each([4, 40])(
    '%i others among callers of a network that spends its share at the same moment all get the document',
    async (count) => {
      const store = slow(createMemoryGrants())
      const { asked, from } = serverOf(store)
      const url = await authorizeUrl({ clientId: idOf(1000) })
      for (let number = 0; number < 28; number++)
        await from('203.0.113.1')(await authorizeUrl({ clientId: idOf(number) }))
      const spending = Array.from({ length: count }, async (_, index) =>
        from('203.0.113.1')(await authorizeUrl({ clientId: idOf(500 + index) })),
      )
      const same = Array.from({ length: count }, () => from('203.0.113.1')(url))
      const others = Array.from({ length: count }, (_, index) => from(`198.51.${index}.1`)(url))
      expect(new Set(await Promise.all(others))).toEqual(new Set([303]))
      await Promise.allSettled([...spending, ...same])
      expect(asked.filter((one) => one !== idOf(1000)).length).toBeLessThanOrEqual(30)
    },
  )

  it.each([1, 30, 365])(
    'a connection that may be unused for %i days is refreshed by a network at its limit, however late',
    async (unusedDays) => {
      vi.useFakeTimers({ toFake: ['Date'], now: NOW })
      const store = createMemoryGrants()
      const { fetch, from, asked } = serverOf(store)
      const world = createWorld({ store, fetch, unusedDays, address: '203.0.113.1' })
      const code = (await signInAs(world, { clientId: idOf(0) })).searchParams.get('code') ?? ''
      let tokens = (await (await exchange(world, code, idOf(0))).json()) as Tokens
      for (const part of [0.5, 0.99, 0.99]) {
        vi.setSystemTime(Date.now() + part * unusedDays * 86_400_000)
        const before = asked.length
        for (let number = 1; number < 40; number++)
          await from('203.0.113.1')(await authorizeUrl({ clientId: idOf(number) }))
        expect(asked.length - before).toBeLessThanOrEqual(30)
        const response = await refresh(world, tokens.refresh_token, idOf(0))
        expect([part, response.status]).toEqual([part, 200])
        tokens = (await response.json()) as Tokens
      }
      // Nothing of it stays forever.
      vi.setSystemTime(Date.now() + (unusedDays + 9) * 86_400_000)
      expect(await bytesIn(store, ':document:')).toBe(0)
      expect(await bytesIn(store, ':used:')).toBe(0)
    },
  )

  it('a client that somebody has signed in with is asked for outside the limits, and kept for a week', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const store = createMemoryGrants()
    const { fetch, from, asked } = serverOf(store)
    const world = createWorld({ store, fetch, address: '203.0.113.1' })
    const code = (await signInAs(world, { clientId: idOf(0) })).searchParams.get('code') ?? ''
    const tokens = (await (await exchange(world, code, idOf(0))).json()) as Tokens
    for (let number = 1; number < 40; number++)
      await from('203.0.113.1')(await authorizeUrl({ clientId: idOf(number) }))
    expect(asked).toHaveLength(30)
    vi.setSystemTime(NOW + 16 * 60_000)
    expect(await from('203.0.113.1')(await authorizeUrl({ clientId: idOf(0) }))).toBe(303)
    expect(asked).toHaveLength(31)
    vi.setSystemTime(NOW + 6 * 86_400_000)
    expect(await bytesIn(store, ':document:')).toBeGreaterThan(0)
    const away = createWorld({ store })
    expect((await refresh(away, tokens.refresh_token, idOf(0))).status).toBe(200)
  })
})

describe('keys of a client with a document', () => {
  const KEYS = `${HOST}/jwks`
  const ID = idOf(1)

  async function withKeys() {
    const pairs = await Promise.all(
      ['a', 'b'].map(async (kid) => ({ kid, ...(await generateKeyPair('ES256')) })),
    )
    const [first, second] = await Promise.all(
      pairs.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), alg: 'ES256', kid })),
    )
    let published = [first]
    const asked: string[] = []
    const fetch: typeof globalThis.fetch = async (input) => {
      asked.push(String(input))
      if (String(input) === KEYS) return Response.json({ keys: published })
      const document = { client_id: ID, client_name: 'Documented', redirect_uris: [LOOPBACK], jwks_uri: KEYS }
      return Response.json({ ...document, token_endpoint_auth_method: 'private_key_jwt' })
    }
    const world = createWorld({ fetch, address: '203.0.113.1' })
    const code = (await signInAs(world, { clientId: ID })).searchParams.get('code') ?? ''
    const token = async (number: number, kid = pairs[number]!.kid) => {
      const exp = Math.floor(Date.now() / 1000) + 60
      const claims = { iss: ID, sub: ID, aud: ORIGIN, jti: crypto.randomUUID(), exp }
      const signing = new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid })
      const response = await world.form('/oauth/token', {
        grant_type: 'authorization_code',
        code,
        code_verifier: VERIFIER,
        redirect_uri: LOOPBACK,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await signing.sign(pairs[number]!.privateKey),
      })
      return response.status
    }
    const publishBoth = () => {
      published = [first, second]
    }
    return { token, publishBoth, keyRequests: () => asked.filter((url) => url === KEYS).length }
  }

  it('are asked for once, also for proofs that are wrong, and 30 seconds later for an unknown key', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { token, publishBoth, keyRequests } = await withKeys()
    for (let count = 0; count < 20; count++) expect(await token(1, `unknown ${count}`)).toBe(401)
    expect(await Promise.all(Array.from({ length: 20 }, () => token(1)))).not.toContain(200)
    expect(keyRequests()).toBe(1)
    publishBoth()
    expect(await token(1)).toBe(401)
    vi.setSystemTime(NOW + 31_000)
    expect(await token(1)).toBe(200)
    for (let count = 0; count < 20; count++) await token(1, `unknown ${count}`)
    expect(keyRequests()).toBe(2)
  })
})

describe('bodies that are not what their type says', () => {
  const FORM = 'application/x-www-form-urlencoded'
  it.each(['/oauth/token', '/oauth/register', '/oauth/authorize', '/connections'])(
    '%s → 415',
    async (path) => {
      const world = createWorld()
      const own = path === '/oauth/register' ? 'application/json' : FORM
      const other = path === '/oauth/register' ? FORM : 'application/json'
      const send = async (headers: HeadersInit): Promise<number> => {
        const body = new TextEncoder().encode(own === FORM ? 'grant_type=x' : '{}')
        return (await world.send(new Request(ORIGIN + path, { method: 'POST', headers, body }))).status
      }
      const wrong: HeadersInit[] = [
        {},
        { 'content-type': other },
        { 'content-type': 'text/plain' },
        { 'content-type': `${own}, ${own}` },
        { 'content-type': `${own}x` },
        { 'content-type': `${own}; charset=utf-16` },
        { 'content-type': `${own}; charset=utf-8; charset=utf-16` },
        { 'content-type': own, 'content-encoding': 'gzip' },
        { 'content-type': own, 'content-encoding': 'identity, br' },
      ]
      for (const headers of wrong) expect([headers, await send(headers)]).toEqual([headers, 415])
      const right: HeadersInit[] = [
        { 'content-type': own },
        { 'content-type': `${own.toUpperCase()};charset=UTF-8` },
        { 'content-type': own, 'content-encoding': 'identity' },
      ]
      for (const headers of right) expect(await send(headers)).not.toBe(415)
    },
  )
})

describe('another website cannot spend the limits of its visitors', () => {
  it.each(['image', 'iframe', 'empty', 'script'])(
    'authorize as %s → 403, and nothing is fetched',
    async (dest) => {
      const asked: string[] = []
      const world = createWorld({
        fetch: async (url) => {
          asked.push(String(url))
          return documentAt(String(url))
        },
      })
      const url = ORIGIN + (await authorizeUrl({ clientId: idOf(1) }))
      const answer = (more: object) => world.send(new Request(url, { headers: { ...more } }))
      expect((await answer({ 'sec-fetch-dest': dest, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
      expect(asked).toEqual([])
      await answer({ 'sec-fetch-dest': 'document' })
      expect(asked).toEqual([idOf(1)])
    },
  )

  it.each(['no-cors', 'navigate'])('a token request in the mode %s → 403', async (mode) => {
    const fields = { grant_type: 'refresh_token', refresh_token: 'a', client_id: 'b' }
    const statusIn = async (one: string) =>
      (await createWorld().form('/oauth/token', fields, { 'sec-fetch-mode': one })).status
    expect([await statusIn(mode), await statusIn('cors')]).toEqual([403, 400])
  })
})
