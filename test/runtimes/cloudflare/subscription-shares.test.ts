/** The subscriptions of legacy clients in a Durable Object of workerd: one caller takes no more than a share. */
import { fileURLToPath } from 'node:url'
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe } from 'vitest'
import type { DurableObjectNamespace } from '../../../adapters/_cloudflare/durable-object.ts'
import { durableObjectSubscriptions } from '../../../adapters/cloudflare.ts'
import { subscriptionShares } from '../../contract/subscription-shares.ts'
import { startWorkerd } from './_workerd.ts'

const ADAPTER = fileURLToPath(new URL('../../../adapters/cloudflare.ts', import.meta.url))

let workerd: Miniflare
let namespace: DurableObjectNamespace
let stores = 0

beforeAll(async () => {
  const contents = `export { MayflySubscriptions } from ${JSON.stringify(ADAPTER)}
    export default { fetch: () => new Response() }`
  workerd = await startWorkerd({ stdin: { contents, resolveDir: import.meta.dirname } }, [
    'MayflySubscriptions',
  ])
  namespace = (await workerd.getDurableObjectNamespace(
    'MayflySubscriptions',
  )) as unknown as DurableObjectNamespace
})
afterAll(() => workerd?.dispose())

describe('durableObjectSubscriptions', () =>
  subscriptionShares((options) =>
    durableObjectSubscriptions(namespace, { name: `store ${++stores}`, ...options }),
  ))
