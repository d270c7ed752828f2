/** How static tokens are compared: what SECURITY.md says against guessing them by time. */
import { afterEach, expect, it, vi } from 'vitest'
import { bearer, introspection, jwt, type StaticToken, staticTokens } from '../../../src/auth.ts'
import { createMemoryBus } from '../../../src/index.ts'
import { createEventWebhook } from '../../../src/webhook.ts'
import { secretOf } from '../../_secrets.ts'
import { createServer } from '../_client.ts'
import { discover } from './_issuer.ts'

const JWT = { issuer: 'https://login.example', audience: 'a' }
const ISSUER = { ...JWT, endpoint: 'https://a.example', clientId: 'a', clientSecret: 's' }
const TOKENS = ['first', 'second', 'third'].map((name) => ({ token: `${name}-token-for-machines` }))

afterEach(() => void vi.restoreAllMocks())

it('each is compared with all of them, wherever it is found [auth.static]', async () => {
  let looks = 0
  const entries = TOKENS.map(({ token }): StaticToken => {
    return {
      get token() {
        looks++
        return token
      },
    }
  })
  const server = createServer({ auth: staticTokens(() => entries) })
  // Their digests are made once.
  await discover(server, TOKENS[0]!.token)
  const counts: number[] = []
  for (const token of [...TOKENS.map((one) => one.token), 'none-of-them-at-all']) {
    looks = 0
    await discover(server, token)
    counts.push(looks)
  }
  expect(counts[0]).toBeGreaterThanOrEqual(TOKENS.length)
  expect(new Set(counts).size).toBe(1)
})

it('what is compared are digests of one length, and not the texts [auth.static]', async () => {
  const server = createServer({ auth: staticTokens(TOKENS) })
  expect((await discover(server, 'x')).status).toBe(401)
  // Where every digest is the same, so is every token.
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(async () => new ArrayBuffer(32))
  const blind = createServer({ auth: staticTokens(TOKENS) })
  expect((await discover(blind, 'x')).status).toBe(200)
})

it.each([{ CI_TOKEN: 'short' }, { CI_TOKEN: '' }, {}])(
  'one of the environment %j lets nobody in, is named in the log once, and the others are served [auth.static]',
  async (env) => {
    const onError = vi.fn()
    const ann = 'the-token-of-ann-is-set'
    const auth = staticTokens(({ CI_TOKEN }: { CI_TOKEN?: string }) => [
      { token: CI_TOKEN as string, clientId: 'ci' },
      { token: ann, clientId: 'ann' },
      undefined as never,
    ])
    const server = createServer({ auth, onError })
    const statusOf = async (token: string) => {
      const request = new Request('https://mcp.example/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      })
      const response = await server.handle(request, { env })
      expect(await response.text()).not.toContain('character')
      return response.status
    }
    expect(await statusOf(ann)).toBe(200)
    expect(onError).not.toHaveBeenCalled()
    for (const token of [env.CI_TOKEN || 'undefined', 'another-token-of-nobody']) {
      expect(await statusOf(token)).toBe(401)
    }
    expect(await statusOf(ann)).toBe(200)
    expect(onError).toHaveBeenCalledOnce()
    const [[error]] = onError.mock.calls as [[Error]]
    expect(error.message).toMatch(/of "ci" must have at least 16.*number 3 must/)
  },
)

it.each([undefined, null, '', 'short', 1234567890123456])(
  '%j as the token of one entry → named, and the value is not shown [auth.static]',
  async (token) => {
    const ann = { token: 'the-token-of-ann-is-set', clientId: 'ann' }
    const list = [ann, { token: token as string, clientId: 'ci' }]
    expect(() => staticTokens(list)).toThrow(/The static token of "ci"/)
    const auth = staticTokens(() => list)
    expect((await discover(createServer({ auth }), ann.token)).status).toBe(200)
    const { authFault } = createServer({ auth }).getDeploymentInfo({})
    expect(authFault).toMatch(/The static token of "ci"/)
    if (token) expect(authFault).not.toContain(String(token))
  },
)

it.each([undefined, null, 'the-token-of-ann-is-set', Promise.resolve([])])(
  'a function that returns %s, which is no list → the log says what it must be [auth.static]',
  async (list) => {
    const onError = vi.fn()
    const server = createServer({ auth: staticTokens(() => list as never), onError })
    expect((await discover(server, 'the-token-of-ann-is-set')).status).toBe(500)
    expect(String(onError.mock.lastCall?.[0])).toContain('a function of env that returns one')
    expect(server.getDeploymentInfo({}).authFault).toContain('a function of env that returns one')
  },
)

it('what auth lacks is only told for an environment', () => {
  const auth = staticTokens(({ CI }: { CI: string }) => [{ token: CI, clientId: 'ci' }])
  expect(createServer({ auth }).getDeploymentInfo()).not.toHaveProperty('authFault')
  expect(createServer({ auth }).getDeploymentInfo({ CI: secretOf('a') })).not.toHaveProperty('authFault')
})

it.each<[string, (unset: undefined) => unknown]>([
  ['Secret number 2', (unset) => createServer({ secret: [secretOf('s'), unset as never] })],
  [
    'Number 2 in "secret" of a webhook',
    (unset) =>
      createEventWebhook({
        bus: createMemoryBus(),
        secret: [`whsec_${btoa(secretOf('x'))}`, unset as never],
      }),
  ],
  ['Number 1 in "audience" of jwt', (unset) => jwt({ ...JWT, audience: [unset as never, 'a'] })],
  [
    'Number 2 in "audience" of introspection',
    (unset) => introspection({ ...ISSUER, audience: ['a', unset as never] }),
  ],
  ['"clientSecret"', (unset) => introspection({ ...ISSUER, clientSecret: unset as never })],
  ['"tokenTypes"', (unset) => jwt({ ...JWT, tokenTypes: [unset as never] })],
  ['"scopes"', (unset) => bearer(() => undefined, { scopes: ['a', unset as never] })],
])('%s that comes from a variable that is not set → TypeError that names it', (name, make) => {
  expect(() => make(undefined)).toThrow(TypeError)
  expect(() => make(undefined)).toThrow(name)
})

it('one in a list that is unset → TypeError that names it [auth.static]', () => {
  const create = () => staticTokens([{ token: secretOf('a') }, { token: undefined as never, clientId: 'ci' }])
  expect(create).toThrow(TypeError)
  expect(create).toThrow('"ci"')
})
