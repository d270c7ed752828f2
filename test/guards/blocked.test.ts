/** How many addresses are remembered as blocked: a bound that takes ten thousand callers to reach. */
import { expect, it, vi } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createServer, modernRequest } from '../unit/_client.ts'

it('of addresses that are blocked for bad tokens the latest 10 000 are remembered [limits.rate]', async () => {
  const verify = vi.fn(() => undefined)
  const rateLimiter = { limit: () => ({ ok: false as const, retryAfterSeconds: 3600 }) }
  const server = createServer({ auth: bearer(verify), http: { rateLimiter } })
  const request = () => modernRequest('server/discover', {}, { headers: { authorization: 'Bearer bad' } })
  const from = (index: number) =>
    server.handle(request(), { clientAddress: `10.0.${index >> 8}.${index & 255}` })
  for (let index = 0; index < 10_000; index++) await from(index)
  verify.mockClear()
  expect([(await from(0)).status, (await from(9999)).status]).toEqual([429, 429])
  expect(verify).not.toHaveBeenCalled()
  // One more: the oldest is forgotten, and looked at again.
  await from(10_000)
  verify.mockClear()
  await from(9999)
  expect(verify).not.toHaveBeenCalled()
  await from(0)
  expect(verify).toHaveBeenCalledOnce()
})
