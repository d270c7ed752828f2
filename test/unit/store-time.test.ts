/** The time that a store may take. */
import { expect, it } from 'vitest'
import { durableObjectGrants } from '../../adapters/cloudflare-grants.ts'

it('a time that is longer than timers can wait for is not over at once', async () => {
  const headers = { 'x-mayfly': 'grants' }
  const fetch = () =>
    new Promise<Response>((resolve) =>
      setTimeout(() => resolve(Response.json({ keys: [] }, { headers })), 30),
    )
  const namespace = { idFromName: (name: string) => name, get: () => ({ fetch }) }
  const store = durableObjectGrants(namespace as never, { timeoutMs: 2 ** 31 })

  expect(await store.list({ prefix: '', limit: 1 })).toEqual({ keys: [] })
})
