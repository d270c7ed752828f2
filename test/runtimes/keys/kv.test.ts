/** KV of a real workerd: each operation runs in a Worker. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { expect, it } from 'vitest'
import { createKeyAdmin, type KeyStore } from '../../../src/keys.ts'
import { modernRequest } from '../../unit/_client.ts'
import { keyStoreSuite } from './_suite.ts'

async function startWorker() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('_kv-worker.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['workerd'],
    external: ['cloudflare:workers', 'node:*'],
  })
  const modules = { 'worker.js': { type: 'esm' as const, contents: outputFiles[0]!.text } }
  const config = {
    name: 'keys',
    compatibilityDate: '2025-09-01',
    manifest: { mainModule: 'worker.js', modulesRoot: import.meta.dirname, modules },
    env: { KEYS: { type: 'kv' as const, id: 'keys' } },
  }
  const miniflare = new Miniflare({
    cf: false,
    workers: [{ config, dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] } }],
  })
  await miniflare.ready
  const url = await miniflare.unsafeGetDirectURL('keys')
  const call = async <Value>(method: string, ...args: unknown[]): Promise<Value> => {
    const body = JSON.stringify({ method, args })
    const response = await fetch(new URL('/call', url), { method: 'POST', body })
    const answer = (await response.json()) as { value?: Value; error?: string; isTypeError?: boolean }
    if (answer.error === undefined) return answer.value as Value
    throw answer.isTypeError ? new TypeError(answer.error) : new Error(answer.error)
  }
  const store: KeyStore = {
    create: (key) => call('create', key),
    read: (id) => call('read', id),
    list: (options) => call('list', options),
    revoke: (id, at) => call('revoke', id, at),
    use: (id, at) => call('use', id, at),
  }
  return { url, store, miniflare }
}

keyStoreSuite('KV', async () => {
  const { store, miniflare } = await startWorker()
  return { here: store, there: store, stop: () => miniflare.dispose() }
})

it('a Worker accepts keys of its KV, stores their use after the answer, and ends the stream of a revoked one [keys.streams]', {
  timeout: 60_000,
}, async () => {
  const { url, store, miniflare } = await startWorker()
  try {
    const admin = createKeyAdmin(store, { server: 'shop' })
    const { key, id } = await admin.create({ name: 'ci' })
    const statusOf = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` }
      const request = modernRequest('server/discover', {}, { headers })
      const body = await request.text()
      return (await fetch(new URL('/mcp', url), { method: 'POST', headers: request.headers, body })).status
    }
    expect(await statusOf()).toBe(200)
    await expect.poll(async () => (await admin.list()).keys[0]?.lastUsedAt).toBeGreaterThan(0)
    const headers = { authorization: `Bearer ${key}` }
    const listen = modernRequest(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      { headers },
    )
    const stream = await fetch(new URL('/mcp', url), {
      method: 'POST',
      headers: listen.headers,
      body: await listen.text(),
    })
    expect(stream.status).toBe(200)
    expect(await admin.revoke(id)).toBe(true)
    const revokedAt = Date.now()
    expect(await statusOf()).toBe(401)
    // It lasts 5 minutes otherwise.
    expect(await stream.text()).toContain('notifications/subscriptions/acknowledged')
    expect(Date.now() - revokedAt).toBeLessThan(30_000)
  } finally {
    await miniflare.dispose()
  }
})
