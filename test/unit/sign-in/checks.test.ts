/** A check of a token is remembered for `cacheMs`: a warm call reads nothing, and what has ended is not accepted for longer than that. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createSignIn } from '../../../src/sign-in/sign-in.ts'
import { createChecks } from '../../../src/sign-in/tokens/checks.ts'
import { createMemoryGrants, type GrantStore, signIn } from '../../../src/sign-in.ts'
import {
  connected,
  createWorld,
  fakeUpstream,
  ORIGIN,
  personOf,
  RESOURCE,
  SECRET,
  type World,
} from './_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

const isAccepted = (world: World, token: string): Promise<boolean> =>
  world.signIn.verify(token, world.context).then(
    () => true,
    () => false,
  )

/** Counts reads; `beforeAnswer` runs between a read and its answer. */
function counting(store: GrantStore) {
  const counted = {
    ...store,
    reads: 0,
    beforeAnswer: async () => {},
    async read(key: string) {
      counted.reads++
      const entry = await store.read(key)
      await counted.beforeAnswer()
      return entry
    },
  }
  return counted
}

async function withToken(cacheMs?: number) {
  vi.useFakeTimers({ toFake: ['Date'] })
  const store = createMemoryGrants()
  const counted = counting(store)
  const world = createWorld({ store: counted, ...(cacheMs !== undefined && { cacheMs }) })
  /** Another process of the server. */
  const other = createWorld({ store })
  const { clientId, tokens } = await connected(world)
  counted.reads = 0
  const revoke = (by: World) => by.form('/oauth/token', { token: tokens.refresh_token, client_id: clientId })
  return { world, other, counted, token: tokens.access_token, revoke }
}

describe('a check', () => {
  it('reads nothing for 5 seconds after the first one, and has the same answer', async () => {
    const { world, counted, token } = await withToken()
    const first = await world.signIn.verify(token, world.context)
    expect(counted.reads).toBe(2)
    vi.setSystemTime(Date.now() + 4999)
    expect(await world.signIn.verify(token, world.context)).toEqual(first)
    expect(counted.reads).toBe(2)
    vi.setSystemTime(Date.now() + 1)
    await world.signIn.verify(token, world.context)
    expect(counted.reads).toBe(4)
  })

  it('reads each time with cacheMs 0', async () => {
    const { world, counted, token } = await withToken(0)
    for (let turn = 0; turn < 3; turn++) await world.signIn.verify(token, world.context)
    expect(counted.reads).toBe(6)
  })

  it('is not remembered beyond the end of its token', async () => {
    const { world, token } = await withToken(300_000)
    vi.setSystemTime(Date.now() + 3_590_000)
    expect(await isAccepted(world, token)).toBe(true)
    vi.setSystemTime(Date.now() + 11_000)
    expect(await isAccepted(world, token)).toBe(false)
  })

  it('is remembered from before its reads: what ended during them is not accepted for longer', async () => {
    const { world, other, counted, token, revoke } = await withToken()
    let isFirst = true
    counted.beforeAnswer = async () => {
      if (!isFirst) return
      isFirst = false
      await revoke(other)
      vi.setSystemTime(Date.now() + 3000)
    }
    await isAccepted(world, token)
    vi.setSystemTime(Date.now() + 2000)
    expect(await isAccepted(world, token)).toBe(false)
  })

  it('that fails is not remembered: the next one asks again', async () => {
    const { world, counted, token } = await withToken()
    counted.beforeAnswer = async () => Promise.reject(new Error('down'))
    expect(await isAccepted(world, token)).toBe(false)
    counted.beforeAnswer = async () => {}
    expect(await isAccepted(world, token)).toBe(true)
  })

  it('of a machine is remembered as well', async () => {
    const counted = counting(createMemoryGrants())
    const world = createWorld({ store: counted, machines: { report: { scopes: [], secret: SECRET } } })
    const fields = { grant_type: 'client_credentials', client_id: 'report', client_secret: SECRET }
    const answer = await (await world.form('/oauth/token', fields)).json()
    const { access_token: token } = answer as { readonly access_token: string }
    counted.reads = 0
    for (let turn = 0; turn < 3; turn++) expect(await isAccepted(world, token)).toBe(true)
    expect(counted.reads).toBe(1)
    await world.form('/oauth/token', { token, client_id: 'report', client_secret: SECRET })
    expect(await isAccepted(world, token)).toBe(false)
  })
})

describe('a connection that has ended', () => {
  it('elsewhere is accepted for cacheMs at most', async () => {
    const { world, other, token, revoke } = await withToken()
    expect(await isAccepted(world, token)).toBe(true)
    expect((await revoke(other)).status).toBe(200)
    vi.setSystemTime(Date.now() + 5000)
    expect(await isAccepted(world, token)).toBe(false)
  })

  it('here is refused at once, and so is one whose end was stored and whose answer was lost', async () => {
    const { world, token, revoke } = await withToken()
    expect(await isAccepted(world, token)).toBe(true)
    await revoke(world)
    expect(await isAccepted(world, token)).toBe(false)

    const store = createMemoryGrants()
    let isLosing = false
    const losing: GrantStore = {
      ...store,
      async commit(version, writes) {
        const made = await store.commit(version, writes)
        if (isLosing) throw new Error('no answer')
        return made
      },
    }
    const unlucky = createWorld({ store: losing })
    const { clientId, tokens } = await connected(unlucky)
    expect(await isAccepted(unlucky, tokens.access_token)).toBe(true)
    isLosing = true
    await unlucky.form('/oauth/token', { token: tokens.refresh_token, client_id: clientId })
    expect(await isAccepted(unlucky, tokens.access_token)).toBe(false)
  })

  it('here while it is checked is refused at once', async () => {
    const { world, counted, token, revoke } = await withToken()
    let isFirst = true
    counted.beforeAnswer = async () => {
      if (!isFirst) return
      isFirst = false
      await revoke(world)
    }
    await isAccepted(world, token)
    expect(await isAccepted(world, token)).toBe(false)
  })

  it('does not end others', async () => {
    const { world, counted, token, revoke } = await withToken()
    const { tokens } = await connected(world, { person: 'bert' })
    for (const one of [token, tokens.access_token]) expect(await isAccepted(world, one)).toBe(true)
    await revoke(world)
    counted.reads = 0
    expect(await isAccepted(world, tokens.access_token)).toBe(true)
    expect(counted.reads).toBe(0)
  })
})

describe('what is remembered', () => {
  it('is of one issuer, one resource and one environment', async () => {
    const stores = new Map<string, GrantStore>()
    const store = (env: { readonly [name: string]: unknown }) => {
      const name = String(env.STAGE)
      if (!stores.has(name)) stores.set(name, createMemoryGrants())
      return stores.get(name)!
    }
    const own = createSignIn('signIn', {
      ...{ upstream: fakeUpstream(), store, secrets: [SECRET], scopes: { 'notes:read': 'Read' } },
    })
    const world = createWorld()
    const context = (more: object) => ({ ...world.context, env: { STAGE: 'one' }, ...more })
    const one = { ...world, signIn: own, context: context({}) }
    const send = async (request: Request) =>
      (await own.serve(request, new URL(request.url).pathname, one.context)) ?? new Response()
    const through: World = {
      ...one,
      send,
      get: (path, headers = {}) => send(new Request(new URL(path, ORIGIN), { headers })),
      form: (path, fields, headers = {}) =>
        send(new Request(ORIGIN + path, { method: 'POST', headers, body: new URLSearchParams(fields) })),
      register: () =>
        send(
          new Request(`${ORIGIN}/oauth/register`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({
              redirect_uris: ['http://127.0.0.1:5555/cb'],
              token_endpoint_auth_method: 'none',
            }),
          }),
        ),
    }
    const { tokens } = await connected(through)
    const check = (more: object) =>
      own.verify(tokens.access_token, context(more)).then(
        () => true,
        () => false,
      )
    expect(await check({})).toBe(true)
    expect(await check({ env: { STAGE: 'two' } })).toBe(false)
    expect(await check({ resource: `${ORIGIN}/other` })).toBe(false)
    expect(await check({ resource: 'https://staging.example.com/mcp' })).toBe(false)
    // Platforms copy their variables for each request.
    expect(await check({ env: { STAGE: 'one' } })).toBe(true)
  })

  it('is at most 1000 checks, the oldest of which goes first', async () => {
    const { run } = createChecks(300_000)
    let checks = 0
    const check = (token: string) =>
      run(RESOURCE, token, async () => {
        checks++
        return { clientId: 'a', scopes: [], expiresAt: Date.now() / 1000 + 3600, extra: {} }
      })
    for (let count = 0; count < 1001; count++) await check(`token-${count}`)
    expect(checks).toBe(1001)
    await check('token-1000')
    await check('token-1')
    expect(checks).toBe(1001)
    await check('token-0')
    expect(checks).toBe(1002)
  })

  it('is not pushed out by invalid tokens, however many', async () => {
    const { world, counted, token } = await withToken()
    expect(await isAccepted(world, token)).toBe(true)
    const [person, grant] = token.split(':')
    for (let count = 0; count < 1500; count++)
      expect(await isAccepted(world, `${person}:${grant}:${String(count).padStart(32, 'x')}`)).toBe(false)
    counted.reads = 0
    expect(await isAccepted(world, token)).toBe(true)
    expect(counted.reads).toBe(0)
  })

  it('does not change with what a call does to its caller', async () => {
    const { world, token } = await withToken()
    const { scopes, claims } = await personOf(world, token)
    expect(Reflect.set(claims, 'hd', 'evil.example')).toBe(false)
    expect(Reflect.set(scopes, 1, 'notes:write')).toBe(false)
    expect((await personOf(world, token)).claims).toEqual({ hd: 'example.com' })
  })
})

it.each([-1, 300_001, '5000', Number.NaN])('cacheMs %j → a TypeError', (cacheMs) => {
  const make = () =>
    signIn({
      ...{ upstream: fakeUpstream(), store: createMemoryGrants(), scopes: {} },
      cacheMs: cacheMs as number,
    })
  expect(make).toThrow(TypeError)
  expect(make).toThrow('"cacheMs" of signIn must be a number from 0 to 300000')
})
