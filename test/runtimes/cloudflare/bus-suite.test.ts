/** The suite of every bus, over a Durable Object in workerd; its subscribers are in Node, by way of Miniflare's proxy. */
import { fileURLToPath } from 'node:url'
import type { DurableObjectNamespace } from '../../../adapters/_cloudflare/durable-object.ts'
import { durableObjectBus } from '../../../adapters/cloudflare-bus.ts'
import { busSuite } from '../buses/suite.ts'
import { startWorkerd } from './_workerd.ts'

const WORKER = fileURLToPath(new URL('bus/suite-worker.ts', import.meta.url))

busSuite('a Durable Object', async () => {
  const workerd = await startWorkerd({ entryPoints: [WORKER] }, ['Suite'])
  const namespace: unknown = await workerd.getDurableObjectNamespace('Suite')
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
