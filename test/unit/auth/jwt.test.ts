import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type JwtOptions, jwt } from '../../../src/auth.ts'
import { createTool, type McpContext } from '../../../src/index.ts'
import { createServer, modernRequest } from '../_client.ts'
import { AUDIENCE, discover, type Issuer, startIssuer } from './_issuer.ts'

let issuer: Issuer
beforeAll(async () => {
  issuer = await startIssuer()
})
beforeEach(() => issuer.asked.clear())
afterAll(() => issuer[Symbol.asyncDispose]())

const server = (options: Partial<JwtOptions> = {}) =>
  createServer({ auth: jwt({ issuer: issuer.url, audience: AUDIENCE, ...options }) })

const statusOf = async (token: string, options: Partial<JwtOptions> = {}) =>
  (await discover(server(options), token)).status

const seconds = (fromNow: number) => Math.floor(Date.now() / 1000) + fromNow

describe('a good token', () => {
  it('is let in, and its claims reach the tool [auth.jwt]', async () => {
    const seen = vi.fn((_input: unknown, _ctx: McpContext) => 'ok')
    const own = createServer({
      auth: jwt({ issuer: issuer.url, audience: AUDIENCE }),
      tools: { who: createTool({ id: 'who', execute: seen }) },
    })
    const token = await issuer.sign({ scope: 'shop read', permissions: ['till', 5, null, {}] })
    const headers = { authorization: `Bearer ${token}` }
    await (await own.fetch(modernRequest('tools/call', { name: 'who' }, { headers }))).text()
    expect(seen.mock.calls[0]![1].auth).toMatchObject({
      token,
      clientId: 'desk',
      scopes: ['shop', 'read'],
      subject: 'ann',
      claims: { sub: 'ann', iss: issuer.url, permissions: ['till', 5, null, {}] },
      extra: { sub: 'ann', iss: issuer.url },
    })
  })

  it.each(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])(
    'signed with %s is let in [auth.jwt]',
    async (algorithm) => {
      await issuer.addKey(algorithm, algorithm)
      expect(await statusOf(await issuer.sign({}, { kid: algorithm }))).toBe(200)
    },
  )

  it('for several audiences is let in where ours is one [auth.jwt]', async () => {
    expect(await statusOf(await issuer.sign({ aud: ['https://other.example', AUDIENCE] }))).toBe(200)
  })

  it.each([
    [undefined, 30],
    [0, 0],
    [60, 60],
  ])(
    'with a clock tolerance of %j is let in %i s early or late, and no more [auth.jwt]',
    async (given, tolerance) => {
      const options = given === undefined ? {} : { clockToleranceSeconds: given }
      vi.useFakeTimers({ toFake: ['Date'], now: Math.floor(Date.now() / 1000) * 1000 })
      try {
        expect(await statusOf(await issuer.sign({ exp: seconds(1 - tolerance) }), options)).toBe(200)
        expect(await statusOf(await issuer.sign({ exp: seconds(-tolerance) }), options)).toBe(401)
        expect(await statusOf(await issuer.sign({ nbf: seconds(tolerance) }), options)).toBe(200)
        expect(await statusOf(await issuer.sign({ nbf: seconds(tolerance + 1) }), options)).toBe(401)
      } finally {
        vi.useRealTimers()
      }
    },
  )
})

describe('a bad token → 401', () => {
  it.each<[string, { [claim: string]: unknown }]>([
    ['that has expired', { exp: seconds(-120) }],
    ['without an expiry', { exp: undefined }],
    ['that is not yet good', { nbf: seconds(120) }],
    ['for somebody else', { aud: 'https://other.example/mcp' }],
    ['for nobody', { aud: undefined }],
    ['for a resource that only begins like ours', { aud: `${AUDIENCE}.evil.example` }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['of no issuer', { iss: undefined }],
  ])('%s [auth.jwt]', async (_what, claims) => {
    const response = await discover(server(), await issuer.sign(claims))
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  it('for somebody else says so, in the words of the troubleshooting page', async () => {
    const response = await discover(server(), await issuer.sign({ aud: 'https://other.example/mcp' }))
    expect(await response.text()).toContain('The token was issued for a different audience.')
  })

  it('that is unsigned, however it spells "none" [auth.jwt]', async () => {
    const claims = { iss: issuer.url, aud: AUDIENCE, exp: seconds(60) }
    expect(await statusOf(new UnsecuredJWT(claims).encode())).toBe(401)
    for (const alg of ['none', 'None', 'NONE', 'nOnE']) {
      const part = (value: object) =>
        btoa(JSON.stringify(value)).replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_')
      expect(await statusOf(`${part({ alg })}.${part(claims)}.`), alg).toBe(401)
      expect(await statusOf(`${part({ alg, kid: 'first' })}.${part(claims)}.AAAA`), alg).toBe(401)
    }
  })

  it('signed with the public key as an HMAC secret: no algorithm confusion [auth.jwt]', async () => {
    const { keys } = (await (await fetch(`${issuer.url}/jwks`)).json()) as { keys: object[] }
    for (const secret of [JSON.stringify(keys[0]), JSON.stringify({ keys })]) {
      const token = await new SignJWT({ iss: issuer.url, aud: AUDIENCE, exp: seconds(60) })
        .setProtectedHeader({ alg: 'HS256', kid: 'first' })
        .sign(new TextEncoder().encode(secret))
      expect(await statusOf(token)).toBe(401)
    }
  })

  it('with a key of its own in the header (jwk, jku, x5u) [auth.jwt]', async () => {
    await using other = await startIssuer()
    const { keys } = (await (await fetch(`${other.url}/jwks`)).json()) as { keys: object[] }
    const signed = await other.sign({ iss: issuer.url })
    const [, body, signature] = signed.split('.')
    for (const extra of [{ jwk: keys[0] }, { jku: `${other.url}/jwks` }, { x5u: `${other.url}/x5u` }]) {
      const header = btoa(JSON.stringify({ alg: 'ES256', kid: 'first', ...extra })).replaceAll('=', '')
      other.asked.clear()
      expect(await statusOf(`${header}.${body}.${signature}`)).toBe(401)
      expect(other.asked.size).toBe(0)
    }
    expect(await statusOf(signed)).toBe(401)
  })

  it('that was tampered with, cut, or is none at all [auth.jwt]', async () => {
    const good = await issuer.sign()
    const [header, , signature] = good.split('.')
    const body = btoa(
      JSON.stringify({ iss: issuer.url, aud: AUDIENCE, exp: seconds(60), scope: 'admin' }),
    ).replaceAll('=', '')
    for (const token of [
      `${header}.${body}.${signature}`,
      `${good}A`,
      good.slice(0, -4),
      'a.b.c',
      '..',
      'abc',
      `${good}.${good}`,
    ]) {
      expect(await statusOf(token), token.slice(0, 20)).toBe(401)
    }
  })

  it('with crit that nobody understands [auth.jwt]', async () => {
    const [, body, signature] = (await issuer.sign()).split('.')
    const header = btoa(JSON.stringify({ alg: 'ES256', kid: 'first', crit: ['x'], x: 1 })).replaceAll('=', '')
    expect(await statusOf(`${header}.${body}.${signature}`)).toBe(401)
  })

  it('by an algorithm that is not among those allowed [auth.jwt]', async () => {
    await issuer.addKey('rsa', 'RS256')
    expect(await statusOf(await issuer.sign({}, { kid: 'rsa' }), { algorithms: ['ES256'] })).toBe(401)
  })
})

describe('keys', () => {
  it('are discovered and fetched once for many tokens [auth.keys]', async () => {
    const one = server()
    for (let call = 0; call < 5; call++) expect((await discover(one, await issuer.sign())).status).toBe(200)
    expect(issuer.asked.get('/jwks')).toBe(1)
    expect(issuer.asked.get('/.well-known/oauth-authorization-server')).toBe(1)
  })

  it('unknown key ids make us ask once, not once each [auth.keys]', async () => {
    const one = server({ jwksUri: `${issuer.url}/jwks` })
    expect((await discover(one, await issuer.sign())).status).toBe(200)
    const [, body, signature] = (await issuer.sign()).split('.')
    for (let id = 0; id < 20; id++) {
      const header = btoa(JSON.stringify({ alg: 'ES256', kid: `made-up-${id}` })).replaceAll('=', '')
      expect((await discover(one, `${header}.${body}.${signature}`)).status).toBe(401)
    }
    expect(issuer.asked.get('/jwks')).toBeLessThanOrEqual(2)
  })

  it('a rotated one is found once the minute is over [auth.keys]', async () => {
    const one = server({ jwksUri: `${issuer.url}/jwks` })
    await discover(one, await issuer.sign())
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      await issuer.addKey('rotated')
      const token = await issuer.sign({ exp: seconds(3600) }, { kid: 'rotated' })
      expect((await discover(one, token)).status).toBe(401)
      vi.setSystemTime(Date.now() + 61_000)
      expect((await discover(one, token)).status).toBe(200)
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([
    { status: 500, body: 'stack trace of the issuer' },
    { status: 200, body: 'no JSON' },
    { status: 200, body: '[]' },
    { status: 200, body: ' '.repeat(300_000) },
    { status: 302, body: '' },
  ])('an issuer that answers %j → 503, and good again once it is well [auth.unavailable]', async (broken) => {
    const onError = vi.fn()
    const one = createServer({ auth: jwt({ issuer: issuer.url, audience: AUDIENCE }), onError })
    const token = await issuer.sign()
    issuer.broken = broken
    try {
      const response = await discover(one, token)
      expect(response.status).toBe(503)
      expect(await response.text()).not.toContain('stack trace')
      expect(onError).toHaveBeenCalled()
    } finally {
      delete issuer.broken
    }
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      vi.setSystemTime(Date.now() + 5000)
      expect((await discover(one, token)).status).toBe(200)
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([
    ['issuer', {}],
    ['jwksUri', { jwksUri: 'http://127.0.0.1:9/jwks' }],
  ])(
    'an %s that cannot be reached → 503, for the token may be good [auth.unavailable]',
    async (_what, options) => {
      const auth = jwt({ issuer: 'http://127.0.0.1:9', audience: AUDIENCE, ...options })
      expect((await discover(createServer({ auth }), await issuer.sign())).status).toBe(503)
    },
  )

  it('are asked for once by many tokens that come at once [auth.keys]', async () => {
    const one = server()
    const token = await issuer.sign()
    const responses = await Promise.all(Array.from({ length: 20 }, () => discover(one, token)))
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
    expect([...issuer.asked.values()]).toEqual([1, 1])
  })

  it('are looked for where the metadata says, as it says today [auth.keys]', async () => {
    const one = server()
    expect((await discover(one, await issuer.sign())).status).toBe(200)
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      vi.setSystemTime(Date.now() + 600_000)
      expect((await discover(one, await issuer.sign())).status).toBe(200)
      expect(issuer.asked.get('/.well-known/oauth-authorization-server')).toBe(2)
      expect(issuer.asked.get('/jwks')).toBe(2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('metadata of another issuer is not used [auth.keys]', async () => {
    const fetchAs: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      return new Response(
        (await response.text()).replace(`"issuer":"${issuer.url}"`, '"issuer":"https://evil.example"'),
        response,
      )
    }
    expect(await statusOf(await issuer.sign(), { fetch: fetchAs })).toBe(503)
  })
})

describe('an issuer that fails', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => {
    vi.useRealTimers()
    delete issuer.broken
  })
  const later = (ms: number) => void vi.setSystemTime(Date.now() + ms)
  const asked = () => [...issuer.asked.values()].reduce((sum, count) => sum + count, 0)
  const DAY_MS = 86_400_000

  it.each([
    { status: 500, body: '' },
    { status: 200, body: '{}' },
    { status: 200, body: '{"keys":5}' },
    { status: 200, body: '{"keys":[' },
  ])('with %j is not asked about each token [auth.outage]', async (broken) => {
    const onError = vi.fn()
    const auth = jwt({ issuer: issuer.url, audience: AUDIENCE, jwksUri: `${issuer.url}/jwks` })
    const one = createServer({ auth, onError })
    issuer.broken = broken
    const token = await issuer.sign()
    for (let n = 0; n < 20; n++) expect((await discover(one, token)).status).toBe(503)
    expect(asked()).toBe(1)
    expect(onError).toHaveBeenCalledOnce()
    later(1000)
    for (let n = 0; n < 20; n++) expect((await discover(one, token)).status).toBe(503)
    expect(asked()).toBe(2)
    expect(onError).toHaveBeenCalledTimes(2)
    delete issuer.broken
    later(2000)
    expect((await discover(one, token)).status).toBe(200)
  })

  it('known keys are used on, for a day; a look each minute [auth.outage]', async () => {
    const one = server()
    const good = () => issuer.sign({ exp: seconds(60) })
    expect((await discover(one, await good())).status).toBe(200)
    issuer.broken = { status: 500, body: '' }
    issuer.asked.clear()
    later(599_999)
    expect((await discover(one, await good())).status).toBe(200)
    expect(asked()).toBe(0)
    later(1)
    for (let n = 0; n < 5; n++) expect((await discover(one, await good())).status).toBe(200)
    // The two places where metadata may be.
    expect(asked()).toBe(2)
    later(59_999)
    expect((await discover(one, await good())).status).toBe(200)
    expect(asked()).toBe(2)
    later(1)
    expect((await discover(one, await good())).status).toBe(200)
    expect(asked()).toBe(4)
    later(DAY_MS - 600_000 - 60_000 - 1)
    expect((await discover(one, await good())).status).toBe(200)
    later(1)
    for (let n = 0; n < 5; n++) expect((await discover(one, await good())).status).toBe(503)
    delete issuer.broken
    later(5000)
    expect((await discover(one, await good())).status).toBe(200)
  })

  it('unknown key ids do not make us ask about each either [auth.outage]', async () => {
    const one = server({ jwksUri: `${issuer.url}/jwks` })
    expect((await discover(one, await issuer.sign())).status).toBe(200)
    issuer.broken = { status: 500, body: '' }
    issuer.asked.clear()
    later(60_000)
    const [, body, signature] = (await issuer.sign()).split('.')
    for (let id = 0; id < 20; id++) {
      const header = btoa(JSON.stringify({ alg: 'ES256', kid: `made-up-${id}` })).replaceAll('=', '')
      expect((await discover(one, `${header}.${body}.${signature}`)).status).toBe(503)
    }
    expect(asked()).toBe(1)
    expect((await discover(one, await issuer.sign())).status).toBe(200)
  })

  it('a key that was withdrawn is gone with the next look [auth.outage]', async () => {
    await using own = await startIssuer()
    const one = createServer({ auth: jwt({ issuer: own.url, audience: AUDIENCE }) })
    const withdrawn = await own.sign({ exp: seconds(3600) })
    expect((await discover(one, withdrawn)).status).toBe(200)
    own.broken = { status: 500, body: '' }
    later(600_000)
    expect((await discover(one, withdrawn)).status).toBe(200)
    delete own.broken
    own.withdrawKey('first')
    later(60_000)
    expect((await discover(one, withdrawn)).status).toBe(401)
  })
})

describe('options', () => {
  it.each<[string, Partial<JwtOptions>]>([
    ['no issuer', { issuer: undefined as never }],
    ['an issuer that is no URL', { issuer: 'login.example' }],
    ['an issuer without TLS', { issuer: 'http://login.example' }],
    ['keys without TLS', { jwksUri: 'http://login.example/jwks' }],
    ['no audience', { audience: undefined as never }],
    ['an empty list of audiences', { audience: [] }],
    ['an empty audience', { audience: '' }],
    ['one empty audience of two', { audience: [AUDIENCE, ''] }],
    ['an audience that is not set', { audience: [undefined as never], audienceClaim: 'client_id' }],
    ['none', { algorithms: ['none'] }],
    ['a shared secret', { algorithms: ['HS256'] }],
    // Added to a time as a text, it would be the year 5000.
    ['clocks that differ by a text', { clockToleranceSeconds: '30' as never }],
    ['clocks that differ by no number', { clockToleranceSeconds: Number.NaN }],
    ['clocks that differ by less than nothing', { clockToleranceSeconds: -1 }],
    ['clocks that may differ by an hour', { clockToleranceSeconds: 3600 }],
  ])('%s → TypeError [auth.jwt]', (_what, options) => {
    expect(() => jwt({ issuer: 'https://login.example', audience: AUDIENCE, ...options })).toThrow(TypeError)
  })

  it('another claim may be the audience, and a check may refuse [auth.jwt]', async () => {
    const options = {
      audienceClaim: 'client_id',
      audience: 'desk',
      check: ({ token_use: use }: JWTPayload) => (use === 'access' ? undefined : 'No access token.'),
    }
    expect(await statusOf(await issuer.sign({ aud: undefined, token_use: 'access' }), options)).toBe(200)
    expect(await statusOf(await issuer.sign({ aud: undefined, token_use: 'id' }), options)).toBe(401)
    expect(await statusOf(await issuer.sign({ client_id: 'other', token_use: 'access' }), options)).toBe(401)
  })

  it('the token may be in a header that the platform sets [auth.jwt]', async () => {
    const one = server({ header: 'cf-access-jwt-assertion' })
    const token = await issuer.sign()
    expect((await discover(one, undefined, { headers: { 'cf-access-jwt-assertion': token } })).status).toBe(
      200,
    )
    expect((await discover(one, token)).status).toBe(401)
  })
})
