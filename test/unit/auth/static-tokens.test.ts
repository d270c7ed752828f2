/** How static tokens are compared: what SECURITY.md says against guessing them by time. */
import { afterEach, expect, it, vi } from 'vitest'
import { type StaticToken, staticTokens } from '../../../src/auth.ts'
import { createServer } from '../_client.ts'
import { discover } from './_issuer.ts'

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
    expect(error.message).toMatch(/of "ci" needs 16.*number 3 needs/)
  },
)

it('one in a list that is unset → TypeError that names it [auth.static]', () => {
  const create = () =>
    staticTokens([{ token: 'a'.repeat(16) }, { token: undefined as never, clientId: 'ci' }])
  expect(create).toThrow(TypeError)
  expect(create).toThrow('"ci"')
})
