/** Legacy clients of two stateless Workers, which are two isolates, over Durable Objects: the stream at one, what changes at the other. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../../_eventually.ts'
import { CLIENTS } from '../../contract/clients.ts'
import { connectLegacyListener } from '../_legacy-listener.ts'
import { startProxy } from '../node/_processes.ts'

const WORKER = fileURLToPath(new URL('legacy/worker.ts', import.meta.url))
const CLASSES = { CHANGES: 'MayflyBus', SUBSCRIPTIONS: 'Subscriptions' }
const LISTS = 'notifications/tools/list_changed'

let workerd: Miniflare
let urls: URL[]

beforeAll(async () => {
  const { outputFiles } = await build({ entryPoints: [WORKER], bundle: true, write: false, format: 'esm' })
  const modules = { 'worker.js': { type: 'esm' as const, contents: outputFiles[0]!.text } }
  const manifest = { mainModule: 'worker.js', modulesRoot: import.meta.dirname, modules }
  const object = { type: 'durable-object' as const, storage: 'sqlite' as const }
  const workers = ['one', 'two'].map((name) => ({
    config: {
      name,
      compatibilityDate: '2025-09-01',
      manifest,
      env: Object.fromEntries(
        Object.entries(CLASSES).map(([binding, exportName]) => [
          binding,
          { type: 'durable-object' as const, worker: 'one', exportName },
        ]),
      ),
      ...(name === 'one' && {
        exports: Object.fromEntries(Object.values(CLASSES).map((exportName) => [exportName, object])),
      }),
    },
    dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] },
  }))
  // Its default asks the internet where it is.
  workerd = new Miniflare({ cf: false, workers })
  await workerd.ready
  urls = await Promise.all(['one', 'two'].map((name) => workerd.unsafeGetDirectURL(name)))
})
afterAll(() => workerd?.dispose())

const rows = async (): Promise<unknown> => (await fetch(new URL('/rows', urls[0]))).json()

it('the official client hears of what it subscribed to, wherever each request was served; DELETE ends it [legacy.changes] [bus.objects]', async () => {
  const proxy = await startProxy(urls)
  try {
    await using listener = await connectLegacyListener(proxy.url)
    await using publisher = await CLIENTS[0]!.connect(new URL('/mcp', urls[1]))
    expect(listener.client.getServerCapabilities()).toMatchObject({ resources: { subscribe: true } })

    await listener.client.subscribeResource({ uri: 'note://1' })
    await publisher.call('touch')
    await eventually(() => expect(listener.heard.toSorted()).toEqual(['note://1', LISTS]))
    expect(await rows()).toEqual([1, 1])

    await listener.client.unsubscribeResource({ uri: 'note://1' })
    await listener.client.subscribeResource({ uri: 'note://2' })
    listener.heard.length = 0
    await publisher.call('touch')
    await eventually(() => expect(listener.heard.toSorted()).toEqual(['note://2', LISTS]))

    await listener.end()
    expect(await rows()).toEqual([0, 0])
  } finally {
    await proxy.stop()
  }
})

it('a session that is not used expires, when another is used; no alarm is set for it [legacy.changes] [bus.objects]', async () => {
  const endpoint = new URL('/mcp', urls[0])
  await using expired = await connectLegacyListener(endpoint)
  await expired.client.subscribeResource({ uri: 'note://1' })
  await using other = await connectLegacyListener(endpoint)
  await eventually(async () => {
    await other.client.subscribeResource({ uri: `note://${Date.now()}` })
    expect(((await rows()) as number[])[0]).toBe(1)
  })
})
