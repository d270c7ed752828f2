/** Which kinds of tokens count as access tokens (RFC 9068 §4, RFC 8725 §3.11). */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { introspection, type JwtOptions, jwt } from '../../../src/auth.ts'
import { createServer } from '../_client.ts'
import { AUDIENCE, discover, type Issuer, introspectionAt, startIssuer } from './_issuer.ts'

let issuer: Issuer
beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer[Symbol.asyncDispose]())

type Claims = { readonly [claim: string]: unknown }

/** The status for a token, and what the operator reads. */
async function present(
  { typ, ...claims }: Claims & { typ?: string },
  payload: Claims = {},
  options: Partial<JwtOptions> = {},
) {
  const onError = vi.fn((_error: unknown) => {})
  const auth = jwt({ issuer: issuer.url, audience: AUDIENCE, ...options })
  const server = createServer({ auth, onError })
  const token = await issuer.sign({ ...claims, ...payload }, { typ })
  const response = await discover(server, token)
  // The same token again is not reported again.
  await discover(server, token)
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate') ?? '',
    log: onError.mock.calls.map(([error]) => String(error)),
  }
}

const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} }

const BOUND = { cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' } }

describe('jwt', () => {
  it.each(['at+jwt', 'application/at+jwt', 'AT+JWT'])('typ %s is accepted [auth.kinds]', async (typ) => {
    expect(await present({ typ })).toMatchObject({ status: 200, log: [] })
  })

  it.each(['logout+jwt', 'secevent+jwt', 'dpop+jwt', 'JWT', 'jwt', 'at+jwt2', 'at', '', undefined])(
    'typ %j → 401, and the log says what arrived and what to set [auth.kinds]',
    async (typ) => {
      const { status, challenge, log } = await present({ typ } as { typ?: string })
      expect([status, challenge]).toEqual([401, expect.stringContaining('error="invalid_token"')])
      expect(log).toHaveLength(1)
      expect(log[0]).toContain(typ ? `"${typ}"` : 'no "typ"')
      expect(log[0]).toContain('tokenTypes: [')
      expect(log[0]).toContain(issuer.url)
    },
  )

  it.each([
    [['JWT'], 'JWT'],
    [['jwt'], 'JWT'],
    [['JWT'], undefined],
    [['application/jwt'], 'JWT'],
    [['JWT'], 'at+jwt'],
    [['access+jwt'], 'access+jwt'],
  ])('with tokenTypes %j, typ %j is accepted [auth.kinds]', async (tokenTypes, typ) => {
    expect(await present({ typ } as { typ?: string }, {}, { tokenTypes })).toMatchObject({
      status: 200,
      log: [],
    })
  })

  it.each(['logout+jwt', 'secevent+jwt', 'dpop+jwt'])(
    'with tokenTypes ["JWT"], typ %s is still refused [auth.kinds]',
    async (typ) => {
      expect((await present({ typ }, {}, { tokenTypes: ['JWT'] })).status).toBe(401)
    },
  )

  it.each<[string, Claims]>([
    ['an ID token with a nonce', { nonce: 'n-0S6_WzA2Mj' }],
    ['an ID token with a hash of the access token', { at_hash: '77QmUPtjPfzWtF2AnpK9RQ' }],
    ['an ID token with a hash of the code', { c_hash: 'LDktKdoQak3Pk0cnXxCltA' }],
    ['an ID token of Cognito', { token_use: 'id' }],
    ['an ID token of Keycloak', { typ: 'ID' }],
    ['a refresh token of Keycloak', { typ: 'Refresh' }],
    ['an offline token of Keycloak', { typ: 'Offline' }],
    ['a logout token of Keycloak', { typ: 'Logout', events: EVENTS }],
    ['a refresh token of Hydra', { token_use: 'refresh_token' }],
    ['a refresh token by another name', { token_type: 'refresh' }],
    ['a logout token without a typ of its own', { events: EVENTS, sid: '08a5019c' }],
  ])('%s → 401, also with tokenTypes ["JWT"], and the log says why [auth.kinds]', async (_what, claims) => {
    const { status, log } = await present({ typ: 'JWT' }, claims, { tokenTypes: ['JWT'] })
    expect(status).toBe(401)
    expect(log).toEqual([expect.stringContaining(`"${Object.keys(claims)[0]}"`)])
  })

  it.each<[string, Claims]>([
    ['Keycloak', { typ: 'Bearer', nonce: 'as before its version 24' }],
    ['Cognito', { token_use: 'access' }],
    ['Hydra', { token_use: 'access_token' }],
    ['others', { token_type: 'access' }],
  ])(
    'what %s calls an access token is accepted with tokenTypes ["JWT"] [auth.kinds]',
    async (_who, claims) => {
      expect(await present({ typ: 'JWT' }, claims, { tokenTypes: ['JWT'] })).toMatchObject({ status: 200 })
    },
  )

  it.each(['at+jwt', 'JWT'])(
    'a token of typ %s bound to a key, sent as a bearer → 401, unless opened [auth.bound]',
    async (typ) => {
      const tokenTypes = ['JWT']
      for (const cnf of [
        BOUND.cnf,
        { 'x5t#S256': 'bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2' },
        {},
        'any',
      ]) {
        const { status, log } = await present({ typ }, { cnf }, { tokenTypes })
        expect([status, log]).toEqual([401, [expect.stringContaining('allowBoundTokens: true')]])
      }
      const opened = await present({ typ }, BOUND, { tokenTypes, allowBoundTokens: true })
      expect(opened).toMatchObject({ status: 200, log: [] })
    },
  )

  it('a token of another issuer, or for others, is not written to the log [auth.kinds]', async () => {
    for (const claims of [{ aud: 'https://other.example' }, { iss: 'https://evil.example' }]) {
      expect(await present({ typ: 'JWT' }, claims)).toMatchObject({ status: 401, log: [] })
    }
  })

  it('what a token says fills no log: one line a kind, cut, and few of them [auth.kinds]', async () => {
    const onError = vi.fn((_error: unknown) => {})
    const server = createServer({ auth: jwt({ issuer: issuer.url, audience: AUDIENCE }), onError })
    for (let n = 0; n < 60; n++) {
      await discover(server, await issuer.sign({}, { typ: `${n}${'x'.repeat(1000)}\n` }))
    }
    expect(onError.mock.calls.length).toBeLessThanOrEqual(20)
    for (const [error] of onError.mock.calls) expect(String(error)).toMatch(/^[^\n]{1,400}$/)
  })

  it.each<[string, Partial<JwtOptions>]>([
    ['tokenTypes', { tokenTypes: 'JWT' as never }],
    ['tokenTypes', { tokenTypes: [''] }],
    ['tokenTypes', { tokenTypes: [undefined as never] }],
    ['allowBoundTokens', { allowBoundTokens: 'false' as never }],
  ])('%s that is none → TypeError that names it [auth.kinds]', (name, options) => {
    const create = () => jwt({ issuer: 'https://login.example', audience: AUDIENCE, ...options })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(`"${name}"`)
  })
})

describe('introspection', () => {
  const statusOf = async (answer: Claims, options: { allowBoundTokens?: boolean } = {}) => {
    const token = `token-${crypto.randomUUID()}`
    issuer.known.set(token, { active: true, aud: AUDIENCE, sub: 'ann', ...answer })
    const auth = introspection(introspectionAt(issuer, options))
    return (await discover(createServer({ auth, onError: () => {} }), token)).status
  }

  it.each<Claims>([
    { typ: 'Bearer', token_type: 'Bearer' },
    { token_use: 'access_token' },
    { token_type: 'access_token' },
    {},
  ])('%j is accepted [auth.kinds]', async (answer) => {
    expect(await statusOf(answer)).toBe(200)
  })

  it.each<Claims>([
    { typ: 'Refresh' },
    { typ: 'Offline' },
    { typ: 'ID' },
    { token_use: 'refresh_token' },
    { token_type: 'refresh_token' },
    { token_type: 'DPoP' },
    { nonce: 'n-0S6_WzA2Mj', auth_time: 1 },
    { at_hash: '77QmUPtjPfzWtF2AnpK9RQ' },
    { events: EVENTS, sid: '08a5019c' },
  ])('%j → 401: a refresh token is active too [auth.kinds]', async (answer) => {
    expect(await statusOf(answer)).toBe(401)
  })

  it('a token bound to a key → 401, unless opened [auth.bound]', async () => {
    expect(await statusOf(BOUND)).toBe(401)
    expect(await statusOf(BOUND, { allowBoundTokens: true })).toBe(200)
    expect(await statusOf({ ...BOUND, token_type: 'DPoP' }, { allowBoundTokens: true })).toBe(200)
  })
})
