/** Registrations of strangers: what is stored is bounded by network and in all, and whoever comes after that registers all the same. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryGrants } from '../../../../src/sign-in/store/memory.ts'
import { secretOf } from '../../../_secrets.ts'
import { slow } from '../_faulty.ts'
import {
  arrive,
  authorizeUrl,
  connected,
  createWorld,
  exchange,
  handleOf,
  Jar,
  ORIGIN,
  refresh,
  registered,
  SECRET,
  signInAs,
  type Tokens,
  type World,
  type WorldOptions,
} from '../_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

const NOW = 1_800_000_000_000
const hex = (number: number) => number.toString(16)
const keysOf = async ({ store }: World, part: string): Promise<string[]> => {
  const all: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await store.list({ prefix: '', limit: 1000, ...(after !== undefined && { after }) })
    all.push(...page.keys)
    after = page.next
    if (after === undefined) return all.filter((key) => key.includes(part))
  }
}

/** One process, at which callers register from their addresses. */
function serverOf(options: WorldOptions = {}) {
  const world = createWorld(options)
  const register = async (address: string | undefined, headers: object = {}, metadata: object = {}) => {
    const usual = { redirect_uris: ['http://127.0.0.1/cb'], token_endpoint_auth_method: 'none' }
    const body = JSON.stringify({ client_name: 'A', ...usual, ...metadata })
    const request = new Request(`${ORIGIN}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    const context = { ...world.context, address }
    const response = (await world.signIn.serve(request, '/oauth/register', context))!
    const answer = (await response.json()) as { readonly client_id?: string }
    return { status: response.status, id: answer.client_id ?? '', headers: response.headers }
  }
  /** How many of them are stored; all others must be answered, too. */
  const storedOf = async (addresses: readonly (string | undefined)[]): Promise<number> => {
    let stored = 0
    for (const address of addresses) {
      const { status, id } = await register(address)
      expect(status).toBe(201)
      if (id.length < 100) stored++
    }
    return stored
  }
  return { world, register, storedOf }
}

const many = (length: number, addressOf: (number: number) => string | undefined) =>
  Array.from({ length }, (_, number) => addressOf(number))

/** From `0` on, an address of IPv4 within the network `203.0.113.0/24`. */
const low = (number: number) => `${hex(0xcb00)}:${hex(0x7100 + (number % 256))}`

describe('registrations from one network', () => {
  it.each([
    ['an address of IPv4', () => '203.0.113.7', 30],
    ['a /24 of IPv4', (number: number) => `203.0.113.${number}`, 120],
    ['a /16 of IPv4', (number: number) => `198.51.${number % 200}.${number >> 4}`, 480],
    ['a /64', (number: number) => `2001:db8:0:1:${hex(number)}::1`, 30],
    ['a /48', (number: number) => `2001:db8:0:${hex(number)}::1`, 120],
    ['a /32', (number: number) => `2001:db8:${hex(number)}::1`, 480],
    ['an address that is mapped to IPv6', () => '::ffff:203.0.113.7', 30],
    ['a /24 that is mapped to IPv6', (number: number) => `::ffff:${low(number)}`, 120],
    ['a /24 behind NAT64', (number: number) => `64:ff9b::${low(number)}`, 120],
    ['an address by 6to4', (number: number) => `2002:cb00:7107:${hex(number)}::${hex(number)}`, 30],
    ['a /24 by 6to4', (number: number) => `2002:${low(number)}:${hex(number)}::1`, 120],
  ])('%s: its share is stored, and no more', async (_name, addressOf, most) => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { world, storedOf } = serverOf()
    expect(await storedOf(many(most + 60, addressOf))).toBe(most)
    expect(await keysOf(world, ':client:')).toHaveLength(most)
    expect(await storedOf(['192.0.2.1', '2001:db9::1'])).toBe(2)
    vi.setSystemTime(NOW + 3_600_000)
    expect(await storedOf([addressOf(0)])).toBe(1)
  })

  it('an address is one network in each of its spellings', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { storedOf } = serverOf()
    const spellings = ['203.0.113.7', '::ffff:203.0.113.7', '64:ff9b::cb00:7107', '2002:cb00:7107::1']
    expect(await storedOf(many(60, (number) => spellings[number % 4]))).toBe(30)
  })
})

describe('registrations of an attacker with many networks', () => {
  it.each([
    [
      '14 networks of /48',
      2400,
      (number: number) => `2001:${hex(0xdb8 + (number % 14))}:0:${hex(number)}::1`,
    ],
    ['2000 addresses of a /36', 2000, (number: number) => `2001:db8:${hex(number)}::1`],
    ['no address', 1600, () => undefined],
    ['a proxy in front that the server does not trust', 1600, () => '10.0.0.1'],
    ['a network each', 2100, (number: number) => `${(number % 200) + 20}.${number >> 8}.${number & 255}.1`],
  ])('%s → all others still register, and sign in', async (_name, count, addressOf) => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { world, register, storedOf } = serverOf()
    expect(await storedOf(many(count, addressOf))).toBeLessThanOrEqual(2000)
    expect((await keysOf(world, ':client:')).length).toBeLessThanOrEqual(2000)
    for (const address of ['192.0.2.1', '2a00::1', undefined]) {
      const { id } = await register(address)
      expect((await connected(world, { clientId: id })).tokens.access_token).toBeTypeOf('string')
    }
  })

  it('of networks of the widest kind keep nobody’s share: what they spend is theirs', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { storedOf } = serverOf()
    for (let network = 0; network < 3; network++)
      await storedOf(many(600, (number) => `${20 + network}.1.${number % 250}.${number >> 4}`))
    expect(await storedOf(many(20, (number) => `192.0.${number}.1`))).toBe(20)
  })

  it('what is stored is forgotten after a day', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { world, storedOf } = serverOf()
    expect(await storedOf(['192.0.2.1'])).toBe(1)
    vi.setSystemTime(NOW + 86_400_001)
    expect(await keysOf(world, '')).toEqual([])
  })

  it('invalid ones spend nothing', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { world, register, storedOf } = serverOf()
    for (let count = 0; count < 100; count++)
      expect((await register('192.0.2.1', {}, { redirect_uris: ['javascript:alert(1)'] })).status).toBe(400)
    expect(await keysOf(world, '')).toEqual([])
    expect(await storedOf(many(40, () => '192.0.2.1'))).toBe(30)
  })

  it('20 at once from one address are all stored', async () => {
    const world = createWorld({ store: slow(createMemoryGrants()), address: '203.0.113.1' })
    const all = await Promise.all(Array.from({ length: 20 }, () => registered(world)))
    expect(all.filter((id) => id.length < 100)).toHaveLength(20)
  })

  it.each([
    ['/24', (number: number) => `203.0.113.${number}`, 40],
    ['/16', (number: number) => `203.0.${number}.1`, 40],
  ])(
    'from a %s at once are all answered, and none has to wait for the others in vain',
    async (_name, addressOf, count) => {
      const { register } = serverOf({ store: slow(createMemoryGrants()) })
      const all = await Promise.all(Array.from({ length: count }, (_, number) => register(addressOf(number))))
      expect(all.filter(({ status, id }) => status !== 201 || id.length > 100)).toEqual([])
    },
  )

  it('many at once from a /16, whose counters they change for each other, are all answered', async () => {
    const { register } = serverOf({ store: slow(createMemoryGrants()) })
    const all = await Promise.all(
      many(120, (number) => `203.0.${number}.1`).map((address) => register(address)),
    )
    expect(all.filter(({ status, id }) => status !== 201 || id === '')).toEqual([])
  })

  it.each([
    ['gets an id that contains its registration', {}, 201],
    ['is asked to come again, if that would be too long', { client_name: 'x'.repeat(2000) }, 503],
  ])('one that others are always faster than %s', async (_what, metadata, status) => {
    const store = createMemoryGrants()
    const busy = { ...store, commit: async () => false as const }
    const answer = await serverOf({ store: busy }).register('192.0.2.1', {}, metadata)
    expect([answer.status, answer.id.length > 100]).toEqual([status, status === 201])
  })

  it('one that is too long for an id is asked to come later, once the share is spent', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { register, storedOf } = serverOf()
    await storedOf(many(30, () => '192.0.2.1'))
    const long = { client_name: 'x'.repeat(2000) }
    const refused = await register('192.0.2.1', {}, long)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect((await register('198.51.100.1', {}, long)).status).toBe(201)
  })
})

describe('registrations by websites, in the browsers of their visitors', () => {
  const ELSEWHERE = [
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ]
  it.each(ELSEWHERE)('%j: answered, not stored, and not counted', async (headers) => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const { world, register, storedOf } = serverOf()
    for (let count = 0; count < 100; count++) {
      const { status, id } = await register('192.0.2.1', headers)
      expect([status, id.length > 100]).toEqual([201, true])
    }
    expect(await keysOf(world, '')).toEqual([])
    expect(await storedOf(many(31, () => '192.0.2.1'))).toBe(30)
  })

  it('an app in a browser signs in with what it gets', async () => {
    const { world, register } = serverOf()
    const { id, headers } = await register('192.0.2.1', ELSEWHERE[0])
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const { tokens } = await connected(world, { clientId: id })
    expect((await refresh(world, tokens.refresh_token, id)).status).toBe(200)
  })

  it.each([
    ['Node', { 'sec-fetch-mode': 'cors' }],
    ['the page of this server', { 'sec-fetch-site': 'same-origin', origin: ORIGIN }],
  ])('%s is none', async (_name, headers) => {
    const { id } = await serverOf().register('192.0.2.1', headers)
    expect(id.length).toBeLessThan(100)
  })
})

describe('a client whose id contains its registration', () => {
  const FOREIGN = { origin: 'https://app.example' }
  /** Of a server. */
  const sealed = async (options: WorldOptions = {}, metadata: object = {}): Promise<string> =>
    (await serverOf(options).register('192.0.2.1', FOREIGN, metadata)).id

  it('signs in, is shown with its name, refreshes, and is removed by the person', async () => {
    const clientId = await sealed({}, { client_name: 'Sealed app', logo_uri: 'https://app.example/logo' })
    const world = createWorld()
    const { at, jar } = await arrive(world, { clientId })
    const page = await (await world.get(at.headers.get('location')!, jar.headers)).text()
    expect(page).toContain('Sealed app')
    expect(page).toContain('Not verified.')
    const person = new Jar()
    const { tokens } = await connected(world, { clientId, jar: person })
    expect(await world.signIn.verify(tokens.access_token, world.context)).toMatchObject({ clientId })
    const next = (await (await refresh(world, tokens.refresh_token, clientId)).json()) as Tokens
    const connections = await (await world.get('/connections', person.headers)).text()
    expect(connections).toContain('Sealed app')
    const form = /name="form" value="([^"]+)/.exec(connections)![1]!
    await world.form('/connections', { form, revoke: clientId }, { ...person.headers, origin: ORIGIN })
    expect((await refresh(world, next.refresh_token, clientId)).status).toBe(400)
    expect(await keysOf(world, ':client:')).toEqual([])
  })

  it('goes only where it registered', async () => {
    const clientId = await sealed()
    for (const redirectUri of ['https://evil.example/cb', 'http://127.0.0.1/other']) {
      const response = await createWorld().get(await authorizeUrl({ clientId, redirectUri }))
      expect([response.status, response.headers.get('location')]).toEqual([400, null])
    }
  })

  it.each(['client_secret_post', 'client_secret_basic'])('with %s proves itself', async (method) => {
    const world = createWorld()
    const response = await world.send(
      new Request(`${ORIGIN}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...FOREIGN },
        body: JSON.stringify({
          redirect_uris: ['http://127.0.0.1:5555/cb'],
          token_endpoint_auth_method: method,
        }),
      }),
    )
    const answer = (await response.json()) as { [name: string]: string }
    const { client_id: id = '', client_secret: secret = '', client_secret_expires_at } = answer
    expect([id.length > 100, id.includes(secret), client_secret_expires_at]).toEqual([true, false, 0])
    const code = (await signInAs(world, { clientId: id })).searchParams.get('code') ?? ''
    expect((await exchange(world, code, id, { client_secret: 'x' })).status).toBe(401)
    const own = { grant_type: 'authorization_code', code, code_verifier: 'v'.repeat(64) }
    const fields = { ...own, redirect_uri: 'http://127.0.0.1:5555/cb' }
    const proven =
      method === 'client_secret_post'
        ? world.form('/oauth/token', { ...fields, client_id: id, client_secret: secret })
        : world.form('/oauth/token', fields, { authorization: `Basic ${btoa(`${id}:${secret}`)}` })
    expect((await proven).status).toBe(200)
  })

  it('is known to each process with the secret, also after it was replaced', async () => {
    const clientId = await sealed({ secrets: [SECRET] })
    const statusWith = async (options: WorldOptions): Promise<number> =>
      (await createWorld(options).get(await authorizeUrl({ clientId }))).status
    expect(await statusWith({ secrets: [secretOf('n'), SECRET] })).toBe(303)
    expect(await statusWith({ secrets: [secretOf('n')] })).toBe(400)
    const origin = 'https://staging.example.com'
    expect(await statusWith({ origin })).toBe(400)
  })

  it.each([
    ['changed', (id: string) => `${id.slice(0, -4)}AAAA`],
    ['longer', (id: string) => `${id}AAAA`],
    ['longer by a part', (id: string) => `${id}.x`],
    ['longer by an empty part', (id: string) => `${id}.`],
    ['of another kind', async () => (await createWorldSeal())!],
    ['long', () => 'x.y.z'.padEnd(8000, 'z')],
  ])('an id that is %s is nobody’s', async (_name, forge) => {
    const clientId = await forge(await sealed())
    const world = createWorld()
    expect((await world.get(await authorizeUrl({ clientId }))).status).toBe(400)
    expect((await exchange(world, 'a:b:c', clientId)).status).toBe(401)
  })
})

/** What the same keys sealed for something else: the cookie of a person. */
async function createWorldSeal(): Promise<string | undefined> {
  const jar = new Jar()
  await connected(createWorld(), { jar })
  return [...jar.cookies].find(([name]) => name.includes('person'))?.[1]
}

it('a handle is not told by a client’s id', async () => {
  const { world, register } = serverOf()
  const { id } = await register('192.0.2.1', { origin: 'https://app.example' })
  const { at } = await arrive(world, { clientId: id })
  expect(handleOf(at)).toMatch(/^[\w-]{43}$/)
})
