/** The suite of every bus, over a Durable Object in workerd; its subscribers are in Node, by way of Miniflare's proxy. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import type { DurableObjectNamespace } from '../../../adapters/_cloudflare/durable-object.ts'
import { durableObjectBus } from '../../../adapters/cloudflare-bus.ts'
import { busSuite } from '../buses/suite.ts'

const WORKER = fileURLToPath(new URL('bus/suite-worker.ts', import.meta.url))

busSuite('a Durable Object', async () => {
  const { outputFiles } = await build({ entryPoints: [WORKER], bundle: true, write: false, format: 'esm' })
  const modules = { 'worker.js': { type: 'esm' as const, contents: outputFiles[0]!.text } }
  const config = {
    name: 'suite',
    compatibilityDate: '2025-09-01',
    manifest: { mainModule: 'worker.js', modulesRoot: import.meta.dirname, modules },
    env: { Suite: { type: 'durable-object' as const, worker: 'suite', exportName: 'Suite' } },
    exports: { Suite: { type: 'durable-object' as const, storage: 'sqlite' as const } },
  }
  // Its default asks the internet where it is.
  const workerd = new Miniflare({ cf: false, workers: [{ config }] })
  await workerd.ready
  const namespace: unknown = await workerd.getDurableObjectNamespace('Suite', 'suite')
  const tell = (path: string, body = '') =>
    workerd
      .dispatchFetch(`http://suite/${path}`, { method: 'POST', body })
      .then((response) => response.text())
  return {
    connect: async (onError) => ({
      // A cast: Miniflare's proxy has types of its own.
      bus: durableObjectBus(namespace as DurableObjectNamespace, {
        name: 'suite',
        timeoutMs: 30_000,
        onError,
      }),
      close: () => {},
    }),
    inject: (text) => tell('inject', text),
    outage: { begin: () => tell('down').catch(() => {}), end: () => tell('up') },
    // Miniflare's proxy breaks down under more.
    burst: 50,
    // It sends requests over several connections; from a Worker they keep their order, see bus.test.ts.
    keepsOrder: false,
    stop: () => workerd.dispose(),
  }
})
