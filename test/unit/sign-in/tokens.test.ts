/** Codes and refresh tokens are used once, by their client, also with several instances and a store that fails. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import { type Fault, faulty, slow } from './_faulty.ts'
import {
  connected,
  createWorld,
  exchange,
  ORIGIN,
  RESOURCE,
  refresh,
  registered,
  SECRET,
  signInAs,
  type Tokens,
  VERIFIER,
  type World,
} from './_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

const isAccepted = (world: World, { access_token: token }: Pick<Tokens, 'access_token'>): Promise<boolean> =>
  world.signIn.verify(token, world.context).then(
    () => true,
    () => false,
  )

async function codeFor(world: World, clientId: string): Promise<string> {
  return (await signInAs(world, { clientId })).searchParams.get('code') ?? ''
}

describe('codes', () => {
  it('a code that is used again ends the connection', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const code = await codeFor(world, clientId)
    const tokens = (await (await exchange(world, code, clientId)).json()) as Tokens
    expect(await isAccepted(world, tokens)).toBe(true)
    const again = await exchange(world, code, clientId)
    expect([again.status, ((await again.json()) as { error: string }).error]).toEqual([400, 'invalid_grant'])
    expect(await isAccepted(world, tokens)).toBe(false)
    expect((await refresh(world, tokens.refresh_token, clientId)).status).toBe(400)
  })

  it.each([
    ['another verifier', { code_verifier: 'w'.repeat(64) }, 'invalid_grant'],
    ['no verifier', { code_verifier: '' }, 'invalid_request'],
    ['another resource', { resource: 'https://evil.example/mcp' }, 'invalid_target'],
    ['another redirect URI', { redirect_uri: 'http://127.0.0.1:5556/cb' }, 'invalid_grant'],
  ])('%s → %s', async (_name, fields, error) => {
    const world = createWorld()
    const clientId = await registered(world)
    const response = await exchange(world, await codeFor(world, clientId), clientId, fields)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error })
  })

  it('a code without the redirect URI of its request is refused, and is not used up (RFC 6749 §4.1.3)', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const code = await codeFor(world, clientId)
    for (const redirect_uri of ['', 'http://127.0.0.1:1/other'])
      expect((await exchange(world, code, clientId, { redirect_uri })).status).toBe(400)
    const form = { grant_type: 'authorization_code', code, client_id: clientId, code_verifier: VERIFIER }
    const without = await world.form('/oauth/token', form)
    expect(await without.json()).toEqual({
      error: 'invalid_request',
      error_description: 'redirect_uri is missing',
    })
    expect((await exchange(world, code, clientId)).status).toBe(200)
  })

  it('a code of another client is refused', async () => {
    const world = createWorld()
    const code = await codeFor(world, await registered(world))
    expect((await exchange(world, code, await registered(world))).status).toBe(400)
  })

  it('a code is over after ten minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    const clientId = await registered(world)
    const code = await codeFor(world, clientId)
    vi.setSystemTime(Date.now() + 600_001)
    expect((await exchange(world, code, clientId)).status).toBe(400)
  })

  it('of eight exchanges at once, by two instances, one gets tokens', async () => {
    const store = createMemoryGrants()
    const worlds = [createWorld({ store: slow(store) }), createWorld({ store: slow(store) })]
    for (let round = 0; round < 10; round++) {
      const clientId = await registered(worlds[0]!)
      const code = await codeFor(worlds[0]!, clientId)
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => exchange(worlds[index % 2]!, code, clientId)),
      )
      expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
      expect(answers.every(({ status }) => [200, 400, 503].includes(status))).toBe(true)
    }
  })
})

describe('refresh tokens', () => {
  it('each is used once, and the next one works', async () => {
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    const next = (await (await refresh(world, tokens.refresh_token, clientId)).json()) as Tokens
    expect(next.refresh_token).not.toBe(tokens.refresh_token)
    expect((await refresh(world, next.refresh_token, clientId)).status).toBe(200)
  })

  it('a client that lost the answer gets the same one for 30 seconds', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    const first = await (await refresh(world, tokens.refresh_token, clientId)).json()
    vi.setSystemTime(Date.now() + 29_000)
    const second = await (await refresh(world, tokens.refresh_token, clientId)).json()
    expect(second).toEqual(first)
    expect(await isAccepted(world, first as Tokens)).toBe(true)
  })

  it('one that is used again after that ends the connection, however old it is', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    for (const generations of [1, 2, 5]) {
      const world = createWorld()
      const { clientId, tokens } = await connected(world)
      let last = tokens
      for (let generation = 0; generation < generations; generation++) {
        last = (await (await refresh(world, last.refresh_token, clientId)).json()) as Tokens
        vi.setSystemTime(Date.now() + 31_000)
      }
      const replayed = await refresh(world, tokens.refresh_token, clientId)
      expect([replayed.status, ((await replayed.json()) as { error: string }).error]).toEqual([
        400,
        'invalid_grant',
      ])
      expect(await isAccepted(world, last)).toBe(false)
      expect((await refresh(world, last.refresh_token, clientId)).status).toBe(400)
      expect(world.reports).toHaveLength(1)
    }
  })

  it('one that was never issued ends nothing', async () => {
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    const [person, grant] = tokens.refresh_token.split(':')
    const forged = `${person}:${grant}:${'z'.repeat(32)}`
    const tag = tokens.refresh_token.split('.')[1]
    for (const token of [forged, `${forged}.${tag}`, tokens.access_token, '', 'x', '::', '.'])
      expect((await refresh(world, token, clientId)).status).toBe(400)
    expect((await refresh(world, tokens.refresh_token, clientId)).status).toBe(200)
  })

  it('another client gets nothing with it, also not the answer that was given', async () => {
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    const other = await registered(world)
    expect((await refresh(world, tokens.refresh_token, other)).status).toBe(400)
    expect((await refresh(world, tokens.refresh_token, clientId)).status).toBe(200)
    const taken = await refresh(world, tokens.refresh_token, other)
    expect(taken.status).toBe(400)
  })

  it('eight refreshes at once, by two instances, get one answer', async () => {
    const store = createMemoryGrants()
    const worlds = [createWorld({ store: slow(store) }), createWorld({ store: slow(store) })]
    for (let round = 0; round < 10; round++) {
      const { clientId, tokens } = await connected(worlds[0]!)
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => refresh(worlds[index % 2]!, tokens.refresh_token, clientId)),
      )
      const good = await Promise.all(
        answers.filter(({ status }) => status === 200).map((answer) => answer.json() as Promise<Tokens>),
      )
      expect(good.length).toBeGreaterThan(0)
      expect(new Set(good.map(({ refresh_token: token }) => token)).size).toBe(1)
      expect(answers.every(({ status }) => [200, 503].includes(status))).toBe(true)
      expect((await refresh(worlds[1]!, good[0]!.refresh_token, clientId)).status).toBe(200)
    }
  })

  it('scopes can be narrowed, not widened', async () => {
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    const wider = await refresh(world, tokens.refresh_token, clientId, { scope: 'notes:write' })
    expect(await wider.json()).toMatchObject({ error: 'invalid_scope' })
  })

  it('a connection that is used lives on, and one that is unused for 30 days ends', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    let last = tokens
    for (let month = 0; month < 4; month++) {
      vi.setSystemTime(Date.now() + 25 * 86_400_000)
      const response = await refresh(world, last.refresh_token, clientId)
      expect(response.status).toBe(200)
      last = (await response.json()) as Tokens
    }
    vi.setSystemTime(Date.now() + 31 * 86_400_000)
    expect((await refresh(world, last.refresh_token, clientId)).status).toBeGreaterThanOrEqual(400)
  })

  it('survive new secrets while the old one is still in the list', async () => {
    const store = createMemoryGrants()
    const { clientId, tokens } = await connected(createWorld({ store }))
    const fresh = 'another secret of thirty-two characters'
    const rotated = createWorld({ store, secrets: [fresh, SECRET] })
    expect(await isAccepted(rotated, tokens)).toBe(true)
    const next = (await (await refresh(rotated, tokens.refresh_token, clientId)).json()) as Tokens
    const later = createWorld({ store, secrets: [fresh] })
    expect((await refresh(later, tokens.refresh_token, clientId)).status).toBe(400)
    expect((await refresh(later, next.refresh_token, clientId)).status).toBe(200)
  })

  it('survive new secrets while instances change one after the other, as documented', async () => {
    const fresh = 'another secret of thirty-two characters'
    for (const [older, newer] of [
      [[SECRET], [SECRET, fresh]],
      [
        [SECRET, fresh],
        [fresh, SECRET],
      ],
    ] as const) {
      const store = createMemoryGrants()
      const worlds = [older, newer].map((secrets) => createWorld({ store, secrets }))
      let { clientId, tokens } = await connected(worlds[1]!)
      for (const world of [...worlds, ...worlds]) {
        const response = await refresh(world, tokens.refresh_token, clientId)
        expect(response.status).toBe(200)
        tokens = (await response.json()) as Tokens
      }
    }
  })
})

describe('access tokens', () => {
  it('are of one resource, and end after their hour', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const store = createMemoryGrants()
    const world = createWorld({ store })
    const { tokens } = await connected(world)
    const other = { ...world.context, resource: `${ORIGIN}/other` }
    await expect(world.signIn.verify(tokens.access_token, other)).rejects.toMatchObject({
      code: 'invalid_token',
    })
    vi.setSystemTime(Date.now() + 3_601_000)
    expect(await isAccepted(world, tokens)).toBe(false)
  })

  it('a server with another issuer and the same store does not know them', async () => {
    const store = createMemoryGrants()
    const { tokens } = await connected(createWorld({ store }))
    expect(await isAccepted(createWorld({ store, origin: 'https://staging.example.com' }), tokens)).toBe(
      false,
    )
  })

  it('the store has neither tokens nor claims in plain text', async () => {
    const world = createWorld()
    const { tokens } = await connected(world)
    const { keys } = await world.store.list({ prefix: '', limit: 1000 })
    const texts = await Promise.all(keys.map(async (key) => key + (await world.store.read(key))?.value))
    const secret = (token: string): string => token.split(':')[2]!.split('.')[0]!
    for (const text of [
      secret(tokens.access_token),
      secret(tokens.refresh_token),
      'upstream-access',
      'anna@',
    ])
      expect(texts.join('\n')).not.toContain(text)
  })

  it('a store that is down is no reason to refuse a token: the caller may try again', async () => {
    const world = createWorld()
    const { tokens } = await connected(world)
    const down = createWorld({
      store: { ...world.store, read: async () => Promise.reject(new Error('down')) },
    })
    await expect(down.signIn.verify(tokens.access_token, down.context)).rejects.toMatchObject({
      code: 'verifier_unavailable',
    })
  })
})

describe('revocation', () => {
  it('of a refresh token ends the connection; of an access token, only that', async () => {
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    const revoke = (token: string, client = clientId) =>
      world.form('/oauth/token', { token, client_id: client })
    expect((await revoke(tokens.refresh_token, await registered(world))).status).toBe(200)
    expect(await isAccepted(world, tokens)).toBe(true)
    const next = (await (await refresh(world, tokens.refresh_token, clientId)).json()) as Tokens
    expect((await revoke(next.access_token)).status).toBe(200)
    expect([await isAccepted(world, next), await isAccepted(world, tokens)]).toEqual([false, true])
    expect((await revoke(next.refresh_token)).status).toBe(200)
    expect(await isAccepted(world, tokens)).toBe(false)
    expect((await refresh(world, next.refresh_token, clientId)).status).toBe(400)
  })

  it.each([0, 1, 3])(
    'of a refresh token that was used, %i after it, ends the connection of its own client',
    async (later) => {
      const world = createWorld()
      const { clientId, tokens } = await connected(world)
      let last = (await (await refresh(world, tokens.refresh_token, clientId)).json()) as Tokens
      for (let count = 0; count < later; count++)
        last = (await (await refresh(world, last.refresh_token, clientId)).json()) as Tokens
      const revoke = (client: string, token = tokens.refresh_token) =>
        world.form('/oauth/token', { token, client_id: client })
      expect((await revoke(await registered(world))).status).toBe(200)
      const [token, tag] = tokens.refresh_token.split('.')
      expect((await revoke(clientId, `${token}.${tag!.replace(/./g, 'A')}`)).status).toBe(200)
      expect(await isAccepted(world, last)).toBe(true)
      expect((await revoke(clientId)).status).toBe(200)
      expect(await isAccepted(world, last)).toBe(false)
      for (const { refresh_token: one } of [tokens, last])
        expect((await refresh(world, one, clientId)).status).toBe(400)
    },
  )
})

describe('a scope that the operator takes away', () => {
  it('is in no connection any more: at the next check, and in no answer of a refresh', async () => {
    const store = createMemoryGrants()
    const before = createWorld({ store })
    const query = { scope: 'notes:read notes:write' }
    const { clientId, tokens } = await connected(before, { query })
    const after = createWorld({ store, scopes: { 'notes:read': 'Read your notes' } })
    const caller = (token: string) => after.signIn.verify(token, after.context)
    expect((await caller(tokens.access_token)).scopes).toEqual(['notes:read'])
    const next = (await (await refresh(after, tokens.refresh_token, clientId)).json()) as Tokens
    expect([next.scope, (await caller(next.access_token)).scopes]).toEqual(['notes:read', ['notes:read']])
    const none = createWorld({ store, scopes: { other: 'Something else' } })
    expect((await none.signIn.verify(tokens.access_token, none.context)).scopes).toEqual([])
  })
})

describe('a store that fails at one write', () => {
  const FAULTS: readonly Fault[] = ['before', 'after', 'before-once', 'after-once']

  /** From nothing to a second generation of tokens; each step is repeated once by its client, as after a network error. */
  async function run(world: World): Promise<{ clientId: string; tokens: Tokens }> {
    const twice = async (step: () => Promise<Response>): Promise<Response> => {
      const response = await step()
      return response.status >= 500 ? step() : response
    }
    const registration = await twice(() => world.register())
    const { client_id: clientId } = (await registration.json()) as { client_id: string }
    let url = await signInAs(world, { clientId }).catch(() => undefined)
    if (url?.searchParams.get('code') == null) url = await signInAs(world, { clientId })
    const code = url.searchParams.get('code') ?? ''
    const exchanged = await twice(() => exchange(world, code, clientId))
    if (exchanged.status !== 200) {
      // The code is used, and the answer lost: the person signs in again.
      const again = (await signInAs(world, { clientId })).searchParams.get('code') ?? ''
      const tokens = (await (await exchange(world, again, clientId)).json()) as Tokens
      return { clientId, tokens }
    }
    const first = (await exchanged.json()) as Tokens
    const refreshed = await twice(() => refresh(world, first.refresh_token, clientId))
    expect(refreshed.status).toBe(200)
    return { clientId, tokens: (await refreshed.json()) as Tokens }
  }

  it.each(FAULTS)('%s: whichever it is, the client ends with tokens that work', async (fault) => {
    const counting = faulty(createMemoryGrants(), 0, 'before')
    await run(createWorld({ store: counting }))
    expect(counting.commits()).toBeGreaterThan(5)
    for (let number = 1; number <= counting.commits(); number++) {
      const world = createWorld({ store: faulty(createMemoryGrants(), number, fault) })
      const { clientId, tokens } = await run(world)
      expect(await isAccepted(world, tokens), `${fault} ${number}`).toBe(true)
      expect((await refresh(world, tokens.refresh_token, clientId)).status, `${fault} ${number}`).toBe(200)
    }
  })
})

it('a repeated parameter is refused', async () => {
  const world = createWorld()
  const { clientId, tokens } = await connected(world)
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
    client_id: clientId,
  })
  for (const name of ['refresh_token', 'client_id', 'grant_type']) {
    const repeated = new URLSearchParams(body)
    repeated.append(name, body.get(name) ?? '')
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const request = new Request(`${ORIGIN}/oauth/token`, {
      method: 'POST',
      headers,
      body: repeated.toString(),
    })
    expect((await world.send(request)).status, name).toBe(400)
  }
  expect((await refresh(world, tokens.refresh_token, clientId)).status).toBe(200)
})

it('other methods, content types and resources are refused', async () => {
  const world = createWorld()
  const clientId = await registered(world)
  expect((await world.get('/oauth/token')).status).toBe(405)
  const json = new Request(`${ORIGIN}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  expect((await world.send(json)).status).toBe(415)
  const credentials = await world.form('/oauth/token', {
    grant_type: 'client_credentials',
    client_id: clientId,
  })
  expect(await credentials.json()).toMatchObject({ error: 'unsupported_grant_type' })
  const password = await world.form('/oauth/token', {
    grant_type: 'password',
    client_id: clientId,
    resource: RESOURCE,
  })
  expect(await password.json()).toMatchObject({ error: 'unsupported_grant_type' })
})
