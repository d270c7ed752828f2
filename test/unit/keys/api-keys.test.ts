/** API keys as the `auth` of a server. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryRateLimiter, createTool } from '../../../src/index.ts'
import {
  apiKeys,
  createKeyAdmin,
  createMemoryKeyStore,
  environmentKeyStore,
  type KeyStore,
} from '../../../src/keys.ts'
import { createServer, modern, modernRequest } from '../_client.ts'
import { discover } from '../auth/_issuer.ts'
import { counted, keyed } from './_keys.ts'

const DAY_MS = 86_400_000
const NEVER: () => Promise<never> = () => new Promise(() => {})

const whoami = createTool({ id: 'whoami', execute: (_input, ctx) => JSON.stringify(ctx.auth) })

async function textFrom(response: Response): Promise<string> {
  return JSON.stringify(await response.json()) + (response.headers.get('www-authenticate') ?? '')
}

/** The last character of a key, or another one. */
function mistyped(key: string, at: number): string {
  return key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1)
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 }))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('a key', () => {
  it('has a prefix, an id, a secret of more than 160 bits and a checksum [keys.format]', async () => {
    const admin = createKeyAdmin(createMemoryKeyStore(), { server: 'test' })
    const made = await Promise.all(Array.from({ length: 200 }, () => admin.create({ name: 'ci' })))
    for (const { key, id } of made) expect(key).toMatch(new RegExp(`^mk_${id}_[0-9A-Za-z]{36}$`))
    expect(new Set(made.map(({ key }) => key.slice(16, 46))).size).toBe(200)
    expect(30 * Math.log2(62)).toBeGreaterThan(160)
    // Every character occurs: none of them is left out or cut off.
    expect(new Set(made.map(({ key }) => key.slice(16, 46)).join('')).size).toBe(62)
  })

  it('is not in the store, nor any part of its secret [keys.hashed]', async () => {
    const store = createMemoryKeyStore()
    const { key } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const stored = JSON.stringify(await store.list({ limit: 10 }))
    for (let at = 16; at < key.length - 6; at += 6) expect(stored).not.toContain(key.slice(at, at + 6))
  })

  it('is accepted, and its owner is the caller', async () => {
    const store = createMemoryKeyStore()
    const admin = createKeyAdmin(store, { server: 'test' })
    const { key, id } = await admin.create({
      name: 'laptop',
      owner: 'ann',
      scopes: ['read', 'write', 'read'],
    })
    const server = keyed(store, {}, { tools: { whoami } })
    const headers = { authorization: `Bearer ${key}` }
    const { result } = await modern(server, 'tools/call', { name: 'whoami', arguments: {} }, { headers })
    const [content] = result!.content as [{ text: string }]
    expect(JSON.parse(content.text)).toEqual({
      token: key,
      clientId: 'ann',
      subject: 'ann',
      scopes: ['read', 'write'],
      extra: { sub: 'ann', keyId: id, keyName: 'laptop' },
    })
  })

  it('without an owner: all keys of one name are one caller, so that one can replace another', async () => {
    const store = createMemoryKeyStore()
    const admin = createKeyAdmin(store, { server: 'test' })
    const server = keyed(store, {}, { tools: { whoami } })
    const callers = []
    for (const { key } of [await admin.create({ name: 'ci' }), await admin.create({ name: 'ci' })]) {
      const headers = { authorization: `Bearer ${key}` }
      const { result } = await modern(server, 'tools/call', { name: 'whoami', arguments: {} }, { headers })
      const { clientId, extra } = JSON.parse((result!.content as [{ text: string }])[0].text)
      callers.push([clientId, extra.sub])
    }
    expect(callers).toEqual([
      ['ci', 'ci'],
      ['ci', 'ci'],
    ])
  })

  it('has its scopes: others → 403, for tools and for the server', async () => {
    const store = createMemoryKeyStore()
    const { key } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci', scopes: ['read'] })
    const headers = { authorization: `Bearer ${key}` }
    const tools = { whoami: { ...whoami, scopes: ['write'] } }
    const call = modernRequest('tools/call', { name: 'whoami', arguments: {} }, { headers })
    expect((await keyed(store, {}, { tools }).fetch(call)).status).toBe(403)
    expect((await discover(keyed(store, { scopes: ['admin'] }), key)).status).toBe(403)
    expect((await discover(keyed(store, { scopes: ['read'] }), key)).status).toBe(200)
  })

  it('and none at all: anonymous callers may use what is named', async () => {
    const server = keyed(counted(), { anonymous: { tools: ['whoami'] } }, { tools: { whoami } })
    expect((await modern(server, 'tools/call', { name: 'whoami', arguments: {} })).status).toBe(200)
    expect((await discover(keyed(counted()))).status).toBe(401)
  })
})

describe('what is refused', () => {
  it.each([
    ['another token', () => 'not-a-key', 'begins with mk_'],
    ['a JWT', () => 'eyJhbGciOiJub25lIn0.e30.', 'begins with mk_'],
    ['a key cut off', (key: string) => key.slice(0, -1), 'missing or wrong'],
    ['a longer one', (key: string) => `${key}x`, 'missing or wrong'],
    ['a mistyped id', (key: string) => mistyped(key, 5), 'missing or wrong'],
    ['a mistyped secret', (key: string) => mistyped(key, 20), 'missing or wrong'],
    ['a mistyped checksum', (key: string) => mistyped(key, key.length - 1), 'missing or wrong'],
    ['in capitals', (key: string) => key.toUpperCase(), 'begins with mk_'],
  ])(
    '%s → 401 with the reason, and the store is not asked [keys.checksum]',
    async (_what, change, reason) => {
      const store = counted()
      const { key } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
      const response = await discover(keyed(store), change(key))
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toMatch(
        /^Bearer error="invalid_token", .*resource_metadata=/,
      )
      expect(await textFrom(response)).toContain(reason)
      expect(store.reads).toEqual([])
    },
  )

  it('an unknown key, and another one with the id of a known: 401, without a difference [keys.constant]', async () => {
    const [store, other] = [counted(), createMemoryKeyStore()]
    const { key, id } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const unknown = await createKeyAdmin(other, { server: 'test' }).create({ name: 'ci' })
    // The same id with another secret: stored under its own hash elsewhere.
    const server = keyed({
      ...store,
      read: async (asked) => {
        const kept = await store.read(id)
        return asked === unknown.id ? { ...kept!, id: asked } : store.read(asked)
      },
    })
    const answers = []
    for (const sent of [
      unknown.key,
      (await createKeyAdmin(other, { server: 'test' }).create({ name: 'b' })).key,
    ]) {
      const response = await discover(server, sent)
      answers.push([response.status, await textFrom(response)])
    }
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]![0]).toBe(401)
    expect((await discover(server, key)).status).toBe(200)
  })

  it('one in the query string → 401, as without a key', async () => {
    const store = counted()
    const { key } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const url = `https://mcp.example/mcp?api_key=${key}&access_token=${key}`
    expect((await discover(keyed(store), undefined, { url })).status).toBe(401)
    expect(store.reads).toEqual([])
  })

  it('an expired one → 401 that says so, also while it is remembered [keys.expiry]', async () => {
    const store = createMemoryKeyStore()
    const { key } = await createKeyAdmin(store, { server: 'test' }).create({
      name: 'ci',
      expiresAt: Date.now() + 2000,
    })
    const server = keyed(store)
    expect((await discover(server, key)).status).toBe(200)
    vi.setSystemTime(Date.now() + 2001)
    const response = await discover(server, key)
    expect([response.status, await textFrom(response)]).toEqual([401, expect.stringContaining('expired')])
  })

  it('a stored key that cannot be read lets no one in', async () => {
    const store = counted()
    const { key } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const onError = vi.fn()
    const server = keyed(
      {
        ...store,
        read: async (id) => {
          const { toStoredKey } = await import('../../../src/keys/store.ts')
          return toStoredKey({ ...(await store.read(id)), expiresAt: 'tomorrow' })
        },
      },
      {},
      { onError },
    )
    expect((await discover(server, key)).status).toBe(503)
    expect(String(onError.mock.calls[0]![0])).toContain('"expiresAt"')
  })
})

describe("a row of one's own store", () => {
  /** The status, and what the log says. */
  const answerTo = async (change: (row: object) => unknown): Promise<string> => {
    const store = counted()
    const admin = createKeyAdmin(store, { server: 'test' })
    const [{ key }, { id: otherId }] = [await admin.create({ name: 'ci' }), await admin.create({ name: 'b' })]
    const onError = vi.fn()
    const read = async (id: string) => change({ ...(await store.read(id)), otherId }) as never
    const response = await discover(keyed({ ...store, read }, {}, { onError }), key)
    const text = response.status === 401 ? await textFrom(response) : String(onError.mock.calls[0]?.[0] ?? '')
    return `${response.status} ${text}`
  }
  const [past, future] = [1, 1_900_000_000_000]

  it.each([
    { revoked_at: past },
    { revokedAt: past },
    { revokedAt: 0 },
    { revoked_at: '2020-01-01' },
    { revoked: true },
    { revoked: 1 },
    { is_revoked: true },
    { disabled: true },
    { deleted_at: past },
    { status: 'revoked' },
    { active: false },
    { enabled: null },
  ])('%j → 401: revoked', async (members) => {
    expect(await answerTo((row) => ({ ...row, ...members }))).toMatch(/^401 .*was revoked/)
  })

  it.each<[object, string]>([
    [{ expires_at: past }, '"expires_at": name it "expiresAt"'],
    [{ expires_at: future }, '"expires_at": name it "expiresAt"'],
    [{ exp: past }, '"exp"'],
    [{ valid_until: '2020-01-01' }, '"valid_until"'],
    [{ expiresAt: new Date(past) }, 'no time in "expiresAt"'],
    [{ expiresAt: '2020-01-01' }, 'no time in "expiresAt"'],
    [{ expiresAt: null }, 'no time in "expiresAt"'],
    [{ expiresAt: Number.NaN }, 'no time in "expiresAt"'],
    [{ revokedAt: null }, 'no time in "revokedAt"'],
    [{ active: 1 }, 'does not say whether it is valid'],
    [{ scopes: 'read write' }, '"scopes"'],
    [{ scopes: null }, '"scopes"'],
    [{ owner: '' }, '"owner"'],
    [{ hash: undefined }, '"hash"'],
    [{ hash: 'ab'.repeat(32) }, '"hash"'],
  ])('%j → 503, and the log says what is wrong', async (members, reason) => {
    const answer = await answerTo((row) => ({ ...row, ...members }))
    expect(answer).toMatch(/^503 .*The store of API keys failed/)
    expect(answer).toContain(reason)
  })

  it('of another key, and what is no row → 503; none → 401', async () => {
    expect(await answerTo((row) => ({ ...row, id: (row as { otherId: string }).otherId }))).toMatch(
      /^503 .*another id/,
    )
    for (const row of [[], [{}], 'row', 1, true]) expect(await answerTo(() => row)).toMatch(/^503 /)
    for (const row of [undefined, null]) expect(await answerTo(() => row)).toMatch(/^401 /)
  })

  it('with members of its own, and empty ones in other spellings → 200', async () => {
    const more = {
      revoked_at: null,
      expires_at: null,
      disabled: 0,
      active: true,
      status: 'active',
      tenant: 7,
    }
    expect(await answerTo((row) => ({ ...row, ...more }))).toBe('200 ')
  })
})

describe('revoking', () => {
  it('is in force after 5 seconds at the latest, elsewhere at once [keys.revoke]', async () => {
    const store = counted()
    const admin = createKeyAdmin(store, { server: 'test' })
    const { key, id } = await admin.create({ name: 'ci' })
    const [warm, cold] = [keyed(store), keyed(store)]
    expect((await discover(warm, key)).status).toBe(200)
    expect(await admin.revoke(id)).toBe(true)
    vi.setSystemTime(Date.now() + 4999)
    expect((await discover(warm, key)).status).toBe(200)
    const refused = await discover(cold, key)
    expect([refused.status, await textFrom(refused)]).toEqual([401, expect.stringContaining('revoked')])
    vi.setSystemTime(Date.now() + 1)
    expect((await discover(warm, key)).status).toBe(401)
  })

  it('with cacheMs: 0, at once: each call asks the store', async () => {
    const store = counted()
    const admin = createKeyAdmin(store, { server: 'test' })
    const { key, id } = await admin.create({ name: 'ci' })
    const server = keyed(store, { cacheMs: 0 })
    for (let calls = 0; calls < 3; calls++) expect((await discover(server, key)).status).toBe(200)
    await admin.revoke(id)
    expect((await discover(server, key)).status).toBe(401)
    // One of them by revoke.
    expect(store.reads).toHaveLength(5)
  })

  it('takes an id, mk_ with an id, or the whole key; anything else is unknown', async () => {
    const admin = createKeyAdmin(createMemoryKeyStore(), { server: 'test' })
    const { key, id } = await admin.create({ name: 'ci' })
    for (const text of [id, `mk_${id}`, key]) expect(await admin.revoke(text)).toBe(true)
    for (const text of ['', 'mk_', 'ci', '000000000000', undefined as never])
      expect(await admin.revoke(text)).toBe(false)
    const [revoked] = (await admin.list()).keys
    expect(revoked).toMatchObject({ id, revokedAt: Date.now() })
    expect(revoked).not.toHaveProperty('hash')
  })
})

describe('the store', () => {
  it('is asked once in 5 seconds about one key, known or not [keys.cache]', async () => {
    const store = counted()
    const { key } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const unknown = await createKeyAdmin(createMemoryKeyStore(), { server: 'test' }).create({ name: 'ci' })
    const server = keyed(store)
    for (let calls = 0; calls < 20; calls++) {
      await discover(server, key)
      await discover(server, unknown.key)
    }
    expect(store.reads).toHaveLength(2)
  })

  it('10 000 unknown keys displace no known one', async () => {
    const store = counted()
    const { key, id } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const admin = createKeyAdmin({ ...createMemoryKeyStore(), create: async () => true }, { server: 'test' })
    const server = keyed(store)
    await discover(server, key)
    for (let sent = 0; sent < 10_000; sent++) {
      const { key: unknown } = await admin.create({ name: 'x' })
      if (sent % 9 === 0) await discover(server, unknown)
    }
    await discover(server, key)
    expect(store.reads.filter((one) => one === id)).toHaveLength(1)
  })

  it('a bad key counts for itself: with a rate limiter it is soon refused unchecked, and the owner is not [keys.limits]', async () => {
    const store = counted()
    const { key } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const unknown = await createKeyAdmin(createMemoryKeyStore(), { server: 'test' }).create({ name: 'ci' })
    const rateLimiter = createMemoryRateLimiter({ calls: 3, windowMs: 60_000 })
    const server = keyed(store, { cacheMs: 0, header: 'x-api-key' }, { http: { rateLimiter } })
    const statuses: number[] = []
    for (let calls = 0; calls < 8; calls++)
      statuses.push((await discover(server, undefined, { headers: { 'x-api-key': unknown.key } })).status)
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429, 429, 429])
    expect(store.reads.length).toBeLessThan(6)
    expect((await discover(server, key)).status).toBe(200)
  })

  it.each<[string, KeyStore['read']]>([
    ['rejects', async () => Promise.reject(new Error('ECONNREFUSED'))],
    [
      'throws',
      () => {
        throw new Error('ECONNREFUSED')
      },
    ],
    ['never answers', NEVER],
  ])(
    'that %s → 503 with Retry-After in time, and then at once; the cause is logged once [keys.outage]',
    async (_how, read) => {
      vi.useRealTimers()
      const store = counted()
      const { key } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
      const onError = vi.fn()
      const down = vi.fn(read)
      const server = keyed({ ...store, read: down }, {}, { onError })
      const startedAt = Date.now()
      const first = await discover(server, key)
      expect(Date.now() - startedAt).toBeLessThan(15_000)
      expect([first.status, first.headers.get('retry-after')]).toEqual([503, '5'])
      const asked = down.mock.calls.length
      for (let calls = 0; calls < 5; calls++) expect((await discover(server, key)).status).toBe(503)
      expect(down.mock.calls.length).toBe(asked)
      expect(onError).toHaveBeenCalledOnce()
      expect(String(onError.mock.calls[0]![0])).toContain('The store of API keys failed')
    },
  )

  it('that fails for one key alone → 503 for it, and the others are served [keys.outage]', async () => {
    const store = counted()
    const admin = createKeyAdmin(store, { server: 'test' })
    const [one, other] = [await admin.create({ name: 'one' }), await admin.create({ name: 'other' })]
    const read: KeyStore['read'] = async (id) => {
      if (id === one.id) throw new Error('this row is broken')
      return store.read(id)
    }
    const server = keyed({ ...store, read }, {}, { onError() {} })
    for (let calls = 0; calls < 3; calls++) {
      expect((await discover(server, one.key)).status).toBe(503)
      expect((await discover(server, other.key)).status).toBe(200)
    }
  })

  it('by the environment: each has keys of its own', async () => {
    const stores = { a: createMemoryKeyStore(), b: createMemoryKeyStore() }
    const { key } = await createKeyAdmin(stores.a, { server: 'test' }).create({ name: 'ci' })
    const server = createServer({ auth: apiKeys({ store: (env: { keys: KeyStore }) => env.keys }) })
    const ask = async (env: unknown) =>
      (
        await server.fetch(
          modernRequest('server/discover', {}, { headers: { authorization: `Bearer ${key}` } }),
          env,
        )
      ).status
    expect(await ask({ keys: stores.a })).toBe(200)
    expect(await ask({ keys: stores.b })).toBe(401)
    expect(await ask({ keys: stores.a })).toBe(200)
  })

  it('that the environment lacks → 503, and the log says what is missing', async () => {
    const { key } = await createKeyAdmin(createMemoryKeyStore(), { server: 'test' }).create({ name: 'ci' })
    const onError = vi.fn()
    const server = createServer({
      auth: apiKeys({ store: ((env: { KEYS: never }) => env.KEYS) as never }),
      onError,
    })
    expect((await discover(server, key)).status).toBe(503)
    expect(String(onError.mock.calls[0]![0])).toContain('apiKeys needs a store of keys')
    // Outside of the platform, its bindings are not there: doctor and dev do not take that for a fault.
    expect(server.getDeploymentInfo({}).authFault).toBeUndefined()
  })
})

describe('the header x-api-key', () => {
  it('is read if the option names it, before Authorization, which may have a token of the platform [keys.header]', async () => {
    const store = createMemoryKeyStore()
    const { key } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const server = keyed(store, { header: 'x-api-key' })
    const statusOf = async (headers: Record<string, string>) =>
      (await discover(server, undefined, { headers })).status
    expect(await statusOf({ 'x-api-key': key })).toBe(200)
    expect(await statusOf({ 'x-api-key': key, authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' })).toBe(200)
    expect(await statusOf({ 'x-api-key': '', authorization: `Bearer ${key}` })).toBe(200)
    expect(await statusOf({ 'x-api-key': `${key}x`, authorization: `Bearer ${key}` })).toBe(401)
    expect(await statusOf({ 'x-api-key': `${key}, ${key}` })).toBe(401)
    expect(await statusOf({ 'x-api-key': `Bearer ${key}` })).toBe(401)
    const plain = keyed(store)
    expect((await discover(plain, undefined, { headers: { 'x-api-key': key } })).status).toBe(401)
  })

  it('may be sent by a page of another origin', async () => {
    const headers = {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key',
    }
    const request = new Request('https://mcp.example/mcp', { method: 'OPTIONS', headers })
    const response = await keyed(counted(), { header: 'x-api-key' }).fetch(request)
    expect(response.headers.get('access-control-allow-headers')).toContain('x-api-key')
  })
})

describe('last use', () => {
  const waiting = () => {
    const work: Promise<unknown>[] = []
    const waitUntil = (promise: Promise<unknown>): void => void work.push(promise)
    return { work, platform: { waitUntil } }
  }

  it('is stored once an hour, after the answer [keys.last-used]', async () => {
    const store = counted()
    const { key, id } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const { work, platform } = waiting()
    const server = keyed(store)
    const headers = { authorization: `Bearer ${key}` }
    const call = () => modern(server, 'server/discover', {}, { headers, platform })
    const at = Date.now()
    for (let calls = 0; calls < 5; calls++) await call()
    vi.setSystemTime(at + 3_599_999)
    await call()
    expect(store.uses).toEqual([[id, at]])
    vi.setSystemTime(at + 3_600_000)
    await call()
    await Promise.all(work)
    expect(store.uses).toEqual([
      [id, at],
      [id, at + 3_600_000],
    ])
    expect((await createKeyAdmin(store, { server: 'test' }).list()).keys[0]).toMatchObject({
      lastUsedAt: at + 3_600_000,
    })
    // Another isolate sees in the store that it was.
    await modern(keyed(store), 'server/discover', {}, { headers, platform })
    expect(store.uses).toHaveLength(2)
  })

  it.each<[string, NonNullable<KeyStore['use']>]>([
    ['fails', async () => Promise.reject(new Error('read-only'))],
    [
      'throws',
      () => {
        throw new Error('read-only')
      },
    ],
    ['never answers', NEVER],
  ])('a store that %s delays and fails no call, and is reported once [keys.last-used]', async (_how, use) => {
    vi.useRealTimers()
    const store = counted({ use })
    const admin = createKeyAdmin(store, { server: 'test' })
    const keys = [await admin.create({ name: 'a' }), await admin.create({ name: 'b' })]
    const { work, platform } = waiting()
    const onError = vi.fn()
    const server = keyed(store, {}, { onError })
    const startedAt = Date.now()
    for (const { key } of [...keys, ...keys]) {
      const { status } = await modern(
        server,
        'server/discover',
        {},
        {
          headers: { authorization: `Bearer ${key}` },
          platform,
        },
      )
      expect(status).toBe(200)
    }
    expect(Date.now() - startedAt).toBeLessThan(2500)
    await Promise.all(work)
    expect(onError).toHaveBeenCalledOnce()
  })

  it('of 500 keys at once: the writes are bounded, and the rest follows', async () => {
    const store = counted()
    const admin = createKeyAdmin(store, { server: 'test' })
    const keys = await Promise.all(Array.from({ length: 500 }, () => admin.create({ name: 'many' })))
    const server = keyed(store)
    const callAll = async () => {
      for (const { key } of keys) await discover(server, key)
    }
    await callAll()
    expect(store.uses).toHaveLength(20)
    for (let seconds = 0; seconds < 30; seconds++) {
      vi.setSystemTime(Date.now() + 1000)
      await callAll()
    }
    expect(new Set(store.uses.map(([id]) => id)).size).toBe(500)
    expect(store.uses).toHaveLength(500)
  })

  it('of a refused key is not stored', async () => {
    const store = counted()
    const admin = createKeyAdmin(store, { server: 'test' })
    const { key, id } = await admin.create({ name: 'ci', expiresAt: Date.now() + DAY_MS })
    await admin.revoke(id)
    await discover(keyed(store), key)
    expect(store.uses).toEqual([])
  })
})

describe('keys of the environment', () => {
  const entry = async (name: string, more: object = {}) => {
    const store = createMemoryKeyStore()
    const { key, id } = await createKeyAdmin(store, { server: 'test' }).create({ name })
    return { key, stored: { ...(await store.read(id)), ...more } }
  }
  const ask = async (keys: unknown, key: string, onError = () => {}) => {
    const server = createServer({ auth: apiKeys({ store: environmentKeyStore }), onError })
    const request = modernRequest('server/discover', {}, { headers: { authorization: `Bearer ${key}` } })
    const env = keys === undefined ? {} : { MAYFLY_API_KEYS: keys }
    return {
      status: (await server.fetch(request, env)).status,
      fault: server.getDeploymentInfo(env).authFault,
    }
  }

  it('are accepted, revoked and expired as others [keys.environment]', async () => {
    const [ann, old, gone] = [
      await entry('ann'),
      await entry('old', { expiresAt: Date.now() - 1 }),
      await entry('gone', { revokedAt: 1 }),
    ]
    const keys = JSON.stringify([ann.stored, old.stored, gone.stored])
    expect(await ask(keys, ann.key)).toEqual({ status: 200, fault: undefined })
    for (const { key } of [old, gone]) expect((await ask(keys, key)).status).toBe(401)
  })

  it.each([
    [
      undefined,
      'MAYFLY_API_KEYS is not set: pass it, as in node --env-file=.env, or set it on the platform.',
    ],
    ['', 'MAYFLY_API_KEYS has no keys: make one with mayfly keys create.'],
    ['{', 'is not a JSON list of keys'],
    ['{}', 'is not a JSON list of keys'],
    ['[null]', 'Entry 1: A stored API key is not an object'],
    ['[{}]', 'Entry 1: The stored API key "" needs an "id"'],
    ['[{"name":"ci"}]', 'The stored API key "ci" needs an "id"'],
  ])('%j → 401 for all, and doctor and the log say what is wrong [keys.environment]', async (keys, fault) => {
    const { key } = await entry('ci')
    const onError = vi.fn()
    const answer = await ask(keys, key, onError)
    expect(answer).toEqual({ status: 401, fault: expect.stringContaining(fault) })
    expect(String(onError.mock.calls[0]![0])).toContain(fault)
  })

  it('one entry that cannot be read → the others are served', async () => {
    const ann = await entry('ann')
    const bad = await entry('bob', { scopes: 'all' })
    const keys = JSON.stringify([bad.stored, ann.stored])
    expect((await ask(keys, bad.key)).status).toBe(401)
    expect(await ask(keys, ann.key)).toEqual({
      status: 200,
      fault: expect.stringContaining('The stored API key "bob" has "scopes"'),
    })
  })
})

describe('what cannot be a key', () => {
  const admin = () => createKeyAdmin(createMemoryKeyStore(), { server: 'test' })
  it.each<[object, string]>([
    [{}, 'needs "name"'],
    [{ name: '' }, '"name"'],
    [{ name: ' ' }, '"name"'],
    [{ name: 'a\u001b[31m' }, '"name"'],
    [{ name: 'a\u202eb' }, '"name"'],
    [{ name: 'x'.repeat(101) }, '"name"'],
    [{ name: 'a', owner: '\n' }, '"owner"'],
    [{ name: 'a', scopes: ['a b'] }, '"scopes"'],
    [{ name: 'a', scopes: 'read' }, '"scopes"'],
    [{ name: 'a', scopes: Array.from({ length: 200 }, (_, index) => `scope${index}`) }, '900 bytes'],
    [{ name: 'a', expiresAt: 1 }, 'in the future'],
    [{ name: 'a', expiresAt: new Date() }, '"expiresAt"'],
    [{ name: 'a', expires: 1 }, 'did you mean "expiresAt"?'],
  ])('%j → a TypeError that names the option, and nothing is stored', async (options, message) => {
    const keys = admin()
    await expect(keys.create(options as never)).rejects.toThrow(TypeError)
    await expect(keys.create(options as never)).rejects.toThrow(message)
    expect((await keys.list()).keys).toEqual([])
  })

  it('a store that does not answer ends each wait', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const store = { ...createMemoryKeyStore(), create: NEVER, read: NEVER, list: NEVER }
    const keys = createKeyAdmin(store, { server: 'test' })
    const all = Promise.allSettled([keys.create({ name: 'a' }), keys.list(), keys.revoke('0'.repeat(12))])
    let isOver = false
    void all.then(() => {
      isOver = true
    })
    // A key is hashed by real cryptography before the store is asked, however long that takes.
    while (!isOver) {
      await vi.advanceTimersByTimeAsync(1000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    for (const one of await all) expect(one).toMatchObject({ status: 'rejected' })
  })
})

it('without a store, or with something else → a TypeError that names the stores', () => {
  expect(() => apiKeys({} as never)).toThrow('apiKeys needs "store"')
  for (const store of [1, {}, 'redis://', []]) {
    expect(() => apiKeys({ store: store as never })).toThrow(
      /apiKeys needs a store of keys: postgresKeyStore/,
    )
    expect(() => createKeyAdmin(store as never, { server: 'test' })).toThrow(
      /createKeyAdmin needs a store of keys/,
    )
  }
})
