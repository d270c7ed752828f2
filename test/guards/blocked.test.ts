/** How many refused tokens are remembered: a bound that takes ten thousand of them to reach. */
import { expect, it, vi } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createServer, modernRequest } from '../unit/_client.ts'

it('of tokens that are refused too often the latest 10 000 are remembered [limits.rate]', async () => {
  const verify = vi.fn(() => undefined)
  const rateLimiter = { limit: () => ({ ok: false as const, retryAfterSeconds: 3600 }) }
  const server = createServer({ auth: bearer(verify), http: { rateLimiter } })
  const send = (index: number) =>
    server.fetch(modernRequest('server/discover', {}, { headers: { authorization: `Bearer bad-${index}` } }))
  // Twice: the first failure counts for the caller, the second for the token.
  for (let index = 0; index < 20_000; index++) await send(index >> 1)
  verify.mockClear()
  expect([(await send(0)).status, (await send(9999)).status]).toEqual([429, 429])
  expect(verify).not.toHaveBeenCalled()
  // One more: the oldest is forgotten, and looked at again.
  await send(10_000)
  verify.mockClear()
  await send(9999)
  expect(verify).not.toHaveBeenCalled()
  await send(0)
  expect(verify).toHaveBeenCalledOnce()
})
