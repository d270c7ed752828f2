/** What a function that checks tokens may answer, and what of it is taken as an identity. */
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { bearer, createGate, VerifierMisconfiguredError, type VerifyToken } from '../../../src/auth.ts'
import { createMemoryRateLimiter, createTool, type McpContext } from '../../../src/index.ts'
import { check } from '../../property/_seeded.ts'
import { createServer, modernRequest } from '../_client.ts'
import { discover } from './_issuer.ts'

const TOKEN = 'the-token'

/** JavaScript can answer anything. */
const answering = (answer: unknown, scopes: readonly string[] = []) =>
  bearer(() => answer as ReturnType<VerifyToken>, { scopes })

async function authOf(answer: unknown, scopes: readonly string[] = []): Promise<McpContext['auth']> {
  const seen = vi.fn((_input: unknown, _ctx: McpContext) => 'ok')
  const server = createServer({
    auth: answering(answer, scopes),
    tools: { who: createTool({ id: 'who', execute: seen }) },
  })
  const headers = { authorization: `Bearer ${TOKEN}` }
  const response = await server.fetch(modernRequest('tools/call', { name: 'who' }, { headers }))
  expect(response.status).toBe(200)
  return seen.mock.calls[0]![1].auth
}

const DERIVED = expect.stringMatching(/^token-[\da-f]{32}$/)

describe('an answer that says no', () => {
  it.each<[unknown]>([
    [undefined],
    [null],
    [false],
    [{ valid: false }],
    [{ active: false }],
    [{ valid: false, clientId: 'desk', scopes: ['shop'] }],
    [{ active: false, sub: 'ann' }],
    [{ valid: true, active: false }],
    [{ valid: false, active: true }],
    [{ valid: null, sub: 'ann' }],
    [{ active: undefined, sub: 'ann' }],
    [{ ok: false, sub: 'ann' }],
    [{ success: false, clientId: 'desk', scopes: [] }],
    [{ isValid: false, sub: 'ann' }],
    [{ authenticated: false, sub: 'ann' }],
    [{ authorized: false, sub: 'ann' }],
    [{ verified: false, sub: 'ann' }],
    [{ error: 'expired', sub: 'ann' }],
    [{ error: new Error('expired'), sub: 'ann' }],
    [{ error: true, sub: 'ann' }],
    [{ error: '', sub: 'ann' }],
    [{ is_active: false, client_id: 'desk' }],
    [{ isActive: null, client_id: 'desk' }],
    [{ is_valid: false, client_id: 'desk' }],
    [{ enabled: false, client_id: 'desk' }],
    [{ isEnabled: false, client_id: 'desk' }],
    [{ revoked: true, client_id: 'desk' }],
    [{ revoked: 1, client_id: 'desk' }],
    [{ is_revoked: 'true', client_id: 'desk' }],
    [{ revoked_at: '2020-01-01', client_id: 'desk' }],
    [{ revokedAt: new Date(0), client_id: 'desk' }],
    [{ deleted_at: 1_577_836_800, client_id: 'desk' }],
    [{ expired: true, client_id: 'desk' }],
    [{ isExpired: true, client_id: 'desk' }],
    [{ disabled: true, client_id: 'desk' }],
    [{ blocked: Promise.resolve(false), client_id: 'desk' }],
    [{ status: 'revoked', client_id: 'desk' }],
    [{ state: 'INACTIVE', client_id: 'desk' }],
    [{ sub: 'ann', payload: { sub: 'ann', active: false } }],
  ])('%j → 401, and nothing to report [auth.identity]', async (answer) => {
    const onError = vi.fn()
    const response = await discover(createServer({ auth: answering(answer), onError }), TOKEN)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
    expect(onError).not.toHaveBeenCalled()
  })
})

describe('an answer that is no identity', () => {
  it.each<[unknown]>([
    [true],
    [1],
    ['ann'],
    [''],
    [0],
    [Number.NaN],
    [10n],
    [Symbol('yes')],
    [() => true],
    [[]],
    [[{ clientId: 'desk' }]],
    [{}],
    [new Response('{}')],
    [{ scopes: ['shop'] }],
    [{ payload: { sub: 'ann' }, protectedHeader: {} }],
    [{ success: true, data: { sub: 'ann' } }],
    [{ clientId: '' }],
    [{ clientId: true }],
    [{ clientId: Number.NaN }],
    [{ clientId: 'desk', sub: Number.POSITIVE_INFINITY }],
    [{ clientId: { id: 'desk' } }],
    [{ clientId: 'desk', sub: {} }],
    [{ clientId: 'desk', sub: true }],
    [{ clientId: 'desk', extra: { sub: { id: 1 } } }],
    [{ clientId: 'desk', extra: { sub: Object.create(null) } }],
    [{ clientId: 'desk', extra: 'ann' }],
    [{ clientId: 'desk', claims: 'ann' }],
    [{ clientId: 'desk', claims: [] }],
    [{ clientId: 'desk', extra: [] }],
    [{ clientId: 'desk', subject: Symbol('ann') }],
    [{ valid: 'true' }],
    [{ valid: 1, clientId: 'desk' }],
    [{ active: 'yes' }],
    [{ clientId: 'desk', scopes: {} }],
    [{ clientId: 'desk', scopes: new Set(['shop']) }],
    [{ clientId: 'desk', scopes: ['shop', 5] }],
    [{ clientId: 'desk', scopes: 5 }],
    [{ clientId: 'desk', expiresAt: 'tomorrow' }],
    [{ clientId: 'desk', expiresAt: Number.NaN }],
    [{ clientId: 'desk', exp: {} }],
    [{ clientId: 'desk', expiresAt: new Date(Number.NaN) }],
    [{ clientId: 'desk', expiresAt: '2100-01-01' }],
    [{ client_id: 'desk', expires_at: '2100-01-01' }],
    [{ client_id: 'desk', expires: false }],
    [{ client_id: 'desk', is_active: 1 }],
  ])('%o → 401 without a reason, and the operator is told once [auth.identity]', async (answer) => {
    const onError = vi.fn()
    const server = createServer({ auth: answering(answer), onError })
    for (let call = 0; call < 3; call++) {
      const response = await discover(server, TOKEN)
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toContain(
        'error="invalid_token", error_description="The token is not valid."',
      )
      expect(await response.text()).not.toMatch(/clientId|bearer\(/)
    }
    expect(onError).toHaveBeenCalledOnce()
    expect(onError.mock.calls[0]![0]).toBeInstanceOf(VerifierMisconfiguredError)
    expect(onError.mock.calls[0]![0]).toMatchObject({ code: 'verifier_misconfigured' })
  })

  it('the report says what to return, and nothing of what was returned [auth.identity]', async () => {
    const onError = vi.fn()
    const server = createServer({ auth: answering({ secret: 'hunter2', user: 'ann' }), onError })
    await discover(server, TOKEN)
    const { message } = onError.mock.calls[0]![0] as Error
    expect(message).toMatch(/clientId/)
    expect(message).not.toMatch(/hunter2|ann/)
  })

  it.each([
    ['clientId', { clientId: {} }],
    ['subject', { clientId: 'desk', sub: {} }],
    ['extra', { clientId: 'desk', extra: 5 }],
    ['scopes', { clientId: 'desk', scopes: 5 }],
    ['expiresAt', { clientId: 'desk', exp: 'soon' }],
    ['expires_at', { clientId: 'desk', expires_at: 'soon' }],
  ])('the report names the %s that is wrong [auth.identity]', async (member, answer) => {
    const onError = vi.fn()
    await discover(createServer({ auth: answering(answer), onError }), TOKEN)
    const { message } = onError.mock.calls[0]![0] as Error
    expect(message.split(': return')[0]).toContain(member)
  })

  it('a verifier whose tolerance is no number lets no token in that has an end [auth.identity]', async () => {
    const statusOf = async (clockToleranceSeconds: number, expiresAt: number) => {
      const verify = async () => ({ clientId: 'desk', expiresAt })
      const auth = createGate({ authorizationServers: [], clockToleranceSeconds, verify })
      return (await discover(createServer({ auth }), TOKEN)).status
    }
    const now = Math.floor(Date.now() / 1000)
    expect(await statusOf(Number.NaN, now + 60)).toBe(401)
    expect([await statusOf(0, now - 30), await statusOf(60, now - 30), await statusOf(10, now - 30)]).toEqual(
      [401, 200, 401],
    )
  })

  it('of a verifier behind createGate → the same [auth.identity]', async () => {
    for (const answer of [true, {}, undefined]) {
      const auth = createGate({ authorizationServers: [], verify: async () => answer as never })
      expect((await discover(createServer({ auth, onError: () => {} }), TOKEN)).status).toBe(401)
    }
  })

  it('whatever it is, it lets no caller in without a name or a clear yes [auth.identity]', async () => {
    const key = fc.constantFrom(
      'scopes',
      'exp',
      'extra',
      'user',
      'ok',
      'valid',
      'active',
      'aud',
      'token',
      'length',
    )
    const nameless = fc.oneof(
      fc.anything().filter((value) => !names(value)),
      fc.dictionary(key, fc.anything()).filter((value) => !names(value)),
    )
    await check(
      fc.asyncProperty(nameless, async (answer) => {
        const server = createServer({ auth: answering(answer), onError: () => {} })
        expect((await discover(server, TOKEN)).status).toBe(401)
      }),
      500,
    )
  })
})

/** Whether `value` may be an identity. */
function names(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { valid, active, clientId, client_id, azp, sub, subject, extra } = value as {
    [name: string]: unknown
  }
  const inner = (extra as { sub?: unknown } | undefined)?.sub
  return valid === true || active === true || [clientId, client_id, azp, sub, subject, inner].some(Boolean)
}

describe('an identity', () => {
  it.each<[object, object]>([
    [
      { clientId: 'desk', scopes: ['shop'] },
      { clientId: 'desk', scopes: ['shop'] },
    ],
    [{ clientId: 'desk' }, { clientId: 'desk', scopes: [] }],
    [
      { clientId: 'desk', scopes: undefined, expiresAt: null, extra: null },
      { clientId: 'desk', scopes: [] },
    ],
    [
      { clientId: 'desk', scopes: null, scope: null, expiresAt: null, exp: null },
      { clientId: 'desk', scopes: [] },
    ],
    [
      { clientId: 'desk', scopes: null, scope: 'shop', expiresAt: null, exp: 4_102_444_800 },
      { clientId: 'desk', scopes: ['shop'], expiresAt: 4_102_444_800 },
    ],
    [
      { clientId: 'desk', scope: ' shop  read ' },
      { clientId: 'desk', scopes: ['shop', 'read'] },
    ],
    [
      { clientId: 'desk', scope: '' },
      { clientId: 'desk', scopes: [] },
    ],
    [
      { clientId: 'desk', error: null },
      { clientId: 'desk', scopes: [], extra: { error: null } },
    ],
    [
      { clientId: 'desk', error: false },
      { clientId: 'desk', scopes: [], extra: { error: false } },
    ],
    [
      { clientId: 'desk', error: undefined },
      { clientId: 'desk', scopes: [], extra: { error: undefined } },
    ],
    [{ valid: true }, { clientId: DERIVED, scopes: [] }],
    [
      { active: true, scope: 'shop read' },
      { clientId: DERIVED, scopes: ['shop', 'read'] },
    ],
    [
      { valid: true, scopes: 'shop read' },
      { clientId: DERIVED, scopes: ['shop', 'read'] },
    ],
    [
      { valid: true, clientId: '' },
      { clientId: DERIVED, scopes: [] },
    ],
    [
      { active: true, client_id: 'desk' },
      { clientId: 'desk', scopes: [] },
    ],
    [{ azp: 'desk' }, { clientId: 'desk', scopes: [] }],
    [{ sub: 'ann' }, { clientId: 'ann', subject: 'ann', scopes: [], extra: { sub: 'ann' } }],
    [{ subject: 'ann' }, { clientId: 'ann', subject: 'ann', scopes: [], extra: { sub: 'ann' } }],
    [{ extra: { sub: 'ann' } }, { clientId: 'ann', subject: 'ann', scopes: [], extra: { sub: 'ann' } }],
    [
      { clientId: 'desk', claims: { tenant: 't' } },
      { clientId: 'desk', scopes: [], claims: { tenant: 't' } },
    ],
    [
      { clientId: 'desk', sub: 7 },
      { clientId: 'desk', subject: '7', scopes: [], extra: { sub: 7 } },
    ],
    [{ clientId: 7 }, { clientId: '7', scopes: [] }],
    [
      { clientId: 7n, resource: 'https://mcp.example' },
      { clientId: '7', scopes: [] },
    ],
    [
      { clientId: 'desk', resource: new URL('https://mcp.example') },
      { clientId: 'desk', scopes: [], resource: new URL('https://mcp.example') },
    ],
    [
      { clientId: '', client_id: null, azp: 'desk' },
      { clientId: 'desk', scopes: [] },
    ],
    [
      { clientId: 'desk', sub: 'ann', extra: { sub: '' } },
      { clientId: 'desk', subject: 'ann', scopes: [], extra: { sub: 'ann' } },
    ],
    [
      { clientId: 'desk', sub: '' },
      { clientId: 'desk', scopes: [] },
    ],
    [
      { valid: true, clientId: 'desk', sub: 'ann', scopes: ['shop'], user: { name: 'Ann' } },
      { clientId: 'desk', subject: 'ann', scopes: ['shop'], extra: { sub: 'ann', user: { name: 'Ann' } } },
    ],
    [
      { clientId: 'desk', sub: 'ann', extra: { sub: 'bob', age: 7 } },
      { clientId: 'desk', subject: 'bob', scopes: [], extra: { sub: 'bob', age: 7 } },
    ],
    [
      { clientId: 'desk', token: 'another', scopes: [] },
      { clientId: 'desk', scopes: [] },
    ],
  ])('%o → %o [auth.identity]', async (answer, auth) => {
    expect(await authOf(answer)).toEqual({ token: TOKEN, ...auth })
  })

  it.each([
    ['expiresAt', 1],
    ['exp', 1],
    ['expiresAt', new Date(1000)],
    ['expiresAt', 1_000_000_000_000],
    ['exp', Number.NEGATIVE_INFINITY],
    ['exp', 0],
    ['expires_at', 1],
    ['expires_on', new Date(1000)],
    ['expired_at', 1],
    ['expires', 1],
    ['expiry', 1],
    ['expiration', 1],
    ['validUntil', 1],
    ['payload', { exp: 1 }],
  ])('whose %s is %s, which is over → 401 [auth.identity]', async (member, value) => {
    const server = createServer({ auth: answering({ clientId: 'desk', [member]: value }) })
    const response = await discover(server, TOKEN)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('The token has expired.')
  })

  it.each([
    ['expiresAt', 4_102_444_800],
    ['exp', 4_102_444_800],
    ['expiresAt', new Date('2100-01-01T00:00:00.999Z')],
    ['expiresAt', 4_102_444_800_999],
    ['expiresAt', Number.POSITIVE_INFINITY],
  ])('whose %s is %s, some day → seconds since the epoch [auth.identity]', async (member, value) => {
    const auth = await authOf({ clientId: 'desk', [member]: value })
    expect(auth?.expiresAt).toBe(value === Number.POSITIVE_INFINITY ? value : 4_102_444_800)
  })

  it('as the row of a token that is good → accepted, with what it says in extra [auth.identity]', async () => {
    const row = { revoked: false, is_active: true, disabled: 0, revoked_at: null, status: 'active' }
    const auth = await authOf({ client_id: 'desk', expires_at: 4_102_444_800, ...row })
    expect(auth).toMatchObject({ clientId: 'desk', expiresAt: 4_102_444_800, extra: row })
    expect((await authOf({ clientId: 'desk', expiresAt: null, expires_at: null }))?.expiresAt).toBe(undefined)
  })

  it('with several expiries ends with the first [auth.identity]', async () => {
    const auth = await authOf({ sub: 'ann', expiresAt: 4_102_444_800, expires_at: 4_102_444_700 })
    expect(auth?.expiresAt).toBe(4_102_444_700)
  })

  it('whose expiry is before 33658 is in seconds, as issuers write "never" [auth.identity]', async () => {
    const expiryOf = async (expiresAt: number) => (await authOf({ clientId: 'desk', expiresAt }))?.expiresAt
    expect(await expiryOf(253_402_300_799)).toBe(253_402_300_799)
    expect(await expiryOf(999_999_999_999)).toBe(999_999_999_999)
  })

  it('has the scopes that are named whole, in text or list [auth.identity]', async () => {
    const statusOf = async (scopes: unknown) =>
      (await discover(createServer({ auth: answering({ clientId: 'a', scopes }, ['shop']) }), TOKEN)).status
    expect([await statusOf('shop'), await statusOf('read shop'), await statusOf(['shop'])]).toEqual([
      200, 200, 200,
    ])
    expect([await statusOf('shopper'), await statusOf(['shopper']), await statusOf('')]).toEqual([
      403, 403, 403,
    ])
  })

  it('is each request’s own: what a tool does to it is gone with it [auth.identity]', async () => {
    const answer = { clientId: 'desk', scopes: ['shop'], extra: { sub: 'ann' } }
    const rise = createTool({
      id: 'rise',
      execute: (_input, { auth }) => {
        auth!.scopes.push('admin')
        auth!.extra!.sub = 'root'
        return 'risen'
      },
    })
    const rule = createTool({
      id: 'rule',
      scopes: ['admin'],
      execute: (_input, ctx) => `${ctx.auth?.extra?.sub}`,
    })
    const server = createServer({ auth: answering(answer), tools: { rise, rule } })
    const call = (name: string) =>
      server.fetch(modernRequest('tools/call', { name }, { headers: { authorization: `Bearer ${TOKEN}` } }))
    expect((await call('rise')).status).toBe(200)
    expect((await call('rule')).status).toBe(403)
    expect(answer).toEqual({ clientId: 'desk', scopes: ['shop'], extra: { sub: 'ann' } })
  })
})

describe('the principal', () => {
  const areOne = async (first: unknown, second: unknown, tokens = ['first-token', 'second-token']) => {
    const rateLimiter = createMemoryRateLimiter({ calls: 1, windowMs: 60_000 })
    const auth = bearer((token) => (token === tokens[0] ? first : second) as ReturnType<VerifyToken>)
    const server = createServer({ auth, http: { rateLimiter } })
    expect((await discover(server, tokens[0])).status).toBe(200)
    return (await discover(server, tokens[1])).status === 429
  }

  it('of tokens without client and subject is another for each [auth.principal]', async () => {
    for (const answer of [
      { valid: true },
      { active: true, scopes: ['shop'] },
      { valid: true, clientId: '', sub: '' },
    ]) {
      expect(await areOne(answer, answer)).toBe(false)
      expect(await areOne(answer, answer, ['one-token', 'one-token'])).toBe(true)
    }
  })

  it('is the client and the subject, where a token names them [auth.principal]', async () => {
    expect(await areOne({ clientId: 'desk' }, { clientId: 'desk' })).toBe(true)
    expect(await areOne({ clientId: 'desk', sub: 'ann' }, { clientId: 'desk', extra: { sub: 'ann' } })).toBe(
      true,
    )
    expect(await areOne({ clientId: 'desk', sub: 'ann' }, { clientId: 'desk', sub: 'bob' })).toBe(false)
    expect(await areOne({ clientId: 'desk', sub: 1 }, { clientId: 'desk', sub: 2 })).toBe(false)
    expect(await areOne({ sub: 'ann' }, { sub: 'bob' })).toBe(false)
    expect(await areOne({ clientId: 'desk' }, { clientId: 'till' })).toBe(false)
  })
})
