/** On workerd, nothing of a request settles once its client has ended it: what it was making for all is made by a later one. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { startWorkerd, urlOf } from './_workerd.ts'

it('a request that was ended while it created the table of a store keeps the others waiting for seconds at most', async () => {
  let asked = 0
  // Answers all questions but the first.
  const database = createServer((_request, response) => void (++asked > 1 && response.end('{"rows":[]}')))
  await once(database.listen(0, '127.0.0.1'), 'listening')
  const { port } = database.address() as AddressInfo
  const contents = `import { postgresGrants } from '../../../adapters/postgres.ts'
    const query = async () => (await fetch('http://127.0.0.1:${port}/')).json()
    const store = postgresGrants({ query }, { createTable: true })
    export default {
      async fetch() {
        const late = new Promise((resolve) => setTimeout(resolve, 500, 'waits'))
        return new Response(await Promise.race([store.list({ prefix: 'a', limit: 1 }).then(() => 'read', String), late]))
      },
    }`
  const workerd = await startWorkerd({ stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' } })
  try {
    const url = await urlOf(workerd)
    const client = new AbortController()
    const first = fetch(url, { signal: client.signal }).catch(({ name }: Error) => name)
    await expect.poll(() => asked).toBe(1)
    client.abort()
    expect(await first).toBe('AbortError')
    await expect.poll(async () => (await fetch(url)).text(), { timeout: 15_000 }).toBe('read')
    expect(await (await fetch(url)).text()).toBe('read')
  } finally {
    await workerd.dispose()
    database.closeAllConnections()
    database.close()
  }
})
