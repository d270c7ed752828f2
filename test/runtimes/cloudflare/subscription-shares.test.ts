/** The subscriptions of legacy clients in a Durable Object of workerd: one caller takes no more than a share. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe } from 'vitest'
import type { DurableObjectNamespace } from '../../../adapters/_cloudflare/durable-object.ts'
import { durableObjectSubscriptions } from '../../../adapters/cloudflare.ts'
import { subscriptionShares } from '../../contract/subscription-shares.ts'

const ADAPTER = fileURLToPath(new URL('../../../adapters/cloudflare.ts', import.meta.url))

let workerd: Miniflare
let namespace: DurableObjectNamespace
let stores = 0

beforeAll(async () => {
  const contents = `export { MayflySubscriptions } from ${JSON.stringify(ADAPTER)}
    export default { fetch: () => new Response() }`
  const stdin = { contents, resolveDir: import.meta.dirname }
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'esm' })
  const modules = { 'worker.js': { type: 'esm' as const, contents: outputFiles[0]!.text } }
  const exportName = 'MayflySubscriptions'
  workerd = new Miniflare({
    cf: false,
    workers: [
      {
        config: {
          name: 'store',
          compatibilityDate: '2025-09-01',
          manifest: { mainModule: 'worker.js', modulesRoot: import.meta.dirname, modules },
          env: { SUBSCRIPTIONS: { type: 'durable-object', worker: 'store', exportName } },
          exports: { [exportName]: { type: 'durable-object', storage: 'sqlite' } },
        },
      },
    ],
  })
  namespace = (await workerd.getDurableObjectNamespace('SUBSCRIPTIONS')) as unknown as DurableObjectNamespace
})
afterAll(() => workerd?.dispose())

describe('durableObjectSubscriptions', () =>
  subscriptionShares((options) =>
    durableObjectSubscriptions(namespace, { name: `store ${++stores}`, ...options }),
  ))
