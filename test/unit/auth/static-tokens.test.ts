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

it('a short one from the environment lets nobody in, and is reported [auth.static]', async () => {
  const onError = vi.fn()
  const auth = staticTokens((env: { CI_TOKEN?: string }) => [{ token: env.CI_TOKEN as string }])
  const server = createServer({ auth, onError })
  for (const env of [{ CI_TOKEN: 'short' }, { CI_TOKEN: '' }, {}]) {
    const request = new Request('https://mcp.example/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${env.CI_TOKEN || 'undefined'}` },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    })
    const response = await server.handle(request, { env })
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('character')
  }
  expect(onError).toHaveBeenCalledTimes(3)
})
