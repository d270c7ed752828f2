/** Codes and tokens in the wrong hands: injected, used twice, or with what protects them left out. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryGrants } from '../../../../src/sign-in/store/memory.ts'
import { slow } from '../_faulty.ts'
import {
  authorizeUrl,
  connected,
  createWorld,
  exchange,
  LOOPBACK,
  leave,
  ORIGIN,
  RESOURCE,
  refresh,
  registered,
  s256,
  signInAs,
  type Tokens,
  VERIFIER,
  type World,
} from '../_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

async function codeFor(world: World, clientId: string, query = {}): Promise<string> {
  return (await signInAs(world, { clientId, query })).searchParams.get('code') ?? ''
}

const isGood = (world: World, { access_token }: Tokens): Promise<boolean> =>
  world.signIn.verify(access_token, world.context).then(
    () => true,
    () => false,
  )

const errorOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { error: unknown }).error

describe('RFC 9700 §4.5: authorization code injection', () => {
  it('a stolen code is worth nothing to another client, and to the same one without its verifier', async () => {
    const world = createWorld()
    const victim = await registered(world)
    const attacker = await registered(world)
    const stolen = await codeFor(world, victim)
    expect(await errorOf(await exchange(world, stolen, attacker))).toBe('invalid_grant')
    const own = await s256('w'.repeat(64))
    // The attacker’s own flow at the victim’s client has another challenge.
    const other = await codeFor(world, victim, { code_challenge: own })
    expect(await errorOf(await exchange(world, other, victim))).toBe('invalid_grant')
  })

  it('a code of the provider, injected into another person’s callback, needs that flow’s verifier', async () => {
    const world = createWorld()
    const verifiers: string[] = []
    const exchangeCode = world.upstream.exchange
    Object.assign(world.upstream, {
      exchange: (given: Parameters<typeof exchangeCode>[0]) => {
        verifiers.push(`${given.codeVerifier} ${given.nonce}`)
        return exchangeCode(given)
      },
    })
    const clientId = await registered(world)
    for (let flow = 0; flow < 2; flow++) {
      const { jar, away, callback } = await leave(world, { clientId })
      const { searchParams } = new URL(away.headers.get('location')!)
      await world.get(callback(), jar.headers)
      const [verifier = '', nonce] = verifiers[flow]!.split(' ')
      expect(searchParams.get('codeChallenge')).toBe(await s256(verifier))
      expect(searchParams.get('nonce')).toBe(nonce)
    }
    expect(new Set(verifiers).size).toBe(2)
  })

  it('a code that is used again → refused, and what the first one got has ended', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const code = await codeFor(world, clientId)
    const tokens = (await (await exchange(world, code, clientId)).json()) as Tokens
    const next = (await (await refresh(world, tokens.refresh_token, clientId)).json()) as Tokens
    expect(await errorOf(await exchange(world, code, clientId))).toBe('invalid_grant')
    expect([await isGood(world, tokens), await isGood(world, next)]).toEqual([false, false])
    expect(await errorOf(await refresh(world, next.refresh_token, clientId))).toBe('invalid_grant')
  })

  it('a code that another client tries does not end what its own client got', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const code = await codeFor(world, clientId)
    const tokens = (await (await exchange(world, code, clientId)).json()) as Tokens
    expect((await exchange(world, code, await registered(world))).status).toBe(400)
    expect(await isGood(world, tokens)).toBe(true)
  })

  it('of eight uses at once, on two instances, at most one gets tokens', async () => {
    const store = createMemoryGrants()
    const worlds = [createWorld({ store: slow(store) }), createWorld({ store: slow(store) })]
    for (let round = 0; round < 5; round++) {
      const clientId = await registered(worlds[0]!)
      const code = await codeFor(worlds[0]!, clientId)
      const all = await Promise.all(
        Array.from({ length: 8 }, (_, index) => exchange(worlds[index % 2]!, code, clientId)),
      )
      expect(all.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    }
  })

  it.each([
    ['changed at its end', (code: string) => `${code.slice(0, -1)}${code.endsWith('a') ? 'b' : 'a'}`],
    ['cut', (code: string) => code.slice(0, -1)],
    ['longer', (code: string) => `${code}a`],
    ['of another person', (code: string) => code.replace(/^[^:]+/, 'x'.repeat(32))],
    ['of another grant', (code: string) => code.replace(/:[^:]+:/, `:${'x'.repeat(16)}:`)],
    ['with a path', (code: string) => code.replace(':', ':../')],
    ['with more parts', (code: string) => `${code}:x`],
    ['as an access token', (code: string) => code],
  ])('a code that is %s → refused, and the genuine one still works', async (_what, forge) => {
    const world = createWorld()
    const clientId = await registered(world)
    const code = await codeFor(world, clientId)
    const forged = forge(code)
    if (forged === code) {
      await expect(world.signIn.verify(code, world.context)).rejects.toMatchObject({ code: 'invalid_token' })
    } else {
      expect(await errorOf(await exchange(world, forged, clientId))).toBe('invalid_grant')
    }
    expect((await exchange(world, code, clientId)).status).toBe(200)
  })
})

describe('RFC 9700 §4.6: access token injection', () => {
  it('no response type but code: no token is ever in a redirect', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    for (const type of [
      'token',
      'id_token',
      'code token',
      'code id_token',
      'none',
      'token code',
      'CODE',
      '',
    ]) {
      const response = await world.get(await authorizeUrl({ clientId, query: { response_type: type } }))
      const url = new URL(response.headers.get('location') ?? ORIGIN)
      expect([url.searchParams.get('error'), url.hash], type).not.toEqual([null, ''])
      expect(url.href, type).not.toMatch(/access_token|id_token=|\?code=/)
    }
    const url = await signInAs(world, { clientId })
    expect([url.hash, url.searchParams.has('access_token')]).toEqual(['', false])
  })

  it('response_mode changes nothing: the code is in the query, for the redirect URI alone', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    for (const response_mode of ['fragment', 'form_post', 'web_message', 'query.jwt']) {
      const url = await signInAs(world, { clientId, query: { response_mode } })
      expect([url.hash, url.searchParams.get('code') === null], response_mode).toEqual(['', false])
    }
  })
})

describe('RFC 9700 §4.8: PKCE downgrade', () => {
  it.each([
    ['no challenge', { code_challenge: undefined }],
    ['no challenge and no method', { code_challenge: undefined, code_challenge_method: undefined }],
    ['an empty challenge', { code_challenge: '' }],
    ['a method without a challenge', { code_challenge: undefined, code_challenge_method: 'S256' }],
    ['plain', { code_challenge: VERIFIER, code_challenge_method: 'plain' }],
    ['no method, which means plain', { code_challenge: VERIFIER, code_challenge_method: undefined }],
    ['an empty method', { code_challenge_method: '' }],
    ['s256', { code_challenge_method: 's256' }],
    ['an unknown method', { code_challenge_method: 'S512' }],
    ['a challenge that is too short', { code_challenge: 'a'.repeat(42) }],
    ['a challenge that is too long', { code_challenge: 'a'.repeat(44) }],
    ['a challenge with padding', { code_challenge: `${'a'.repeat(43)}=` }],
    ['a challenge with other characters', { code_challenge: `${'a'.repeat(42)}.` }],
  ])('a request with %s → refused before anybody is asked', async (_what, query) => {
    const world = createWorld()
    const response = await world.get(await authorizeUrl({ clientId: await registered(world), query }))
    const url = new URL(response.headers.get('location')!)
    expect(url.origin + url.pathname).toBe(LOOPBACK)
    expect(url.searchParams.get('error')).toBe('invalid_request')
  })

  it.each([
    ['no verifier', undefined],
    ['an empty verifier', ''],
    ['another verifier', 'w'.repeat(64)],
    ['the challenge itself', 'challenge'],
    ['a longer verifier', `${VERIFIER}v`],
    ['a verifier in another case', VERIFIER.toUpperCase()],
  ])('an exchange with %s → no tokens', async (_what, given) => {
    const world = createWorld()
    const clientId = await registered(world)
    const verifier = given === 'challenge' ? await s256(VERIFIER) : given
    const fields = {
      ...{ grant_type: 'authorization_code', code: await codeFor(world, clientId), client_id: clientId },
      ...{ redirect_uri: LOOPBACK, resource: RESOURCE },
      ...(verifier !== undefined && { code_verifier: verifier }),
    }
    const response = await world.form('/oauth/token', fields)
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatch(/^invalid_(?:grant|request)$/)
  })

  it('a client with a secret needs it as well', async () => {
    const world = createWorld()
    const response = await world.register({ token_endpoint_auth_method: 'client_secret_post' })
    const { client_id: clientId } = (await response.json()) as { client_id: string }
    const without = { code_challenge: undefined, code_challenge_method: undefined }
    const refused = await world.get(await authorizeUrl({ clientId, query: without }))
    expect(refused.headers.get('location')).toContain('error=invalid_request')
  })

  it('the challenge cannot be taken out between the question and the code', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const { jar, callback } = await leave(world, { clientId })
    const back = await world.get(
      callback({ code: 'anna', code_challenge: '', code_challenge_method: 'plain' }),
      jar.headers,
    )
    const code = new URL(back.headers.get('location')!).searchParams.get('code')!
    expect((await exchange(world, code, clientId, { code_verifier: '' })).status).toBe(400)
  })
})

describe('RFC 9700 §4.14: refresh tokens', () => {
  it('the use of an old one ends the connection, for the thief and for the client', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    const thief = (await (await refresh(world, tokens.refresh_token, clientId)).json()) as Tokens
    vi.setSystemTime(Date.now() + 31_000)
    expect(await errorOf(await refresh(world, tokens.refresh_token, clientId))).toBe('invalid_grant')
    expect(await errorOf(await refresh(world, thief.refresh_token, clientId))).toBe('invalid_grant')
    expect(await isGood(world, thief)).toBe(false)
  })

  it('is of one client, one person and one resource', async () => {
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    const other = await connected(world, { person: 'mallory' })
    expect((await refresh(world, tokens.refresh_token, other.clientId)).status).toBe(400)
    const [person] = other.tokens.refresh_token.split(':')
    const moved = tokens.refresh_token.replace(/^[^:]+/, person!)
    expect((await refresh(world, moved, clientId)).status).toBe(400)
    const elsewhere = await refresh(world, tokens.refresh_token, clientId, {
      resource: 'https://evil.example/mcp',
    })
    expect(await errorOf(elsewhere)).toBe('invalid_target')
    expect((await refresh(world, tokens.refresh_token, clientId)).status).toBe(200)
  })

  it.each(['notes:write', 'notes:read notes:write', 'root', 'notes:read root', '*'])(
    'asks for no more than was given: %s → invalid_scope or no more',
    async (scope) => {
      const world = createWorld()
      const { clientId, tokens } = await connected(world)
      const response = await refresh(world, tokens.refresh_token, clientId, { scope })
      const got = (await response.json()) as { scope?: string; access_token?: string }
      expect(got.access_token === undefined || got.scope === 'notes:read').toBe(true)
      if (got.access_token === undefined) return
      const { scopes } = await world.signIn.verify(got.access_token, world.context)
      expect(scopes).toEqual(['notes:read'])
    },
  )

  it('ends with revocation (RFC 7009), and is not worth anything as an access token', async () => {
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    for (const token of [tokens.refresh_token, tokens.refresh_token.split('.')[0]!])
      await expect(world.signIn.verify(token, world.context)).rejects.toMatchObject({ code: 'invalid_token' })
    await world.form('/oauth/token', { token: tokens.refresh_token, client_id: clientId })
    expect(await isGood(world, tokens)).toBe(false)
    expect((await refresh(world, tokens.refresh_token, clientId)).status).toBe(400)
  })

  it('a stranger cannot end connections by guessing', async () => {
    const world = createWorld()
    const { clientId, tokens } = await connected(world)
    const [person, grant] = tokens.access_token.split(':')
    for (const guess of [`${person}:${grant}:${'a'.repeat(32)}`, `${person}:${grant}:`, `${person}:${grant}`])
      for (const token of [guess, `${guess}.${'a'.repeat(22)}`]) {
        await refresh(world, token, clientId)
        await exchange(world, token, clientId)
        await world.form('/oauth/token', { token, client_id: clientId })
      }
    expect(await isGood(world, tokens)).toBe(true)
  })
})
